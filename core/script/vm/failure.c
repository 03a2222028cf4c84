/* Place and reason of a failed call; see failure.h. */
#include "script/vm/failure.h"

#include <string.h>

enum { TRACEBACK_LEVELS = 20 };

/* Of a function in lua/k8s, whose bytecode knows neither lines nor the names of locals. */
static bool is_ours(const lua_Debug *ar)
{
    return *ar->what != 'C' && *ar->source == '=';
}

static bool has_name(const lua_Debug *ar)
{
    return ar->name && *ar->name;
}

static void put_frame(struct buf *out, const lua_Debug *ar)
{
    if (ar->currentline > 0)
        buf_printf(out, "%s:%d:", ar->short_src, ar->currentline);
    else
        buf_printf(out, "%s:", *ar->what == 'C' ? "[C]" : ar->short_src);
    if (has_name(ar))
        buf_printf(out, " in function '%s'", ar->name);
    else if (*ar->what == 'm')
        buf_puts(out, " in main chunk");
    else if (is_ours(ar))
        buf_printf(out, " in function <%s>", ar->short_src);
    else
        buf_printf(out, " in function <%s:%d>", ar->short_src, ar->linedefined);
    buf_putc(out, '\n');
}

/* Errors of the host's functions are told by the script's line too, so the place is that of the first frame
 * of a script. How the host came to raise them, above that frame, is nothing to who wrote the script. */
void failure_put_frames(lua_State *L, int level, struct script_failure *failure)
{
    lua_Debug ar;
    size_t begin = failure->traceback.len;
    for (int shown = 0; lua_getstack(L, level, &ar) && shown < TRACEBACK_LEVELS; level++) {
        if (!lua_getinfo(L, "Sln", &ar)) break;
        if (*ar.what == 'C' && !has_name(&ar)) continue;
        if (is_ours(&ar) && failure->line == 0) {
            failure->traceback.len = begin;
            shown = 0;
            continue;
        }
        put_frame(&failure->traceback, &ar);
        shown++;
        if (failure->line == 0 && ar.currentline > 0 && ar.source[0] != '=') {
            memcpy(failure->source, ar.short_src, sizeof failure->source);
            failure->line = ar.currentline;
        }
    }
}

void failure_forget(struct script_failure *failure)
{
    failure->text.len = 0;
    failure->traceback.len = 0;
    failure->source[0] = '\0';
    failure->line = 0;
    failure->retry_after_ms = 0;
    failure->traced = false;
}

void failure_note_place(lua_State *L, struct script_failure *failure)
{
    failure_forget(failure);
    if (!L) return;
    failure_put_frames(L, 0, failure);
    if (failure->traceback.len > 0) failure->traceback.len--;
}

void failure_copy(struct script_failure *to, const struct script_failure *from)
{
    failure_forget(to);
    buf_str(&to->text, buf_slice(&from->text));
    buf_str(&to->traceback, buf_slice(&from->traceback));
    memcpy(to->source, from->source, sizeof to->source);
    to->line = from->line;
    to->retry_after_ms = from->retry_after_ms;
    to->traced = from->traced;
}

void failure_clear(struct script_failure *failure)
{
    buf_clear(&failure->text);
    buf_clear(&failure->traceback);
}

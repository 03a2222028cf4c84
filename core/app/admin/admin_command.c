/* `kubelua call` at the engine: which command a name means, and its call; see admin_engine.h. */
#include "app/admin/admin_engine.h"

#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_call.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "base/text/nearest.h"
#include "base/text/redact.h"
#include "engine/engine_view.h"
#include "script/work/command.h"

struct found_command {
    struct script *script;
    size_t command;
};

struct called_command {
    struct admin_call *admin_call;
    struct command_call *call; /* NULL before it waits */
};

static struct script *runs(const struct managed_scripts *scripts, size_t i)
{
    return scripts->items[i]->running;
}

/* A script is named as elsewhere, or by the last part of its name. */
static bool is_script(const struct script *script, struct str wanted)
{
    const char *name = script_name(script), *last = strrchr(name, '/');
    return str_is(wanted, name) || (last && str_is(wanted, last + 1));
}

/* The commands that a NAME or SCRIPT/NAME may mean: the first of them, and how many. */
static size_t find_commands(const struct managed_scripts *scripts, struct str wanted,
                            struct found_command *first)
{
    const char *slash = memrchr(wanted.p, '/', wanted.n);
    struct str of = {wanted.p, slash ? (size_t)(slash - wanted.p) : 0};
    struct str name = slash ? (struct str){slash + 1, wanted.n - of.n - 1} : wanted;
    size_t count = 0;
    for (size_t i = 0; i < scripts->count; i++) {
        struct script *script = runs(scripts, i);
        if (!script || (slash && !is_script(script, of))) continue;
        for (size_t j = 0; j < script_command_count(script); j++)
            if (str_is(name, script_command_name(script, j)) && count++ == 0)
                *first = (struct found_command){script, j};
    }
    return count;
}

/* Appends ", a, scripts/x/b": the commands with the name (NULL: all), with their scripts where names are
 * ambiguous. */
static void put_names(const struct managed_scripts *scripts, const char *name, struct buf *out)
{
    const char *separator = "";
    for (size_t i = 0; i < scripts->count; i++) {
        const struct script *script = runs(scripts, i);
        for (size_t j = 0; script && j < script_command_count(script); j++) {
            const char *own = script_command_name(script, j);
            struct found_command ignored;
            if (name && strcmp(own, name) != 0) continue;
            buf_puts(out, separator);
            if (find_commands(scripts, str_of(own), &ignored) > 1)
                buf_printf(out, "%s/", script_name(script));
            buf_puts(out, own);
            separator = ", ";
        }
    }
}

static void put_nearest(const struct managed_scripts *scripts, struct str wanted, struct buf *out)
{
    struct nearest nearest = nearest_to(wanted);
    for (size_t i = 0; i < scripts->count; i++) {
        const struct script *script = runs(scripts, i);
        for (size_t j = 0; script && j < script_command_count(script); j++)
            nearest_try(&nearest, script_command_name(script, j));
    }
    if (nearest.name) buf_printf(out, ", did you mean \"%s\"?", nearest.name);
}

/* "tems/count": when no script is called so, which one was meant; else nothing is appended. */
static bool put_unknown_script(const struct managed_scripts *scripts, struct str wanted, struct buf *out)
{
    const char *slash = memrchr(wanted.p, '/', wanted.n);
    struct str of = {wanted.p, slash ? (size_t)(slash - wanted.p) : 0};
    struct nearest nearest = nearest_to(of);
    for (size_t i = 0; slash && i < scripts->count; i++) {
        const struct script *script = runs(scripts, i);
        if (!script) continue;
        if (is_script(script, of)) return false;
        const char *name = script_name(script), *last = strrchr(name, '/');
        nearest_try(&nearest, name);
        if (last) nearest_try(&nearest, last + 1);
    }
    if (!slash) return false;
    buf_printf(out, "script \"%.*s\" not found", STR_ARG(of));
    if (nearest.name) buf_printf(out, ", did you mean \"%s\"?", nearest.name);
    return true;
}

static void refuse_name(const struct managed_scripts *scripts, struct admin_call *admin_call,
                        struct str wanted, size_t count, const struct found_command *first)
{
    struct buf text = {0}, names = {0};
    if (count) {
        put_names(scripts, script_command_name(first->script, first->command), &names);
        buf_printf(&text, "command \"%.*s\" is ambiguous: %s", STR_ARG(wanted), buf_text(&names));
    } else {
        put_names(scripts, NULL, &names);
        if (!put_unknown_script(scripts, wanted, &text)) {
            buf_printf(&text, "unknown command \"%.*s\"", STR_ARG(wanted));
            put_nearest(scripts, wanted, &text);
        }
        buf_printf(&text, "%s%s", names.len ? "; available commands: " : "; the scripts provide no commands",
                   buf_text(&names));
    }
    admin_call_fail(admin_call, buf_text(&text));
    buf_clear(&text);
    buf_clear(&names);
}

/* --- the call */

void admin_put_error(struct buf *out, const char *key, struct str text)
{
    struct buf shown = {0};
    buf_str(&shown, text);
    redact(&shown);
    json_str(out, key, shown.len ? buf_slice(&shown) : STR(""));
    buf_clear(&shown);
}

static void on_done(void *ctx, const struct script_command_result *result)
{
    struct called_command *call = ctx;
    struct buf out = {0};
    json_open(&out, NULL, '{');
    json_text(&out, "end", script_command_end_name(result->end));
    if (result->is_json) {
        buf_puts(&out, ",\"value\":");
        buf_str(&out, result->text);
    } else if (result->end == COMMAND_DONE) {
        json_str(&out, "text", result->text);
    } else {
        admin_put_error(&out, "text", result->text);
    }
    json_close(&out, '}');
    admin_call_reply(call->admin_call, buf_slice(&out));
    buf_clear(&out);
    free(call);
}

static void on_gone(void *ctx)
{
    struct called_command *call = ctx;
    if (call->call) command_call_cancel(call->call);
}

static void start(struct admin_call *admin_call, const struct found_command *found, const char *const *args,
                  size_t count)
{
    struct called_command *call = NEW(struct called_command);
    call->admin_call = admin_call;
    admin_call_on_disconnect(admin_call, on_gone, call);
    struct command_call *waits =
        script_call_command(found->script, found->command, args, count, on_done, call);
    if (waits) call->call = waits;
}

/* Collects the arguments; returns false if one is not a string, or there are too many. The caller frees the
 * strings. */
static bool take_args(const struct tape *tape, size_t list, char **args, size_t *count)
{
    *count = 0;
    for (size_t v = list ? tape_first(tape, list, NULL) : 0; v; v = tape_next(tape, list, v, NULL)) {
        struct str text = tape_str(tape, v);
        if (*count == COMMAND_ARGS_MAX || tape_type(tape, v) != '"') return false;
        args[(*count)++] = xstrndup(text.p, text.n);
    }
    return true;
}

static void call_command(const struct managed_scripts *scripts, struct admin_call *admin_call)
{
    const struct tape *tape;
    struct found_command found;
    char *args[COMMAND_ARGS_MAX];
    size_t count, params = admin_call_params(admin_call, &tape);
    struct str name = params ? tape_str(tape, tape_field(tape, params, STR("name"))) : STR("");
    size_t meant = name.n ? find_commands(scripts, name, &found) : 0;
    bool good = take_args(tape, params ? tape_field(tape, params, STR("args")) : 0, args, &count);
    if (!good)
        admin_call_fail(admin_call, "a command takes at most 64 arguments, all strings");
    else if (meant != 1)
        refuse_name(scripts, admin_call, name, meant, &found);
    else if (!script_is_running(found.script))
        admin_call_fail(admin_call, "the script is not running");
    else
        start(admin_call, &found, (const char *const *)args, count);
    for (size_t i = 0; i < count; i++) free(args[i]);
}

bool admin_engine_begin(void *ctx, struct admin_call *admin_call)
{
    struct engine *engine = ((const struct admin_engine *)ctx)->engine;
    if (admin_begin_document(ctx, admin_call)) return true;
    if (admin_begin_reload(engine, admin_call)) return true;
    if (strcmp(admin_call_method(admin_call), "lift") == 0) {
        admin_lift(engine, admin_call);
        return true;
    }
    if (strcmp(admin_call_method(admin_call), "call") != 0) return false;
    call_command(engine_scripts(engine), admin_call);
    return true;
}

void admin_put_commands(const struct admin_engine *admin, struct buf *out)
{
    const struct managed_scripts *scripts = engine_scripts(admin->engine);
    json_open(out, "commands", '[');
    for (size_t i = 0; i < scripts->count; i++) {
        const struct script *script = runs(scripts, i);
        for (size_t j = 0; script && j < script_command_count(script); j++) {
            json_open(out, NULL, '{');
            json_text(out, "name", script_command_name(script, j));
            json_text(out, "script", script_name(script));
            json_text(out, "help", script_command_help(script, j));
            json_close(out, '}');
        }
    }
    json_close(out, ']');
}

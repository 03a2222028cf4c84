/* What is in quarantine, and its end, by the admin socket; see engine_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "app/engine_internal.h"
#include "app/json_out.h"
#include "base/mem.h"

struct listing {
    const char *script;
    int64_t now_us;
    struct buf *out;
};

static void put_one(void *ctx, const struct script_quarantine_status *status)
{
    const struct listing *listing = ctx;
    json_open(listing->out, NULL, '{');
    json_text(listing->out, "script", listing->script);
    json_text(listing->out, "id", status->id);
    json_time(listing->out, "since", status->since_us);
    json_int(listing->out, "seconds", (listing->now_us - status->since_us) / 1000000);
    json_int(listing->out, "skipped", (int64_t)status->skipped);
    json_text(listing->out, "why", status->why);
    json_close(listing->out, '}');
}

void engine_put_quarantine(struct engine *engine, struct buf *out)
{
    int64_t now_us = clock_wall_us(loop_clock(engine->loop));
    json_open(out, "quarantined", '[');
    for (size_t i = 0; i < engine->script_count; i++)
        script_each_quarantine(engine->scripts[i], put_one,
                               &(struct listing){script_name(engine->scripts[i]), now_us, out});
    json_close(out, ']');
}

static bool is_here(struct str target, const char *name)
{
    size_t n = strlen(name);
    return target.n >= n && memcmp(target.p, name, n) == 0 && (target.n == n || target.p[n] == '/');
}

/* "scripts/x" are all of the script, "scripts/x/pods/1" is one handler of it. Names and ids have slashes of
 * their own, so each script is asked. */
static size_t lift(struct engine *engine, struct str target)
{
    size_t count = 0;
    char *text = xstrndup(target.p, target.n);
    for (size_t i = 0; i < engine->script_count; i++) {
        const char *name = script_name(engine->scripts[i]);
        if (!is_here(target, name)) continue;
        const char *id = target.n == strlen(name) ? NULL : text + strlen(name) + 1;
        count += script_lift(engine->scripts[i], id);
    }
    free(text);
    return count;
}

void engine_lift(struct engine *engine, struct admin_question *question)
{
    const struct tape *tape;
    struct err err;
    struct buf result = {0};
    size_t params = admin_question_params(question, &tape);
    struct str target = params ? tape_str(tape, tape_field(tape, params, STR("target"))) : STR("");
    size_t count = lift(engine, target);
    if (count == 0) {
        err_set(&err, ERR_NOT_FOUND,
                "nothing called \"%.*s\" is in quarantine; kubelua quarantine lists what is",
                STR_ARG(target));
        admin_question_refuse(question, err.text);
        return;
    }
    buf_printf(&result, "{\"lifted\":%zu}", count);
    admin_question_answer(question, buf_slice(&result));
    buf_clear(&result);
}

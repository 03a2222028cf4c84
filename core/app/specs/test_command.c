/* Calling commands; see test_command.h. */
#include "app/specs/test_command.h"

#include <string.h>

#include "base/mem.h"
#include "base/text/nearest.h"

enum { PATIENCE_MS = 600000 };

struct waiting {
    struct test_call_result *result;
    bool over;
};

static void on_done(void *ctx, const struct script_command_result *from)
{
    struct waiting *waiting = ctx;
    waiting->over = true;
    waiting->result->end = from->end;
    waiting->result->is_json = from->is_json;
    buf_str(waiting->result->text, from->text);
}

/* The script and the number of the command; NULL with an error. */
static struct script *find(struct test_engine *engine, const char *name, size_t *command, struct err *err)
{
    struct nearest nearest = nearest_to(str_of(name));
    for (size_t i = 0; i < engine->script_count; i++) {
        struct script *script = engine->scripts[i].script;
        for (*command = 0; *command < script_command_count(script); ++*command) {
            if (strcmp(script_command_name(script, *command), name) == 0) return script;
            nearest_try(&nearest, script_command_name(script, *command));
        }
    }
    err_set(err, ERR_NOT_FOUND, "there is no command \"%s\"%s%s%s", name,
            nearest.name ? ", did you mean \"" : "", nearest.name ? nearest.name : "",
            nearest.name ? "\"?" : "");
    return NULL;
}

/* It may sleep, or wait for answers: the clock goes on as far as that takes. */
static bool wait_for(struct test_engine *engine, const struct waiting *waiting, struct err *err)
{
    struct clock *clock = loop_clock(engine->base.loop);
    int64_t end_ms = clock_now_ms(clock) + PATIENCE_MS;
    if (!test_engine_ops.settle(engine, err)) return false;
    while (!waiting->over && clock_next_due_ms(clock) <= end_ms)
        if (!test_engine_ops.advance(engine, clock_next_due_ms(clock) - clock_now_ms(clock), err))
            return false;
    return waiting->over || err_set(err, ERR_TIMEOUT, "it did not end within ten minutes of the clock");
}

bool test_command_call(struct test_engine *engine, const char *name, const char *const *args, size_t count,
                       struct test_call_result *result, struct err *err)
{
    size_t command;
    struct waiting waiting = {.result = result};
    struct script *script = find(engine, name, &command, err);
    if (!script) return false;
    test_engine_enter(engine);
    struct command_call *call = script_call_command(script, command, args, count, on_done, &waiting);
    test_engine_leave();
    bool ok = wait_for(engine, &waiting, err);
    if (call && !waiting.over) command_call_cancel(call);
    return ok;
}

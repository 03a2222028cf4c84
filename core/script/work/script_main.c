/* Runs k8s.main; see script_main.h. */
#include "script/work/script_main.h"

#include "base/must.h"
#include "script/handlers/handler.h"
#include "script/vm/failure_log.h"
#include "script/vm/state.h"
#include "script/vm/task.h"

static void push_main(lua_State *L, void *ctx)
{
    push_ref(L, script_of(L), REF_MAIN);
}

/* Before any other call, which would forget why. */
static void report_main(struct script *script, enum script_result result)
{
    script->own.main->ended = true;
    if (result == SCRIPT_OK || result == SCRIPT_CANCELLED) return;
    buf_str(&script->own.main->failure, buf_slice(&script->failure.text));
    failure_log_add(NULL, script, SCRIPT_MAIN, result, (const struct log_field[]){{.key = NULL}});
}

static void main_ended(void *ctx, enum script_result result)
{
    struct script *script = ctx;
    report_main(script, result);
    if (result != SCRIPT_CANCELLED)
        script->own.main->done(script->own.main->ctx, result, script->own.main->exit_code);
}

static void describe_main(void *ctx, struct buf *caller, struct buf *trigger)
{
    buf_puts(caller, "main");
    buf_puts(trigger, "start");
}

void script_skip_main(struct script *script)
{
    script->own.main->skipped = true;
}

void script_run_main(struct script *script, script_main_done *done, void *ctx)
{
    struct task *task;
    must(script->own.main->given && !script->own.main->done);
    script->own.main->done = done;
    script->own.main->ctx = ctx;
    const struct task_call call = {.what = "main",
                                   .cpu = LIMIT_MAIN_CPU,
                                   .function = script->refs[REF_RUN_MAIN],
                                   .prepare = push_main,
                                   .done = main_ended,
                                   .describe = describe_main,
                                   .ctx = script};
    enum script_result result = task_run(script, &call, &task);
    if (result != SCRIPT_YIELDED) report_main(script, result);
    handlers_attach(script);
    if (result != SCRIPT_YIELDED) script->own.main->done(ctx, result, script->own.main->exit_code);
}

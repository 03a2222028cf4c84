/* Calling the commands of a script; see command.h. */
#include "script/work/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "script/handlers/handler.h"
#include "script/vm/args.h"
#include "script/vm/failure_log.h"
#include "script/vm/task.h"

const struct script_command *commands_find(const struct script *script, const char *name)
{
    for (size_t i = 0; i < script->own.commands->count; i++)
        if (strcmp(script->own.commands->items[i].name, name) == 0) return &script->own.commands->items[i];
    return NULL;
}

void commands_clear(struct script *script)
{
    struct script_commands *commands = script->own.commands;
    for (size_t i = 0; i < commands->count; i++) {
        quarantine_clear(&commands->items[i].quarantine);
        free(commands->items[i].name);
        free(commands->items[i].help);
    }
    free(commands->items);
}

size_t script_command_count(const struct script *script)
{
    return script->own.commands->count;
}

const char *script_command_end_name(enum script_command_end end)
{
    static const char *const names[] = {[COMMAND_DONE] = "done",
                                        [COMMAND_REFUSED] = "refused",
                                        [COMMAND_FAILED] = "failed",
                                        [COMMAND_CANCELLED] = "cancelled"};
    return names[end];
}

const char *script_command_name(const struct script *script, size_t i)
{
    must(i < script->own.commands->count);
    return script->own.commands->items[i].name;
}

const char *script_command_help(const struct script *script, size_t i)
{
    must(i < script->own.commands->count);
    return script->own.commands->items[i].help;
}

bool script_is_running(const struct script *script)
{
    return script->phase == SCRIPT_RUNNING && !script->restoring;
}

struct command_call *command_call_current(const struct script *script)
{
    must(script->tasks.current);
    return script->tasks.current->ctx;
}

/* --- a call */

static struct script_command *command_of(const struct command_call *call)
{
    return &call->script->own.commands->items[call->command];
}

static void call_free(struct command_call *call)
{
    for (size_t i = 0; i < call->arg_count; i++) free(call->args[i]);
    free(call->args);
    buf_clear(&call->result);
    free(call);
}

static void report(const struct command_call *call, enum script_result result)
{
    const char *name = command_of(call)->name;
    if (result == SCRIPT_OK || result == SCRIPT_CANCELLED || call->returned_error) return;
    failure_log_add(NULL, call->script, SCRIPT_COMMAND, result,
                    (const struct log_field[]){F("command", name), {.key = NULL}});
}

static void ended(void *ctx, enum script_result result)
{
    struct command_call *call = ctx;
    struct script_command_result reply = {.end = COMMAND_DONE, .is_json = call->is_json};
    report(call, result);
    quarantine_note(&command_of(call)->quarantine, QUARANTINE_CALL, result);
    if (result == SCRIPT_CANCELLED) {
        reply.end = COMMAND_CANCELLED;
        reply.text = STR("the call was cancelled");
    } else if (result != SCRIPT_OK) {
        reply.end = call->returned_error ? COMMAND_REFUSED : COMMAND_FAILED;
        reply.text = buf_slice(&call->script->failure.text);
    } else {
        reply.text = buf_slice(&call->result);
    }
    call->task = NULL;
    call->done(call->ctx, &reply);
    call_free(call);
}

static void push_call(lua_State *L, void *ctx)
{
    const struct command_call *call = ctx;
    luaL_checkstack(L, COMMAND_ARGS_MAX + 2, "k8s.command");
    script_push_function(L, command_of(call)->function);
    for (size_t i = 0; i < call->arg_count; i++) lua_pushstring(L, call->args[i]);
}

/* For the write log. */
static void describe(void *ctx, struct buf *caller, struct buf *trigger)
{
    buf_puts(caller, command_of(ctx)->name);
    buf_puts(trigger, "kubelua call");
}

static void refuse(struct script_command *command, script_command_done *done, void *ctx)
{
    struct buf text = {0};
    buf_printf(&text, "the command is in quarantine after consecutive calls exceeded a limit (%s); ",
               buf_text(&command->quarantine.why));
    quarantine_put_remedy(&command->quarantine, &text);
    done(ctx, &(const struct script_command_result){.end = COMMAND_FAILED, .text = buf_slice(&text)});
    buf_clear(&text);
}

struct command_call *script_call_command(struct script *script, size_t command, const char *const *args,
                                         size_t count, script_command_done *done, void *ctx)
{
    must(command < script->own.commands->count && count <= COMMAND_ARGS_MAX);
    if (quarantine_skips(&script->own.commands->items[command].quarantine)) {
        refuse(&script->own.commands->items[command], done, ctx);
        return NULL;
    }
    struct command_call *call = NEW(struct command_call);
    *call = (struct command_call){
        .script = script, .command = command, .arg_count = count, .done = done, .ctx = ctx};
    call->args = xcalloc(count + 1, sizeof(char *));
    for (size_t i = 0; i < count; i++) call->args[i] = xstrdup(args[i]);
    const struct task_call task = {.what = "a command",
                                   .function = script->refs[REF_RUN_COMMAND],
                                   .prepare = push_call,
                                   .prepare_ctx = call,
                                   .done = ended,
                                   .describe = describe,
                                   .ctx = call};
    enum script_result result = task_run(script, &task, &call->task);
    bool waits = result == SCRIPT_YIELDED;
    if (!waits) ended(call, result);
    handlers_attach(script);
    return waits ? call : NULL;
}

void command_call_cancel(struct command_call *call)
{
    task_cancel(call->task);
}

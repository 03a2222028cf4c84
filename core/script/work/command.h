/* Commands of a script: k8s.command, called by `kubelua call`. Each call is a task, and as many may be under
 * way as the script may have. Owner: the script has the commands; a call belongs to itself, and ends with its
 * one answer. On the engine thread, outside of Lua, but for what is for bind_command.c. */
#pragma once
#include <stdbool.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/err.h"
#include "script/vm/quarantine.h"

/* Commands that it registered for `kubelua call`. */
size_t script_command_count(const struct script *script);
const char *script_command_name(const struct script *script, size_t i);
const char *script_command_help(const struct script *script, size_t i);
enum script_command_end {
    COMMAND_DONE,
    COMMAND_REFUSED, /* it returned nil, err */
    COMMAND_FAILED,  /* it raised, or was over a limit: that was logged */
    COMMAND_CANCELLED,
};
const char *script_command_end_name(enum script_command_end end);
struct script_command_result {
    enum script_command_end end;
    bool is_json; /* else plain text */
    struct str text;
};
struct command_call;
typedef void script_command_done(void *ctx, const struct script_command_result *result);
/* Not before it has started, nor once it is stopped. */
bool script_is_running(const struct script *script);
/* Calls one, of a script that runs, with at most COMMAND_ARGS_MAX words. `done` is called once. NULL when
 * that was before this returned. */
struct command_call *script_call_command(struct script *script, size_t command, const char *const *args,
                                         size_t count, script_command_done *done, void *ctx);
/* `done` is called at once. */
void command_call_cancel(struct command_call *call);

/* --- for the files of this folder */

struct task;

enum { COMMANDS_MAX = 200, COMMAND_ARGS_MAX = 64 };

struct script_command {
    char *name, *help;
    int function; /* in the registry */
    struct quarantine quarantine;
};

struct script_commands {
    struct script_command *items;
    size_t count;
};

struct command_call {
    struct script *script;
    size_t command;
    char **args;
    size_t arg_count;
    struct task *task; /* while it waits */
    struct buf result;
    bool is_json, returned_error; /* it returned nil, err */
    script_command_done *done;
    void *ctx;
};

/* NULL when there is none of that name. */
const struct script_command *commands_find(const struct script *script, const char *name);
void commands_clear(struct script *script);
/* Of the task that runs, which is one. */
struct command_call *command_call_current(const struct script *script);

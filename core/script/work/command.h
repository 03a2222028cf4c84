/* Commands of a script: k8s.command, called by `kubelua call`. Each call is a task, and as many may be under
 * way as the script may have. Owner: the script has the commands; a call belongs to itself, and ends with its
 * one answer. On the engine thread, outside of Lua, but for what is for bind_command.c. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/err.h"
#include "script/generation/script.h"
#include "script/vm/quarantine.h"

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
    bool is_json, said_error; /* it returned nil, err */
    script_command_done *done;
    void *ctx;
};

/* NULL when there is none of that name. */
const struct script_command *commands_find(const struct script *script, const char *name);
void commands_clear(struct script_commands *commands);
/* Of the task that runs, which is one. */
struct command_call *command_call_current(const struct script *script);

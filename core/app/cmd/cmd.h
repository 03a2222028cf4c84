/* One file per command: core/app/cmd_<name>.c, listed in core/main.c's table.
 * Owner: main. A command runs on the main thread and gives the process's exit code (enum exit_code). */
#pragma once
#include "base/exit_code.h"

struct command {
    const char *name;
    const char *summary;               /* one line for `kubelua help` */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
    void (*help)(void);                /* prints `kubelua help NAME` to stdout */
};

extern const struct command cmd_run;
extern const struct command cmd_exec;
extern const struct command cmd_audit;
extern const struct command cmd_check;
extern const struct command cmd_plan;
extern const struct command cmd_rbac;
extern const struct command cmd_init;
extern const struct command cmd_repl;
extern const struct command cmd_test;
extern const struct command cmd_record;
extern const struct command cmd_replay;
extern const struct command cmd_status;
extern const struct command cmd_reload;
extern const struct command cmd_rollback;
extern const struct command cmd_queue;
extern const struct command cmd_call;
extern const struct command cmd_quarantine;
extern const struct command cmd_writes;
extern const struct command cmd_sim;
extern const struct command cmd_bench;
extern const struct command cmd_version;

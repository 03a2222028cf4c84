/* One file per command or per group of them: core/app/cmd_<name>.c, listed in core/main.c's table.
 * Owner: main, which parses the flags. A command runs on the main thread and returns the process's exit code
 * (enum exit_code). */
#pragma once
#include "app/options/config_file.h"
#include "base/cli/flags.h"
#include "base/embedded_file.h"
#include "base/exit_code.h"

/* Flags with what help prints above them. NULL: they go on with those before; "": help does not show them. */
struct flag_group {
    const char *heading;
    const struct flag *flags;
};

/* Arguments of a command; argv[0] is its name. */
struct command_line {
    int argc;
    char **argv;
    struct flag_list arguments;       /* that are no flags; whatever is left in it main clears */
    const struct flag *const *tables; /* of its flags; NULL ends them */
    struct flags_given given;         /* those that were set, and where */
    struct config_file config;        /* the file of --config */
};

struct command {
    const char *name;
    const char *summary; /* one line for `kubelua help` */
    /* Behind `unexpected argument "..."`; NULL: the command takes arguments. */
    const char *no_arguments;
    const struct flag *flags; /* of its own; NULL: none */
    /* Returns the flags that the command shares with others; a group without flags ends them. NULL: none. */
    const struct flag_group *(*groups)(void);
    /* After the flags were put there; main clears their lists. */
    int (*run)(struct command_line *line);
};

/* Text that `kubelua help NAME` prints before the flags of a command, by the command's name: the files of
 * help/. */
extern const struct embedded_file command_help[];

/* Tells the text on stderr as "kubelua NAME: text", or as a line of the log with --log-format json; returns
 * EXIT_USAGE. */
int command_fail(const struct command_line *line, const char *text);

/* --- commands.c */

struct command_group {
    const char *title;
    const struct command *commands[16]; /* ends with NULL */
};

/* Reads flags from the environment, the line and the file of --config into what the tables are bound to. */
bool command_parse(const struct command *command, struct command_line *line, struct err *err);
/* The value of a flag that takes a text; NULL when the command has no such flag, or it is not set. */
const char *command_line_text(const struct command_line *line, const char *name);
/* Frees what was parsed. */
void command_line_clear(struct command_line *line);
/* All commands, as `kubelua help` groups them; a group without a title ends them. */
extern const struct command_group command_groups[];
/* NULL when there is none of that name. */
const struct command *command_find(const char *name);
/* The groups of flags that the command shares with others; one without flags ends them. */
const struct flag_group *command_flags(const struct command *command);
/* Text that `kubelua help NAME` prints before the flags. */
const char *command_help_of(const struct command *command);

/* --- what completes command lines, makes man pages and lists flags (cmd_completion.c); help does not show
 * them */

extern const struct command cmd_complete;
extern const struct command cmd_man;
extern const struct command cmd_flags;

/* --- one file each */

extern const struct command cmd_run;
extern const struct command cmd_exec;
extern const struct command cmd_audit;
extern const struct command cmd_check;
extern const struct command cmd_plan;
extern const struct command cmd_rbac;
extern const struct command cmd_init;
extern const struct command cmd_types;
extern const struct command cmd_get;
extern const struct command cmd_query;
extern const struct command cmd_mcp;
extern const struct command cmd_top;
extern const struct command cmd_history;
extern const struct command cmd_repl;
extern const struct command cmd_test;
extern const struct command cmd_record;
extern const struct command cmd_publish;
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
extern const struct command cmd_completion;
extern const struct command cmd_config;
extern const struct command cmd_version;

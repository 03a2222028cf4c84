/* The table of commands, in the groups of `kubelua help`; see cmd.h. */
#include <string.h>

#include "app/cmd/cmd.h"

const struct command_group command_groups[] = {
    {"Write scripts", {&cmd_init, &cmd_check, &cmd_test, &cmd_rbac}},
    {"Run scripts", {&cmd_run, &cmd_exec, &cmd_plan, &cmd_reload, &cmd_rollback}},
    {"Look into a running engine",
     {&cmd_status, &cmd_queue, &cmd_writes, &cmd_quarantine, &cmd_call, &cmd_repl}},
    {"Audit", {&cmd_audit}},
    {"Simulate and measure", {&cmd_record, &cmd_replay, &cmd_sim, &cmd_bench}},
    {"Other commands", {&cmd_completion, &cmd_version}},
    {NULL, {NULL}},
};

const struct command *command_find(const char *name)
{
    for (const struct command_group *group = command_groups; group->title; group++)
        for (const struct command *const *c = group->commands; *c; c++)
            if (strcmp((*c)->name, name) == 0) return *c;
    return NULL;
}

const struct flag_group *command_flags(const struct command *command)
{
    static const struct flag_group none = {NULL, NULL};
    return command->groups ? command->groups() : &none;
}

const char *command_help_of(const struct command *command)
{
    const struct embedded_file *help = command_help;
    while (strcmp(help->path, command->name) != 0) help++;
    return help->text;
}

/* The table of commands, in the groups of `kubelua help`; see cmd.h. */
#include <string.h>

#include "app/cmd/cmd.h"

const struct command_group command_groups[] = {
    {"Write scripts", {&cmd_init, &cmd_check, &cmd_test, &cmd_rbac, &cmd_types}},
    {"Run scripts", {&cmd_run, &cmd_exec, &cmd_publish, &cmd_plan, &cmd_reload, &cmd_rollback}},
    {"Look into a running engine",
     {&cmd_status, &cmd_top, &cmd_get, &cmd_query, &cmd_history, &cmd_config, &cmd_queue, &cmd_writes,
      &cmd_quarantine, &cmd_call, &cmd_repl, &cmd_mcp}},
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

/* --- parsing */

const char *command_line_text(const struct command_line *line, const char *name)
{
    for (const struct flag *const *table = line->tables; *table; table++)
        for (const struct flag *flag = *table; flag->name; flag++)
            if (strcmp(flag->name, name) == 0) return *(const char *const *)flag->into;
    return NULL;
}

bool command_parse(const struct command *command, struct command_line *line, struct err *err)
{
    struct flag_list *rest = &line->arguments;
    if (!flags_parse(line->tables, line->argc, line->argv, rest, &line->given, err)) return false;
    if (command->no_arguments && rest->count)
        return err_set(err, ERR_INVALID, "unexpected argument \"%s\"%s", rest->items[0],
                       command->no_arguments);
    const char *path = command_line_text(line, "config");
    if (!path || !*path) return true;
    return config_file_read(path, &line->config, err) &&
           flags_apply(line->tables, line->config.settings, line->config.count, &line->given, err);
}

void command_line_clear(struct command_line *line)
{
    flag_list_clear(&line->arguments);
    flags_clear(line->tables);
    flags_given_clear(&line->given);
    config_file_clear(&line->config);
}

/* Options, engine, run, exit code: finds the command and hands over. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cmd/cmd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text/nearest.h"

enum { GROUPS_MAX = 8 };

static void overview(FILE *out)
{
    fputs("kubelua runs Lua scripts on a Kubernetes informer cache.\n\n"
          "Usage:\n  kubelua COMMAND [flags]\n\n",
          out);
    for (const struct command_group *group = command_groups; group->title; group++) {
        fprintf(out, "%s:\n", group->title);
        for (const struct command *const *c = group->commands; *c; c++)
            fprintf(out, "  %-10s  %s\n", (*c)->name, (*c)->summary);
        if (!group[1].title) fprintf(out, "  %-10s  %s\n", "help", "Show help for a command");
        fputs("\n", out);
    }
    fputs("Use \"kubelua help COMMAND\" for more information about a command.\n", out);
}

static int unknown(const char *name)
{
    struct nearest nearest = nearest_to(str_of(name));
    for (const struct command_group *group = command_groups; group->title; group++)
        for (const struct command *const *c = group->commands; *c; c++) nearest_try(&nearest, (*c)->name);
    nearest_try(&nearest, "help");
    fprintf(stderr, "kubelua: unknown command \"%s\"", name);
    if (nearest.name) fprintf(stderr, ", did you mean \"%s\"?", nearest.name);
    fprintf(stderr, "%s run \"kubelua help\" for a list\n", nearest.name ? "" : ";");
    return EXIT_USAGE;
}

static bool is_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static void print_help(const struct command *command)
{
    fputs(command_help_of(command), stdout);
    if (command->flags) flags_print(command->flags);
    for (const struct flag_group *group = command_flags(command); group->flags; group++) {
        if (group->heading && !*group->heading) continue;
        if (group->heading) printf("\n%s\n", group->heading);
        flags_print(group->flags);
    }
}

/* Of one command, or the overview. */
static int help(int count, char **names)
{
    const struct command *command = count && !is_help(names[0]) ? command_find(names[0]) : NULL;
    if (count && !is_help(names[0]) && !command) return unknown(names[0]);
    if (count > 1) {
        fprintf(stderr, "kubelua help: unexpected argument \"%s\"\n", names[1]);
        return EXIT_USAGE;
    }
    if (command)
        print_help(command);
    else
        overview(stdout);
    return EXIT_OK;
}

int command_fail(const struct command_line *line, const char *text)
{
    const char *format = command_line_text(line, "log-format");
    char who[32];
    snprintf(who, sizeof who, "kubelua %s", line->argv[0]);
    if (format && strcmp(format, "json") == 0) log_setup(LOG_JSON, 0);
    log_fatal(who, text);
    return EXIT_USAGE;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct command_line line = {.argc = argc, .argv = argv};
    const struct flag *tables[GROUPS_MAX + 2] = {command->flags}, **next = &tables[command->flags != NULL];
    for (const struct flag_group *group = command_flags(command); group->flags; group++)
        *next++ = group->flags;
    struct err err;
    line.tables = tables;
    int code = command_parse(command, &line, &err) ? command->run(&line) : command_fail(&line, err.text);
    command_line_clear(&line);
    return code;
}

/* A closed one of the three would be the number of the next file that is opened, and be written to. These
 * fail as a closed one does. */
static void hold_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) abort();
}

int main(int argc, char **argv)
{
    hold_standard_files();
    if (argc < 2) {
        overview(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (is_help(name)) return help(argc - 2, argv + 2);
    if (strcmp(name, "--version") == 0) name = "version";
    const struct command *command = command_find(name);
    if (strcmp(name, cmd_complete.name) == 0)
        return cmd_complete.run(&(struct command_line){
            .argc = argc - 1, .argv = argv + 1, .tables = (const struct flag *const[]){NULL}});
    if (strcmp(name, cmd_man.name) == 0) command = &cmd_man;
    if (strcmp(name, cmd_flags.name) == 0) command = &cmd_flags;
    if (!command) return unknown(name);
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(command);
            return EXIT_OK;
        }
    return run(command, argc - 1, argv + 1);
}

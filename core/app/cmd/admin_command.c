/* Asking an engine and printing what it says; see admin_command.h. */
#include "app/cmd/admin_command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/admin/admin_client.h"
#include "app/cmd/cmd.h"
#include "base/cli/flags.h"
#include "base/mem.h"
#include "object/parse/document.h"

struct arguments {
    const char *output, *path;
};

static const struct flag *flags_of(struct arguments *arguments)
{
    static struct flag table[3];
    *arguments = (struct arguments){.output = "table"};
    const struct flag flags[] = {
        {"output", 'o', FLAG_CHOICE, &arguments->output, "table|wide|json|yaml", "table|wide|json|yaml",
         "Output format (default table)"},
        FLAG_ADMIN_SOCKET(&arguments->path),
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

void admin_command_help(const struct admin_command *command)
{
    struct arguments arguments;
    printf("%s\n\nUsage:\n  kubelua %s [-o table|wide|json|yaml]\n\nFlags:\n", command->summary,
           command->name);
    flags_print(flags_of(&arguments));
}

/* Of the terminal; 0 when stdout is none. */
static size_t terminal_width(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO)) return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

static bool wants_colours(void)
{
    const char *no = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(no && *no);
}

static void print(const struct admin_command *command, const struct tape *tape, size_t at, const char *form)
{
    struct buf text = {0};
    if (strcmp(form, "json") == 0) {
        document_json(tape, at, &text);
    } else if (strcmp(form, "yaml") == 0) {
        document_yaml(tape, at, &text);
    } else {
        command->print(tape, at, stdout,
                       &(struct status_view){.wide = strcmp(form, "wide") == 0,
                                             .width = terminal_width(),
                                             .colours = wants_colours()});
    }
    if (text.len) fwrite(text.data, 1, text.len, stdout);
    buf_clear(&text);
}

static bool show(const struct admin_command *command, const struct arguments *arguments, struct err *err)
{
    struct admin_client *client = admin_client_request(arguments->path, command->name, err);
    if (!client) return false;
    print(command, admin_client_tape(client), admin_client_result(client), arguments->output);
    admin_client_free(client);
    if (fflush(stdout) != 0 || ferror(stdout)) return err_set(err, ERR_IO, "cannot write to stdout");
    return true;
}

int admin_command_run(const struct admin_command *command, int argc, char **argv)
{
    struct arguments arguments;
    struct flag_list rest = {0};
    struct err err;
    bool ok = flags_parse((const struct flag *const[]){flags_of(&arguments), NULL}, argc, argv, &rest, &err);
    if (ok && rest.count) ok = err_set(&err, ERR_INVALID, "unexpected argument \"%s\"", rest.items[0]);
    flag_list_clear(&rest);
    if (ok && show(command, &arguments, &err)) return EXIT_OK;
    fprintf(stderr, "kubelua %s: %s\n", command->name, err.text);
    return EXIT_USAGE;
}

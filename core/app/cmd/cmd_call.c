/* `kubelua call`: calls a command of a running engine's scripts, by its admin socket. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_client.h"
#include "app/cmd/call_view.h"
#include "app/cmd/cmd.h"
#include "base/cli/flags.h"
#include "base/cli/text_table.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "object/parse/document.h"

struct arguments {
    const char *output, *path;
    int64_t timeout_ms;
    struct flag_list words; /* the command and its arguments */
};

static const struct flag *flags_of(struct arguments *arguments)
{
    static struct flag table[4];
    *arguments = (struct arguments){.output = "table"};
    const struct flag flags[] = {
        {"output", 'o', FLAG_CHOICE, &arguments->output, "table|json|yaml", "table|json|yaml",
         "Output format for results that are not strings (default table)"},
        {"timeout", 0, FLAG_DURATION_MS, &arguments->timeout_ms, "DURATION", NULL,
         "Cancel the call after this time (default 0: never)"},
        FLAG_ADMIN_SOCKET(&arguments->path),
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

static void help(void)
{
    struct arguments arguments;
    puts(
        "Call a command that a script registered with k8s.command, and print its result. Without a name, "
        "list\n"
        "the commands.\n\n"
        "Usage:\n"
        "  kubelua call [SCRIPT/]NAME [ARGUMENT ...] [flags]\n\n"
        "Put arguments that start with - after --. Exit codes: 0 success; 1 the command returned nil and an\n"
        "error; 2 no such command or no engine; 3 the command failed or was cancelled. Ctrl-C cancels the "
        "call.\n\n"
        "Examples:\n"
        "  kubelua call\n"
        "  kubelua call orphans shop -o json\n\n"
        "Flags:");
    flags_print(flags_of(&arguments));
}

/* --- the answer */

static void put_form(const struct tape *tape, size_t at, const char *form, struct buf *out)
{
    if (strcmp(form, "json") == 0)
        document_json(tape, at, out);
    else if (strcmp(form, "yaml") == 0)
        document_yaml(tape, at, out);
    else
        call_view_table(tape, at, out);
}

static bool write_out(struct buf *out, struct err *err)
{
    if (out->len) fwrite(out->data, 1, out->len, stdout);
    buf_clear(out);
    return (fflush(stdout) == 0 && !ferror(stdout)) || err_set(err, ERR_IO, "cannot write to stdout");
}

/* A text is printed as it is; one in another form than a table is a text of that form. */
static void put_text(const struct tape *tape, size_t at, const char *form, struct buf *out)
{
    struct str text = tape_str(tape, at);
    if (strcmp(form, "table") != 0) {
        put_form(tape, at, form, out);
        return;
    }
    buf_str(out, text);
    if (text.n && text.p[text.n - 1] != '\n') buf_putc(out, '\n');
}

static int show(const struct tape *tape, size_t at, const struct arguments *arguments, struct err *err)
{
    struct buf out = {0};
    struct str end = tape_str(tape, tape_field(tape, at, STR("end")));
    size_t value = tape_field(tape, at, STR("value")), text = tape_field(tape, at, STR("text"));
    if (!str_is(end, "done")) {
        struct str why = tape_str(tape, text);
        fprintf(stderr, "kubelua call: %s: %.*s\n", arguments->words.items[0], STR_ARG(why));
        return str_is(end, "refused") ? EXIT_FINDINGS : EXIT_INCOMPLETE;
    }
    if (value)
        put_form(tape, value, arguments->output, &out);
    else
        put_text(tape, text, arguments->output, &out);
    return write_out(&out, err) ? EXIT_OK : EXIT_USAGE;
}

/* --- asking */

static int call(const struct arguments *arguments, struct err *err)
{
    struct buf params = {0};
    json_open(&params, NULL, '{');
    json_text(&params, "name", arguments->words.items[0]);
    json_open(&params, "args", '[');
    for (size_t i = 1; i < arguments->words.count; i++) json_text(&params, NULL, arguments->words.items[i]);
    json_close(&params, ']');
    json_close(&params, '}');
    struct admin_client *client =
        admin_client_call(arguments->path, "call", buf_text(&params), arguments->timeout_ms, err);
    buf_clear(&params);
    bool lost = err->code == ERR_TIMEOUT || err->code == ERR_CLOSED;
    if (!client) return lost ? EXIT_INCOMPLETE : EXIT_USAGE;
    err->text[0] = '\0';
    int code = show(admin_client_tape(client), admin_client_result(client), arguments, err);
    admin_client_free(client);
    return code;
}

static void print_list(const struct tape *tape, size_t list)
{
    static const char *const fields[] = {"name", "script", "help"};
    static const struct text_column columns[] = {
        {"NAME", false}, {"SCRIPT", false}, {"HELP", false}, {NULL, false}};
    struct text_table table = {.columns = columns};
    for (size_t v = tape_first(tape, list, NULL); v; v = tape_next(tape, list, v, NULL)) {
        char *cells[ARRAY_LEN(fields)];
        for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
            struct str text = tape_str(tape, tape_field(tape, v, str_of(fields[i])));
            cells[i] = xstrndup(text.n ? text.p : "-", text.n ? text.n : 1);
        }
        text_table_add(&table, (const char *const *)cells);
        for (size_t i = 0; i < ARRAY_LEN(fields); i++) free(cells[i]);
    }
    if (table.count)
        text_table_print(&table, stdout, 0, false);
    else
        puts("No commands found");
    text_table_clear(&table);
}

static int list(const struct arguments *arguments, struct err *err)
{
    struct buf out = {0};
    struct admin_client *client = admin_client_request(arguments->path, "commands", err);
    if (!client) return EXIT_USAGE;
    const struct tape *tape = admin_client_tape(client);
    size_t commands = tape_field(tape, admin_client_result(client), STR("commands"));
    if (strcmp(arguments->output, "table") == 0)
        print_list(tape, commands);
    else
        put_form(tape, commands, arguments->output, &out);
    bool ok = write_out(&out, err);
    admin_client_free(client);
    return ok ? EXIT_OK : EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    struct arguments arguments;
    struct err err = {0};
    const struct flag *tables[] = {flags_of(&arguments), NULL};
    int code = EXIT_USAGE;
    if (flags_parse(tables, argc, argv, &arguments.words, &err))
        code = arguments.words.count ? call(&arguments, &err) : list(&arguments, &err);
    if (code != EXIT_OK && err.text[0]) fprintf(stderr, "kubelua call: %s\n", err.text);
    flag_list_clear(&arguments.words);
    return code;
}

const struct command cmd_call = {"call", "Call a command that a script provides", run, help};

/* `kubelua quarantine`: what a running engine does not call any more, and its end, by the admin socket. */
#include <inttypes.h>
#include <stdlib.h>

#include "app/admin/admin_client.h"
#include "app/cmd/cmd.h"
#include "base/cli/flags.h"
#include "base/cli/text_table.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "object/parse/document.h"

struct arguments {
    const char *output, *path, *lift;
    struct flag_list rest;
};

static const struct flag *flags_of(struct arguments *arguments)
{
    static struct flag table[4];
    *arguments = (struct arguments){.output = "table"};
    const struct flag flags[] = {
        {"lift", 0, FLAG_STRING, &arguments->lift, "SCRIPT[/ID]", NULL,
         "Lift the quarantine of a script, or of one of its ids"},
        {"output", 'o', FLAG_CHOICE, &arguments->output, "table|json|yaml", "table|json|yaml",
         "Output format (default table)"},
        FLAG_ADMIN_SOCKET(&arguments->path),
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

static void help(void)
{
    struct arguments arguments;
    puts("List the quarantined functions of a running engine: handlers, queues, timers, commands, "
         "transforms,\n"
         "index functions and rules that exceeded a limit in three consecutive calls. --lift re-enables "
         "them:\n"
         "handlers receive the whole cache again, transforms relist, and indexes are rebuilt.\n\n"
         "Usage:\n"
         "  kubelua quarantine [--lift SCRIPT[/ID]] [flags]\n\n"
         "Names may be shortened while they stay unique: scripts/restarts/pods/1, restarts/pods/1, pods/1.\n"
         "scripts/restarts or restarts selects everything in that script.\n\n"
         "Exit codes: 0 success; 2 no engine, or nothing with that name is in quarantine.\n\n"
         "Examples:\n"
         "  kubelua quarantine\n"
         "  kubelua quarantine --lift restarts/pods/1\n\n"
         "Flags:");
    flags_print(flags_of(&arguments));
}

static void add_row(struct text_table *table, const struct tape *tape, size_t at)
{
    enum { SCRIPT, ID, SINCE, SKIPPED, COLUMNS };
    struct buf cells[COLUMNS] = {0};
    const char *texts[COLUMNS];
    buf_str(&cells[SCRIPT], tape_str(tape, tape_field(tape, at, STR("script"))));
    buf_str(&cells[ID], tape_str(tape, tape_field(tape, at, STR("id"))));
    text_duration(tape_int(tape, tape_field(tape, at, STR("seconds")), 0), &cells[SINCE]);
    buf_printf(&cells[SKIPPED], "%" PRId64, tape_int(tape, tape_field(tape, at, STR("skipped")), 0));
    for (int i = 0; i < COLUMNS; i++) texts[i] = buf_text(&cells[i]);
    text_table_add(table, texts);
    struct str why = tape_str(tape, tape_field(tape, at, STR("why")));
    char *note = xstrndup(why.p, why.n);
    text_table_note(table, note);
    free(note);
    for (int i = 0; i < COLUMNS; i++) buf_clear(&cells[i]);
}

static void print_table(const struct tape *tape, size_t list)
{
    static const struct text_column columns[] = {
        {"SCRIPT", false}, {"ID", false}, {"SINCE", true}, {"SKIPPED", true}, {NULL, false}};
    struct text_table table = {.columns = columns};
    for (size_t v = tape_first(tape, list, NULL); v; v = tape_next(tape, list, v, NULL))
        add_row(&table, tape, v);
    if (table.count)
        text_table_print(&table, stdout, 0, false);
    else
        puts("No quarantined functions");
    text_table_clear(&table);
}

static int list(const struct arguments *arguments, struct err *err)
{
    struct buf out = {0};
    struct admin_client *client = admin_client_request(arguments->path, "quarantine", err);
    if (!client) return EXIT_USAGE;
    const struct tape *tape = admin_client_tape(client);
    size_t items = tape_field(tape, admin_client_result(client), STR("quarantined"));
    if (strcmp(arguments->output, "table") == 0)
        print_table(tape, items);
    else if (strcmp(arguments->output, "json") == 0)
        document_json(tape, items, &out);
    else
        document_yaml(tape, items, &out);
    if (out.len) fwrite(out.data, 1, out.len, stdout);
    buf_clear(&out);
    admin_client_free(client);
    return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_OK : EXIT_USAGE;
}

static int lift(const struct arguments *arguments, struct err *err)
{
    struct buf params = {0};
    json_open(&params, NULL, '{');
    json_text(&params, "target", arguments->lift);
    json_close(&params, '}');
    struct admin_client *client = admin_client_call(arguments->path, "lift", buf_text(&params), 0, err);
    buf_clear(&params);
    if (!client) return EXIT_USAGE;
    const struct tape *tape = admin_client_tape(client);
    printf("Lifted: %" PRId64 "\n",
           tape_int(tape, tape_field(tape, admin_client_result(client), STR("lifted")), 0));
    admin_client_free(client);
    return EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct arguments arguments;
    struct err err = {0};
    const struct flag *tables[] = {flags_of(&arguments), NULL};
    int code = EXIT_USAGE;
    if (flags_parse(tables, argc, argv, &arguments.rest, &err)) {
        if (arguments.rest.count)
            err_set(&err, ERR_INVALID, "unexpected argument \"%s\"", arguments.rest.items[0]);
        else
            code = arguments.lift ? lift(&arguments, &err) : list(&arguments, &err);
    }
    if (code != EXIT_OK && err.text[0]) fprintf(stderr, "kubelua quarantine: %s\n", err.text);
    flag_list_clear(&arguments.rest);
    return code;
}

const struct command cmd_quarantine = {"quarantine", "List or lift quarantined functions", run, help};

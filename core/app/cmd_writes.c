/* `kubelua writes`: what the scripts of a running engine wrote, by its admin socket. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/admin_client.h"
#include "app/cmd.h"
#include "app/document.h"
#include "app/flags.h"
#include "app/text_table.h"
#include "base/mem.h"

struct arguments {
    const char *output, *path;
};

static const struct flag *flags_of(struct arguments *arguments)
{
    static struct flag table[3];
    *arguments = (struct arguments){.output = "table"};
    table[0] = (struct flag){"output",
                             'o',
                             FLAG_CHOICE,
                             &arguments->output,
                             "table|wide|json|yaml",
                             "table|wide|json|yaml",
                             "form of the answer (default table)"};
    table[1] = (struct flag){"admin-socket",
                             0,
                             FLAG_STRING,
                             &arguments->path,
                             "PATH",
                             NULL,
                             "the engine's (default $XDG_RUNTIME_DIR/kubelua.sock, as root "
                             "/run/kubelua.sock)"};
    return table;
}

static void help(void)
{
    struct arguments arguments;
    puts("Show the last 1,000 writes of a running engine's scripts: when, who, why, what, and with which "
         "result.\n"
         "All of them go to a file by --audit-log of kubelua run.\n\n"
         "Usage:\n"
         "  kubelua writes [-o table|wide|json|yaml]\n\n"
         "Flags:");
    flags_print(flags_of(&arguments));
}

/* The fields of an entry in the order of the columns; the first COLUMNS_NARROW are always shown. */
static const char *const fields[] = {"time",   "script",  "verb",    "resource", "object", "result",
                                     "dryRun", "handler", "trigger", "manager",  "message"};
static const struct text_column narrow[] = {{"TIME", false},     {"SCRIPT", false}, {"VERB", false},
                                            {"RESOURCE", false}, {"OBJECT", false}, {"RESULT", false},
                                            {NULL, false}};
static const struct text_column wide[] = {
    {"TIME", false},    {"SCRIPT", false},  {"VERB", false},    {"RESOURCE", false},
    {"OBJECT", false},  {"RESULT", false},  {"DRY-RUN", false}, {"HANDLER", false},
    {"TRIGGER", false}, {"MANAGER", false}, {"MESSAGE", false}, {NULL, false},
};

static void add_row(struct text_table *table, const struct tape *tape, size_t at, struct buf *cells)
{
    const char *texts[ARRAY_LEN(fields)];
    for (size_t i = 0; table->columns[i].heading; i++) {
        struct str text = tape_str(tape, tape_field(tape, at, str_of(fields[i])));
        cells[i].len = 0;
        buf_str(&cells[i], text.n ? text : STR("-"));
        texts[i] = buf_text(&cells[i]);
    }
    text_table_add(table, texts);
    bool good = strcmp(texts[5], "ok") == 0;
    text_table_tint(table, 5, good ? TINT_NONE : TINT_BAD);
}

static void print_table(const struct tape *tape, size_t at, bool is_wide)
{
    struct text_table table = {.columns = is_wide ? wide : narrow};
    struct buf cells[ARRAY_LEN(fields)] = {{0}};
    struct winsize size;
    bool terminal = isatty(STDOUT_FILENO);
    size_t width = terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0, count = 0;
    size_t list = tape_field(tape, at, STR("writes"));
    for (size_t v = tape_first(tape, list, NULL); v; v = tape_next(tape, list, v, NULL), count++)
        add_row(&table, tape, v, cells);
    int64_t total = tape_int(tape, tape_field(tape, at, STR("total")), 0);
    if (count)
        text_table_print(&table, stdout, width, terminal);
    else
        puts("No writes yet");
    if (total > (int64_t)count) printf("The last %zu of %" PRId64 " writes\n", count, total);
    text_table_clear(&table);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) buf_clear(&cells[i]);
}

static void print(const struct tape *tape, size_t at, const char *form)
{
    struct buf text = {0};
    if (strcmp(form, "json") == 0)
        document_json(tape, at, &text);
    else if (strcmp(form, "yaml") == 0)
        document_yaml(tape, at, &text);
    else
        print_table(tape, at, strcmp(form, "wide") == 0);
    if (text.len) fwrite(text.data, 1, text.len, stdout);
    buf_clear(&text);
}

static bool show(const struct arguments *arguments, struct err *err)
{
    struct admin_client *client = admin_client_ask(arguments->path, "writes", err);
    if (!client) return false;
    print(admin_client_tape(client), admin_client_result(client), arguments->output);
    admin_client_free(client);
    if (fflush(stdout) != 0 || ferror(stdout)) return err_set(err, ERR_IO, "stdout: the answer was lost");
    return true;
}

static int run(int argc, char **argv)
{
    struct arguments arguments;
    struct flag_list rest = {0};
    struct err err;
    bool ok = flags_parse((const struct flag *const[]){flags_of(&arguments), NULL}, argc, argv, &rest, &err);
    if (ok && rest.count) ok = err_set(&err, ERR_INVALID, "unexpected argument \"%s\"", rest.items[0]);
    flag_list_clear(&rest);
    if (ok && show(&arguments, &err)) return EXIT_OK;
    fprintf(stderr, "kubelua writes: %s\n", err.text);
    return EXIT_USAGE;
}

const struct command cmd_writes = {"writes", "Show what the scripts of a running engine wrote", run, help};

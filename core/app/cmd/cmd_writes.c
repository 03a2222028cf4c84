/* `kubelua writes`: what the scripts of a running engine wrote, by its admin socket. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/cmd/admin_command.h"
#include "app/cmd/cmd.h"
#include "base/cli/text_table.h"
#include "base/mem.h"

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

/* The answer has them in the order in which they ended. */
static int begun_before(const void *a, const void *b, void *ctx)
{
    const struct tape *tape = ctx;
    const size_t *x = a, *y = b;
    struct str t = tape_str(tape, tape_field(tape, *x, STR("time")));
    struct str u = tape_str(tape, tape_field(tape, *y, STR("time")));
    int order = memcmp(t.p, u.p, t.n < u.n ? t.n : u.n);
    return order ? order : *x < *y ? -1 : *x > *y;
}

static size_t *by_time(const struct tape *tape, size_t list, size_t *count)
{
    size_t *items = NULL;
    *count = 0;
    for (size_t v = tape_first(tape, list, NULL); v; v = tape_next(tape, list, v, NULL)) {
        items = xrealloc(items, (*count + 1) * sizeof *items);
        items[(*count)++] = v;
    }
    if (items) qsort_r(items, *count, sizeof *items, begun_before, (void *)tape);
    return items;
}

static void print(const struct tape *tape, size_t at, FILE *out, const struct status_view *view)
{
    struct text_table table = {.columns = view->wide ? wide : narrow};
    struct buf cells[ARRAY_LEN(fields)] = {{0}};
    size_t count, *items = by_time(tape, tape_field(tape, at, STR("writes")), &count);
    for (size_t i = 0; i < count; i++) add_row(&table, tape, items[i], cells);
    free(items);
    int64_t total = tape_int(tape, tape_field(tape, at, STR("total")), 0);
    if (count)
        text_table_print(&table, out, view->width, view->colours);
    else
        fputs("No writes found.\n", out);
    if (total > (int64_t)count) fprintf(out, "The last %zu of %" PRId64 " writes\n", count, total);
    text_table_clear(&table);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) buf_clear(&cells[i]);
}

static const struct admin_command command = {
    .name = "writes",
    .summary = "Show the last 1,000 writes of scripts: time, script, trigger, object and result.\n"
               "To log all writes to a file, use kubelua run --audit-log.",
    .print = print,
};

static int run(int argc, char **argv)
{
    return admin_command_run(&command, argc, argv);
}

static void help(void)
{
    admin_command_help(&command);
}

const struct command cmd_writes = {"writes", "Show recent writes of scripts", run, help};

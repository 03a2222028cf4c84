/* Rows of `kubelua plan` as text and as JSON; see plan_rows.h. */
#include "app/plan/plan_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/plan/plan_detail.h"
#include "base/array.h"
#include "base/text/json_out.h"

/* For programs; and, with a number before it, for the last line. */
static const struct {
    const char *name, *counted;
} fates[PLAN_ACTIONS] = {
    [PLAN_UNCHANGED] = {"unchanged", "unchanged"}, [PLAN_START] = {"added", "new"},
    [PLAN_CHANGE] = {"changed", "to change"},      [PLAN_RELOAD_ONLY] = {"reloaded", "to be loaded anew"},
    [PLAN_STOP] = {"removed", "to stop"},          [PLAN_REFUSED] = {"refused", "to be refused"},
};

static const struct {
    const char *name;
    char sign;
} changes[] = {
    [INVENTORY_ADDED] = {"added", '+'},
    [INVENTORY_REMOVED] = {"removed", '-'},
    [INVENTORY_CHANGED] = {"changed", '~'},
};

void plan_rows_add(struct plan_rows *rows, const struct plan_row *row)
{
    *array_add(rows->items, rows->count) = *row;
}

void plan_rows_clear(struct plan_rows *rows)
{
    free(rows->items);
    *rows = (struct plan_rows){0};
}

size_t plan_rows_of(const struct plan_rows *rows, enum plan_action fate)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) count += rows->items[i].fate == fate;
    return count;
}

/* The differences of the two, and how many entries are the same. */
static size_t compare(const struct plan_row *row,
                      void (*fn)(void *ctx, enum inventory_change change,
                                 const struct inventory_entry *before, const struct inventory_entry *after),
                      void *ctx)
{
    static const struct inventory none = {0};
    const struct inventory *before = row->before ? row->before : &none,
                           *after = row->after ? row->after : &none;
    size_t same = 0;
    inventory_diff(before, after, fn, ctx);
    for (size_t i = 0; i < after->count; i++) {
        const struct inventory_entry *entry = &after->items[i],
                                     *old = inventory_find(before, entry->class, str_of(entry->key));
        same += old && strcmp(old->detail, entry->detail) == 0 && *entry->detail != '?';
    }
    return same;
}

/* --- text */

/* Texts come from a server too: none of them moves the cursor or begins a line. */
static void put_printable(const char *text, struct buf *out)
{
    for (; *text; text++) buf_putc(out, (unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text);
}

/* Output of a script: the inventory of the file knows where its functions are. */
struct writing {
    const struct inventory *after;
    struct buf *out;
};

/* The place is that of the entry, where none of a function says more. */
static void put_detail(const struct writing *w, const struct inventory_entry *before,
                       const struct inventory_entry *after)
{
    const struct inventory_entry *entry = after ? after : before;
    struct buf text = {0};
    bool placed = false;
    if (before && after)
        placed = plan_detail_compare(before->detail, after->detail, w->after, &text);
    else
        plan_detail_print(entry->detail, &text);
    if (text.len) buf_puts(w->out, before && after ? ": " : " ");
    put_printable(buf_text(&text), w->out);
    if (after && after->file && !placed) buf_printf(w->out, " (%s:%d)", after->file, after->line);
    buf_clear(&text);
}

static void put_change(void *ctx, enum inventory_change change, const struct inventory_entry *before,
                       const struct inventory_entry *after)
{
    const struct writing *w = ctx;
    const struct inventory_entry *entry = after ? after : before;
    const char *note = inventory_change_note(before, after);
    buf_printf(w->out, "  %c %s ", changes[change].sign, inventory_class_name(entry->class));
    put_printable(entry->key, w->out);
    put_detail(w, before, after);
    if (note) buf_printf(w->out, "\n      %s", note);
    buf_putc(w->out, '\n');
}

static void put_head(const struct plan_row *row, struct buf *out)
{
    put_printable(row->name, out);
    switch (row->fate) {
    case PLAN_START: buf_puts(out, ": new\n"); break;
    case PLAN_STOP:
        buf_printf(out, ": stops, its file is gone; generation %" PRId64 " runs\n", row->generation);
        break;
    case PLAN_REFUSED:
        buf_puts(out, ": refused: ");
        put_printable(row->error, out);
        buf_putc(out, '\n');
        break;
    case PLAN_RELOAD_ONLY:
        buf_printf(out, ": loaded anew, generation %" PRId64 " runs; what it registers is the same\n",
                   row->generation);
        break;
    default: buf_printf(out, ": changes, generation %" PRId64 " runs\n", row->generation);
    }
}

static void put_row(const struct plan_row *row, struct buf *out)
{
    if (row->fate == PLAN_UNCHANGED) return;
    put_head(row, out);
    if (row->fate == PLAN_REFUSED || row->fate == PLAN_RELOAD_ONLY) return;
    struct writing writing = {row->after, out};
    size_t same = compare(row, put_change, &writing);
    if (same) buf_printf(out, "  %zu unchanged\n", same);
}

void plan_rows_print(const struct plan_rows *rows, struct buf *out)
{
    bool first = true;
    for (size_t i = 0; i < rows->count; i++) put_row(&rows->items[i], out);
    buf_printf(out, "%zu script%s: ", rows->count, rows->count == 1 ? "" : "s");
    for (int fate = PLAN_ACTIONS - 1; fate >= 0; fate--) {
        size_t count = plan_rows_of(rows, (enum plan_action)fate);
        if (!count) continue;
        buf_printf(out, "%s%zu %s", first ? "" : ", ", count, fates[fate].counted);
        first = false;
    }
    buf_puts(out, first ? "none\n" : "\n");
}

/* --- JSON */

static void put_json_change(void *ctx, enum inventory_change change, const struct inventory_entry *before,
                            const struct inventory_entry *after)
{
    struct buf *out = ctx;
    const struct inventory_entry *entry = after ? after : before;
    const char *note = inventory_change_note(before, after);
    json_open(out, NULL, '{');
    json_text(out, "change", changes[change].name);
    json_text(out, "class", inventory_class_name(entry->class));
    json_text(out, "key", entry->key);
    if (before) json_text(out, "before", before->detail);
    if (after) json_text(out, "after", after->detail);
    if (after && after->file) {
        json_text(out, "file", after->file);
        json_int(out, "line", after->line);
    }
    if (note) json_text(out, "note", note);
    json_close(out, '}');
}

static void put_json_row(const struct plan_row *row, struct buf *out)
{
    json_open(out, NULL, '{');
    json_text(out, "name", row->name);
    json_text(out, "result", fates[row->fate].name);
    if (row->generation) json_int(out, "generation", row->generation);
    if (row->error) {
        json_text(out, "error", row->error);
    } else {
        json_open(out, "changes", '[');
        size_t same = compare(row, put_json_change, out);
        json_close(out, ']');
        json_int(out, "unchanged", (int64_t)same);
    }
    json_close(out, '}');
}

void plan_rows_print_json(const struct plan_rows *rows, struct buf *out)
{
    json_open(out, NULL, '{');
    json_open(out, "summary", '{');
    for (int fate = 0; fate < PLAN_ACTIONS; fate++)
        json_int(out, fates[fate].name, (int64_t)plan_rows_of(rows, (enum plan_action)fate));
    json_close(out, '}');
    json_open(out, "scripts", '[');
    for (size_t i = 0; i < rows->count; i++) put_json_row(&rows->items[i], out);
    json_close(out, ']');
    json_close(out, '}');
    buf_putc(out, '\n');
}

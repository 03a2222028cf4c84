/* Writes findings as frames; see stream.h. */
#include "audit/found/stream.h"
#include "base/must.h"
#include "base/text/wire.h"

static size_t begin(struct buf *out, enum frame_type type)
{
    size_t at = out->len;
    buf_append(out, (const char[FRAME_HEAD]){0, 0, 0, 0, (char)type}, FRAME_HEAD);
    return at;
}

static void end(struct buf *out, size_t at)
{
    size_t size = out->len - at - FRAME_HEAD;
    must(size <= AUDIT_FRAME_MAX);
    for (int i = 0; i < 4; i++) out->data[at + (size_t)i] = (char)(size >> 8 * i);
}

static void put_texts(struct buf *out, const void *of, const size_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++) wire_put_text(out, *AUDIT_TEXT(of, const struct str, places[i]));
}

bool audit_stream_put_rules(struct buf *out, const struct audit_table *table, struct err *err)
{
    size_t at = begin(out, FRAME_RULES), count = audit_table_rule_count(table);
    wire_put_number(out, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct audit_rule *rule = audit_table_rule(table, i);
        for (size_t t = 0; t < RULE_TEXTS; t++)
            wire_put_text(out, str_of(*AUDIT_TEXT(rule, const char *const, audit_rule_texts[t])));
        wire_put_number(out, (uint64_t)rule->line);
        wire_put_number(out, rule->severity);
    }
    if (out->len - at - FRAME_HEAD > AUDIT_FRAME_MAX) {
        out->len = at;
        return err_set(err, ERR_LIMIT, "the titles and explanations of the rules are more than %d MiB",
                       AUDIT_FRAME_MAX >> 20);
    }
    end(out, at);
    return true;
}

/* Returns the first row after those of the object of row `i`; rows of an object are adjacent. */
static size_t behind_object(const struct audit_table *table, size_t i)
{
    size_t rows = audit_table_count_rows(table);
    uint32_t object = audit_table_row(table, i)->object;
    while (i < rows && audit_table_row(table, i)->object == object) i++;
    return i;
}

static size_t count_objects(const struct audit_table *table)
{
    size_t count = 0, rows = audit_table_count_rows(table);
    for (size_t i = 0; i < rows; i = behind_object(table, i)) count++;
    return count;
}

static void put_counts(struct buf *out, const struct audit_table *table)
{
    size_t count = audit_table_rule_count(table);
    wire_put_number(out, audit_table_totals(table).audited - count_objects(table));
    wire_put_number(out, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct audit_rule *rule = audit_table_rule(table, i);
        for (size_t v = 0; v < VERDICTS; v++) wire_put_number(out, rule->counts[v]);
        wire_put_text(out, rule->not_evaluated);
    }
}

static void put_row(struct buf *out, const struct audit_row *row)
{
    wire_put_number(out, row->rule);
    wire_put_number(out, row->verdict);
    wire_put_number(out, row->accepted);
    put_texts(out, row, audit_row_texts, ROW_TEXTS);
}

/* Appends rows from `first` on, below `until`, as many as fit into one frame; at least one does, as the
 * strings of a row are bounded (rule.h). Returns the first row that is left. */
static size_t put_rows(struct buf *out, const struct audit_table *table, size_t first, size_t until)
{
    size_t begun = out->len, row = first;
    while (row < until && (row == first || out->len - begun < FRAME_ROWS_ENOUGH)) {
        wire_put_number(out, 1);
        put_row(out, audit_table_row(table, row++));
    }
    wire_put_number(out, 0);
    return row;
}

static void put_one(struct buf *out, enum frame_type type, uint64_t number)
{
    size_t at = begin(out, type);
    wire_put_number(out, number);
    end(out, at);
}

/* Appends the frames of an object, whose rows are those from `first` on, below `until`. */
static void put_object_frames(struct buf *out, const struct audit_table *table, size_t first, size_t until)
{
    const struct audit_object *object = audit_table_object(table, audit_table_row(table, first)->object);
    if (object->line) put_one(out, FRAME_LINE, object->line);
    size_t at = begin(out, FRAME_OBJECT);
    put_texts(out, object, audit_object_texts, OBJECT_TEXTS);
    size_t row = put_rows(out, table, first, until);
    end(out, at);
    while (row < until) {
        at = begin(out, FRAME_MORE);
        row = put_rows(out, table, row, until);
        end(out, at);
    }
}

void audit_stream_put_found(struct buf *out, const struct audit_table *table)
{
    size_t at = begin(out, FRAME_FOUND), rows = audit_table_count_rows(table);
    put_counts(out, table);
    end(out, at);
    for (size_t i = 0, next; i < rows; i = next) {
        next = behind_object(table, i);
        put_object_frames(out, table, i, next);
    }
}

void audit_stream_put_total(struct buf *out, size_t objects)
{
    put_one(out, FRAME_TOTAL, objects);
}

static void put_line(struct buf *out, enum frame_type type, struct str text)
{
    size_t at = begin(out, type);
    if (text.n > AUDIT_LINE_MAX) text.n = AUDIT_LINE_MAX;
    wire_put_text(out, text);
    end(out, at);
}

void audit_stream_put_print(struct buf *out, struct str line)
{
    put_line(out, FRAME_PRINT, line);
}

void audit_stream_put_problem(struct buf *out, struct str text)
{
    put_line(out, FRAME_PROBLEM, text);
}

void audit_stream_put_end(struct buf *out)
{
    end(out, begin(out, FRAME_END));
}

void audit_stream_put_unmatched(struct buf *out, const struct audit_unmatched_run *run)
{
    size_t at = begin(out, FRAME_UNMATCHED);
    wire_put_text(out, run->api_version);
    wire_put_text(out, run->kind);
    wire_put_number(out, run->line);
    wire_put_number(out, run->count);
    end(out, at);
}

void audit_stream_put_type(struct buf *out, struct str api_version, struct str kind)
{
    size_t at = begin(out, FRAME_TYPE);
    wire_put_text(out, api_version);
    wire_put_text(out, kind);
    end(out, at);
}

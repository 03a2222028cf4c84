/* Frames of what was found; see stream.h. */
#include "audit/stream.h"
#include "audit/stream_frame.h"
#include "base/must.h"
#include "base/wire.h"

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

static void put_text(struct buf *out, const char *text)
{
    wire_put_text(out, str_of(text));
}

void audit_stream_put_rules(struct buf *out, const struct audit_table *table)
{
    size_t at = begin(out, FRAME_RULES), count = audit_table_rule_count(table);
    wire_put_number(out, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct audit_rule *rule = audit_table_rule(table, i);
        put_text(out, rule->id);
        put_text(out, rule->title);
        put_text(out, rule->category);
        put_text(out, rule->why);
        put_text(out, rule->how);
        put_text(out, rule->file);
        wire_put_number(out, (uint64_t)rule->line);
        wire_put_number(out, rule->severity);
    }
    end(out, at);
}

static void put_counts(struct buf *out, const struct audit_table *table)
{
    size_t count = audit_table_rule_count(table);
    wire_put_number(out, audit_table_totals(table).looked_at);
    wire_put_number(out, count);
    for (uint32_t i = 0; i < count; i++)
        for (size_t v = 0; v < VERDICTS; v++) wire_put_number(out, audit_table_rule(table, i)->counts[v]);
}

static void put_object(struct buf *out, const struct audit_object *object)
{
    wire_put_text(out, object->api_version);
    wire_put_text(out, object->kind);
    wire_put_text(out, object->ns);
    wire_put_text(out, object->name);
    wire_put_text(out, object->uid);
}

static void put_row(struct buf *out, const struct audit_row *row)
{
    wire_put_number(out, row->rule);
    wire_put_number(out, row->verdict);
    wire_put_number(out, row->accepted);
    wire_put_text(out, row->message);
    wire_put_text(out, row->path);
    wire_put_text(out, row->place);
    wire_put_text(out, row->value);
    wire_put_text(out, row->fix);
}

/* Each object with its rows, which stand together. */
void audit_stream_put_found(struct buf *out, const struct audit_table *table)
{
    size_t at = begin(out, FRAME_FOUND), rows = audit_table_count_rows(table);
    put_counts(out, table);
    wire_put_number(out, audit_table_object_count(table));
    for (size_t i = 0, next; i < rows; i = next) {
        uint32_t object = audit_table_row(table, i)->object;
        for (next = i; next < rows && audit_table_row(table, next)->object == object;) next++;
        put_object(out, audit_table_object(table, object));
        wire_put_number(out, next - i);
        for (size_t r = i; r < next; r++) put_row(out, audit_table_row(table, r));
    }
    end(out, at);
}

static void put_line(struct buf *out, enum frame_type type, struct str text)
{
    size_t at = begin(out, type);
    wire_put_text(out, text);
    end(out, at);
}

void audit_stream_put_print(struct buf *out, struct str line)
{
    put_line(out, FRAME_PRINT, line);
}

void audit_stream_put_trouble(struct buf *out, struct str text)
{
    put_line(out, FRAME_TROUBLE, text);
}

void audit_stream_put_end(struct buf *out)
{
    end(out, begin(out, FRAME_END));
}

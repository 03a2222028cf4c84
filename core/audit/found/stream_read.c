/* Reads the findings of another process; see stream.h. */
#include <stdlib.h>
#include <string.h>

#include "audit/found/secret_value.h"
#include "audit/found/stream.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/text/wire.h"

enum { RULES_IN_ALL_MAX = 1 << 20, LINE_NUMBER_MAX = 1 << 30, OBJECTS_IN_ALL_MAX = 1 << 30 };

struct audit_stream {
    struct audit_stream_sink sink;
    struct buf bytes; /* of an incomplete frame */
    struct buf text;  /* for strings that are terminated by a NUL */
    size_t rule_count, total;
    uint32_t object;     /* of the table: the last one with rows */
    size_t before, line; /* of a file; 0: none was sent for the next object */
    bool has_object, begun, ended, broken;
    bool is_secret; /* the last object */
};

struct audit_stream *audit_stream_new(const struct audit_stream_sink *sink)
{
    struct audit_stream *stream = NEW(struct audit_stream);
    stream->sink = *sink;
    return stream;
}

void audit_stream_free(struct audit_stream *stream)
{
    if (!stream) return;
    buf_clear(&stream->bytes);
    buf_clear(&stream->text);
    free(stream);
}

bool audit_stream_has_begun(const struct audit_stream *stream)
{
    return stream->begun;
}

bool audit_stream_is_whole(const struct audit_stream *stream)
{
    return stream->ended && !stream->broken && stream->bytes.len == 0;
}

size_t audit_stream_total(const struct audit_stream *stream)
{
    return stream->total;
}

void audit_stream_set_line(struct audit_stream *stream, size_t before)
{
    stream->before = before;
}

/* --- rules */

static void take_texts(struct wire_reader *reader, void *into, const size_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++) *AUDIT_TEXT(into, struct str, places[i]) = wire_text(reader);
}

/* Copies the strings of a rule in a row, each with a NUL. */
static void take_rule_texts(struct audit_stream *stream, struct wire_reader *reader, struct audit_rule *rule)
{
    size_t begins[RULE_TEXTS];
    stream->text.len = 0;
    for (size_t i = 0; i < RULE_TEXTS; i++) {
        struct str text = wire_text(reader);
        begins[i] = stream->text.len;
        buf_str(&stream->text, text);
        buf_putc(&stream->text, '\0');
        if (str_has_nul(text)) reader->bad = true;
    }
    for (size_t i = 0; i < RULE_TEXTS; i++)
        *AUDIT_TEXT(rule, const char *, audit_rule_texts[i]) = stream->text.data + begins[i];
}

/* Reads a rule: the first stream adds the rules of the table, the others must have the same. */
static void take_rule(struct audit_stream *stream, struct wire_reader *reader, uint32_t number, bool is_first)
{
    struct audit_table *table = stream->sink.table;
    struct audit_rule rule = {0};
    take_rule_texts(stream, reader, &rule);
    rule.line = (int)wire_number_below(reader, LINE_NUMBER_MAX);
    rule.severity = (enum severity)wire_number_below(reader, SEVERITIES);
    if (reader->bad) return;
    if (is_first)
        audit_table_add_rule(table, &rule);
    else if (strcmp(audit_table_rule(table, number)->id, rule.id) != 0)
        reader->bad = true;
}

static void take_rules(struct audit_stream *stream, struct wire_reader *reader)
{
    size_t had = audit_table_rule_count(stream->sink.table);
    uint32_t count = wire_number_below(reader, RULES_IN_ALL_MAX);
    if (stream->begun || (had && had != count)) reader->bad = true;
    for (uint32_t i = 0; !reader->bad && i < count; i++) take_rule(stream, reader, i, had == 0);
    stream->begun = true;
    stream->rule_count = count;
}

/* --- findings */

static void take_row(const struct audit_stream *stream, struct wire_reader *reader)
{
    struct audit_row row = {.rule = wire_number_below(reader, stream->rule_count)};
    row.verdict = (enum verdict)wire_number_below(reader, VERDICTS);
    row.accepted = wire_number_below(reader, 2) != 0;
    take_texts(reader, &row, audit_row_texts, ROW_TEXTS);
    if (reader->bad) return;
    if (stream->is_secret && row.value.n && secret_value_is_at(row.path)) row.value = SECRET_VALUE;
    if (row.verdict == VERDICT_PASS)
        audit_table_add_pass(stream->sink.table, row.rule);
    else
        audit_table_add(stream->sink.table, &row);
}

static void take_rows(const struct audit_stream *stream, struct wire_reader *reader)
{
    while (!reader->bad && wire_number_below(reader, 2)) take_row(stream, reader);
}

/* Adds the object to the table, even if the table keeps none of its rows. */
static void take_object(struct audit_stream *stream, struct wire_reader *reader)
{
    struct audit_table *table = stream->sink.table;
    struct audit_object object = {.file = stream->sink.file, .line = stream->line};
    stream->line = 0;
    take_texts(reader, &object, audit_object_texts, OBJECT_TEXTS);
    if (!stream->begun) reader->bad = true;
    if (reader->bad) return;
    stream->is_secret = stream->sink.hides_secrets && secret_value_is_of(&object);
    size_t before = audit_table_object_count(table);
    audit_table_begin_object(table, &object);
    take_rows(stream, reader);
    stream->has_object = audit_table_object_count(table) > before;
    stream->object = (uint32_t)before;
}

/* Resumes the object by its number: other streams may have added objects to the table meanwhile. */
static void take_more(const struct audit_stream *stream, struct wire_reader *reader)
{
    if (!stream->has_object) reader->bad = true;
    if (reader->bad) return;
    audit_table_resume_object(stream->sink.table, stream->object);
    take_rows(stream, reader);
}

static void take_found(const struct audit_stream *stream, struct wire_reader *reader)
{
    struct audit_table *table = stream->sink.table;
    uint64_t seen = wire_number(reader);
    if (!stream->begun || wire_number(reader) != stream->rule_count) reader->bad = true;
    for (uint32_t i = 0; !reader->bad && i < stream->rule_count; i++) {
        size_t counts[VERDICTS];
        for (size_t v = 0; v < VERDICTS; v++) counts[v] = wire_number(reader);
        struct str not_evaluated = wire_text(reader);
        if (!reader->bad) audit_table_add_counts(table, i, counts);
        if (!reader->bad && not_evaluated.n) audit_table_leave_out(table, i, not_evaluated);
    }
    if (!reader->bad) audit_table_add_seen(table, seen);
}

/* --- frames */

static void take_line(const struct audit_stream *stream, struct wire_reader *reader,
                      void (*report)(void *ctx, struct str text))
{
    struct str text = wire_text(reader);
    if (!reader->bad && report) report(stream->sink.ctx, text);
}

static void take_file_line(struct audit_stream *stream, struct wire_reader *reader)
{
    stream->line = wire_number_below(reader, OBJECTS_IN_ALL_MAX);
    stream->line += stream->before;
}

static void take_unmatched(const struct audit_stream *stream, struct wire_reader *reader)
{
    struct audit_unmatched_run run = {.api_version = wire_text(reader)};
    run.kind = wire_text(reader);
    run.line = wire_number_below(reader, OBJECTS_IN_ALL_MAX) + stream->before;
    run.count = wire_number_below(reader, OBJECTS_IN_ALL_MAX);
    if (!reader->bad && stream->sink.unmatched) stream->sink.unmatched(stream->sink.ctx, &run);
}

static void take_type(const struct audit_stream *stream, struct wire_reader *reader)
{
    struct str api_version = wire_text(reader), kind = wire_text(reader);
    if (!reader->bad && stream->sink.type) stream->sink.type(stream->sink.ctx, api_version, kind);
}

static bool take_frame(struct audit_stream *stream, enum frame_type type, struct str payload)
{
    struct wire_reader reader = {.rest = payload, .bad = stream->ended};
    if (type == FRAME_RULES) take_rules(stream, &reader);
    if (type == FRAME_FOUND) take_found(stream, &reader);
    if (type == FRAME_OBJECT) take_object(stream, &reader);
    if (type == FRAME_MORE) take_more(stream, &reader);
    if (type == FRAME_TOTAL) stream->total = wire_number_below(&reader, OBJECTS_IN_ALL_MAX);
    if (type == FRAME_PRINT) take_line(stream, &reader, stream->sink.print);
    if (type == FRAME_PROBLEM) take_line(stream, &reader, stream->sink.problem);
    if (type == FRAME_END) stream->ended = true;
    if (type == FRAME_LINE) take_file_line(stream, &reader);
    if (type == FRAME_UNMATCHED) take_unmatched(stream, &reader);
    if (type == FRAME_TYPE) take_type(stream, &reader);
    return wire_at_end(&reader);
}

static size_t length_of(const char *head)
{
    size_t size = 0;
    for (int i = 0; i < 4; i++) size |= (size_t)(unsigned char)head[i] << 8 * i;
    return size;
}

bool audit_stream_take(struct audit_stream *stream, struct str bytes, struct err *err)
{
    size_t at = 0;
    must(!stream->broken);
    buf_str(&stream->bytes, bytes);
    const struct buf *all = &stream->bytes;
    while (!stream->broken && all->len - at >= FRAME_HEAD) {
        size_t size = length_of(all->data + at);
        unsigned char type = (unsigned char)all->data[at + 4];
        if (size > AUDIT_FRAME_MAX || type >= FRAME_TYPES) {
            stream->broken = true;
        } else {
            if (all->len - at - FRAME_HEAD < size) break;
            struct str payload = {all->data + at + FRAME_HEAD, size};
            stream->broken = !take_frame(stream, (enum frame_type)type, payload);
            at += FRAME_HEAD + size;
        }
    }
    if (stream->broken) return err_set(err, ERR_PARSE, "not an audit stream");
    buf_consume(&stream->bytes, at);
    return true;
}

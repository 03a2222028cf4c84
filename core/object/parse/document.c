/* JSON and YAML for reading; see document.h. */
#include "object/parse/document.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/series/series.h"

enum { JSON_INDENT = 4, YAML_INDENT = 2 };

static bool is_container(const struct tape *tape, size_t at)
{
    char type = tape_type(tape, at);
    return type == '{' || type == '[';
}

/* Texts are quoted in both forms: JSON's quotes are YAML's too, and nothing is taken for a number. */
static void put_scalar(const struct tape *tape, size_t at, struct buf *out)
{
    double number;
    switch (tape_type(tape, at)) {
    case '"': buf_json_string(out, tape_str(tape, at)); break;
    case 'l':
    case 'u': buf_printf(out, "%" PRId64, tape_int(tape, at, 0)); break;
    case 'd':
        memcpy(&number, &tape->words[at + 1], sizeof number);
        exposition_number(out, number);
        break;
    case 't': buf_puts(out, "true"); break;
    case 'f': buf_puts(out, "false"); break;
    default: buf_puts(out, "null"); break;
    }
}

enum { COMPACT = SIZE_MAX >> 1 };

static void indent(struct buf *out, size_t blanks)
{
    buf_printf(out, "%*s", (int)blanks, "");
}

static void begin_line(struct buf *out, size_t depth)
{
    if (depth >= COMPACT) return;
    buf_putc(out, '\n');
    indent(out, depth * JSON_INDENT);
}

/* `depth` COMPACT and more: without lines and blanks. */
static void put_json(const struct tape *tape, size_t at, size_t depth, struct buf *out)
{
    if (!is_container(tape, at)) {
        put_scalar(tape, at, out);
        return;
    }
    bool map = tape_type(tape, at) == '{', any = false;
    struct str key;
    buf_putc(out, map ? '{' : '[');
    for (size_t entry = tape_first(tape, at, map ? &key : NULL); entry;
         entry = tape_next(tape, at, entry, map ? &key : NULL)) {
        if (any) buf_putc(out, ',');
        any = true;
        begin_line(out, depth + 1);
        if (map) buf_json_string(out, key);
        if (map) buf_puts(out, depth >= COMPACT ? ":" : ": ");
        put_json(tape, entry, depth + 1, out);
    }
    if (any) begin_line(out, depth);
    buf_putc(out, map ? '}' : ']');
}

void document_compact(const struct tape *tape, size_t at, struct buf *out)
{
    put_json(tape, at, COMPACT, out);
}

void document_json(const struct tape *tape, size_t at, struct buf *out)
{
    put_json(tape, at, 0, out);
    buf_putc(out, '\n');
}

static void put_yaml(const struct tape *tape, size_t at, size_t depth, bool in_line, struct buf *out);

/* A key that could be taken for something else is quoted. */
static void put_yaml_key(struct str key, struct buf *out)
{
    bool plain = key.n > 0 && isalpha((unsigned char)key.p[0]);
    for (size_t i = 0; i < key.n; i++)
        plain = plain && (isalnum((unsigned char)key.p[i]) || strchr("_-./", key.p[i]));
    if (plain)
        buf_str(out, key);
    else
        buf_json_string(out, key);
}

/* Appends the value behind "key:" or "-". */
static void put_yaml_value(const struct tape *tape, size_t at, size_t depth, bool in_list, struct buf *out)
{
    if (!is_container(tape, at)) {
        buf_putc(out, ' ');
        put_scalar(tape, at, out);
        buf_putc(out, '\n');
    } else if (!tape_first(tape, at, NULL)) {
        buf_puts(out, tape_type(tape, at) == '{' ? " {}\n" : " []\n");
    } else {
        buf_putc(out, in_list ? ' ' : '\n');
        put_yaml(tape, at, depth, in_list, out);
    }
}

/* `in_line`: the first entry goes on behind a "- ". Lists are not indented below their key, as kubectl has
 * it. */
static void put_yaml(const struct tape *tape, size_t at, size_t depth, bool in_line, struct buf *out)
{
    bool map = tape_type(tape, at) == '{';
    struct str key;
    for (size_t entry = tape_first(tape, at, map ? &key : NULL); entry;
         entry = tape_next(tape, at, entry, map ? &key : NULL), in_line = false) {
        if (!in_line) indent(out, depth * YAML_INDENT);
        if (map) put_yaml_key(key, out);
        buf_putc(out, map ? ':' : '-');
        bool list_below = map && tape_type(tape, entry) == '[';
        put_yaml_value(tape, entry, list_below ? depth : depth + 1, !map, out);
    }
}

void document_yaml(const struct tape *tape, size_t at, struct buf *out)
{
    if (is_container(tape, at) && tape_first(tape, at, NULL)) {
        put_yaml(tape, at, 0, false, out);
    } else {
        put_scalar(tape, at, out);
        buf_putc(out, '\n');
    }
}

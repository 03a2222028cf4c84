/* JSON and YAML for reading; see document.h. */
#include "object/parse/document.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/series/series.h"
#include "base/text/json_out.h"

enum { JSON_INDENT = 4 };

static bool is_container(const struct tape *tape, size_t at)
{
    char type = tape_type(tape, at);
    return type == '{' || type == '[';
}

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

void document_yaml(const struct tape *tape, size_t at, struct buf *out)
{
    struct buf json = {0};
    document_compact(tape, at, &json);
    json_yaml_bare(out, buf_slice(&json));
    buf_clear(&json);
}

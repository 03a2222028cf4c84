/* Bytes between processes; see wire.h. */
#include "base/text/wire.h"

void wire_put_number(struct buf *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7) buf_putc(out, (char)(number | 0x80));
    buf_putc(out, (char)number);
}

void wire_put_text(struct buf *out, struct str text)
{
    wire_put_number(out, text.n);
    buf_str(out, text);
}

static uint64_t fail(struct wire_reader *reader)
{
    reader->bad = true;
    reader->rest.n = 0;
    return 0;
}

uint64_t wire_number(struct wire_reader *reader)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (reader->rest.n == 0) return fail(reader);
        unsigned char byte = (unsigned char)*reader->rest.p;
        reader->rest = (struct str){reader->rest.p + 1, reader->rest.n - 1};
        if (shift == 63 && byte > 1) return fail(reader);
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return number;
    }
    return fail(reader);
}

uint32_t wire_number_below(struct wire_reader *reader, uint64_t limit)
{
    uint64_t number = wire_number(reader);
    return (uint32_t)(number < limit ? number : fail(reader));
}

struct str wire_text(struct wire_reader *reader)
{
    uint64_t n = wire_number(reader);
    if (reader->bad) return STR("");
    if (n > reader->rest.n) {
        fail(reader);
        return STR("");
    }
    struct str text = {reader->rest.p, (size_t)n};
    reader->rest = (struct str){reader->rest.p + n, reader->rest.n - (size_t)n};
    return text;
}

bool wire_at_end(const struct wire_reader *reader)
{
    return !reader->bad && reader->rest.n == 0;
}

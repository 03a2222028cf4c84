/* Stored states; see state_record.h. The line is "kubelua-state 1 le VERSION LENGTH CHECKSUM". */
#include "script/generation/state_record.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "script/generation/state_walk.h"

enum { FORMAT = 1, SUM_DIGITS = 32 };

/* Numbers are stored as this machine has them. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTE_ORDER_NAME "le"
#else
#define BYTE_ORDER_NAME "be"
#endif

void state_record_write(struct str body, int version, struct buf *out)
{
    char sum[SUM_DIGITS + 1];
    hash_lasting(body, sum);
    buf_printf(out, "kubelua-state %d " BYTE_ORDER_NAME " %d %zu %s\n", FORMAT, version, body.n, sum);
    buf_str(out, body);
}

/* --- the body: everything that state_walk_read takes for granted */

struct checker {
    struct str rest;
    unsigned depth; /* open tables */
};

static bool skip(struct checker *c, size_t n)
{
    if (n > c->rest.n) return false;
    c->rest = (struct str){c->rest.p + n, c->rest.n - n};
    return true;
}

static bool read_u32(struct checker *c, uint32_t *number)
{
    if (c->rest.n < sizeof *number) return false;
    memcpy(number, c->rest.p, sizeof *number);
    return skip(c, sizeof *number);
}

/* A table reserves room for as many entries as it says, and each takes two bytes at least. */
static bool open_table(struct checker *c)
{
    uint32_t items, fields;
    if (!skip(c, 1) || !read_u32(c, &items) || !read_u32(c, &fields)) return false;
    c->depth++;
    return (uint64_t)items + fields <= c->rest.n / 2 && c->depth < STATE_WALK_LEVELS;
}

/* A key that is nil or nan raises in Lua. */
static bool skip_scalar(struct checker *c, bool is_key)
{
    double number;
    uint32_t n;
    char letter = c->rest.n > 0 ? *c->rest.p : '\0';
    if (!skip(c, 1)) return false;
    switch (letter) {
    case 'f':
    case 't': return true;
    case 'n':
        if (c->rest.n < sizeof number) return false;
        memcpy(&number, c->rest.p, sizeof number);
        return skip(c, sizeof number) && (!is_key || number == number);
    case 's': return read_u32(c, &n) && skip(c, n);
    default: return false;
    }
}

static bool check_entry(struct checker *c)
{
    if (*c->rest.p == '}') {
        c->depth--;
        return skip(c, 1);
    }
    if (!skip_scalar(c, true) || c->rest.n == 0) return false;
    return *c->rest.p == '{' || *c->rest.p == '[' ? open_table(c) : skip_scalar(c, false);
}

static bool is_content(struct str body)
{
    struct checker c = {.rest = body};
    if (body.n == 0 || (*body.p != '{' && *body.p != '[') || !open_table(&c)) return false;
    while (c.depth > 0)
        if (c.rest.n == 0 || !check_entry(&c)) return false;
    return c.rest.n == 0;
}

/* --- the line */

static bool cut_number(struct str *line, uint64_t max, uint64_t *number)
{
    struct str word;
    return str_cut(line, ' ', &word) && str_to_u64(word, number) && *number <= max;
}

static bool refuse(struct err *err, const char *why)
{
    return err_set(err, ERR_PARSE, "%s", why);
}

/* Reads the line without its end; `body` is all behind it. */
static bool read_line(struct str line, struct str body, struct state_record *out, struct err *err)
{
    struct str word;
    uint64_t format, version, length;
    char sum[SUM_DIGITS + 1];
    if (!str_cut(&line, ' ', &word) || !str_is(word, "kubelua-state")) return refuse(err, "not a state");
    if (!cut_number(&line, INT32_MAX, &format)) return refuse(err, "its first line is damaged");
    if (format != FORMAT)
        return err_set(err, ERR_PARSE, "stored in format %d, and this program reads %d", (int)format, FORMAT);
    if (!str_cut(&line, ' ', &word) || !str_is(word, BYTE_ORDER_NAME))
        return refuse(err, "stored by a machine with another byte order");
    if (!cut_number(&line, INT32_MAX, &version) || !cut_number(&line, UINT64_MAX, &length))
        return refuse(err, "its first line is damaged");
    if (length != body.n)
        return err_set(err, ERR_PARSE, "%zu bytes long, and it was written with %" PRIu64, body.n, length);
    hash_lasting(body, sum);
    if (!str_is(line, sum)) return refuse(err, "its checksum is wrong");
    *out = (struct state_record){.version = (int)version, .body = body};
    return true;
}

bool state_record_read(struct str bytes, struct state_record *out, struct err *err)
{
    size_t most = bytes.n < STATE_RECORD_HEAD_MAX ? bytes.n : STATE_RECORD_HEAD_MAX;
    const char *end = most > 0 ? memchr(bytes.p, '\n', most) : NULL;
    if (!end) return refuse(err, "not a state");
    struct str line = {bytes.p, (size_t)(end - bytes.p)};
    struct str body = {end + 1, bytes.n - line.n - 1};
    if (!read_line(line, body, out, err)) return false;
    return is_content(out->body) || refuse(err, "its content is damaged");
}

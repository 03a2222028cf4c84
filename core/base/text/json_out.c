/* JSON, field by field; see json_out.h. */
#include "base/text/json_out.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/civil.h"
#include "base/mem.h"

static void begin(struct buf *out, const char *key)
{
    char last = out->len ? out->data[out->len - 1] : '{';
    if (last != '{' && last != '[' && last != '\n') buf_putc(out, ',');
    if (!key) return;
    buf_json_string(out, str_of(key));
    buf_putc(out, ':');
}

void json_open(struct buf *out, const char *key, char bracket)
{
    if (out->len) begin(out, key);
    buf_putc(out, bracket);
}

void json_close(struct buf *out, char bracket)
{
    buf_putc(out, bracket);
}

void json_text(struct buf *out, const char *key, const char *value)
{
    json_str(out, key, value ? str_of(value) : STR(""));
}

void json_str(struct buf *out, const char *key, struct str value)
{
    begin(out, key);
    buf_json_string(out, value);
}

void json_str_unless_empty(struct buf *out, const char *key, struct str value)
{
    if (value.n) json_str(out, key, value);
}

void json_int(struct buf *out, const char *key, int64_t value)
{
    begin(out, key);
    buf_printf(out, "%" PRId64, value);
}

void json_number(struct buf *out, const char *key, double value)
{
    begin(out, key);
    if (isfinite(value))
        buf_printf(out, "%.9g", value);
    else
        buf_puts(out, "null");
}

void json_bool(struct buf *out, const char *key, bool value)
{
    begin(out, key);
    buf_puts(out, value ? "true" : "false");
}

void json_time(struct buf *out, const char *key, int64_t wall_us)
{
    char text[64];
    if (wall_us == 0) return;
    struct civil at = civil_at(floor_div(wall_us, 1000000));
    snprintf(text, sizeof text, "%04lld-%02d-%02dT%02d:%02d:%02dZ", (long long)at.year, at.month, at.day,
             at.hour, at.minute, at.second);
    json_text(out, key, text);
}

/* --- JSON text as YAML; see json_yaml.h. Nothing is parsed into a tree: each token is written as it is read
 */

/* Deeper ones are left out: objects of Kubernetes may not be that deep. */
enum { DEPTH_MAX = 1000, REPLACEMENT = 0xfffd };

struct reader {
    const char *p, *end;
    struct buf *out;
};

static char peek(struct reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r')) r->p++;
    return r->p < r->end ? *r->p : '\0';
}

static bool take(struct reader *r, char c)
{
    if (peek(r) != c) return false;
    r->p++;
    return true;
}

/* --- texts */

static void put_code_point(struct buf *out, uint32_t c)
{
    bool printable = (c >= 0xa0 && c < 0xd800) || (c >= 0xe000 && c <= REPLACEMENT && c != 0xfeff) ||
                     (c >= 0x10000 && c < 0x110000) || (c >= ' ' && c < 0x7f);
    if (c >= 0xd800 && c < 0xe000) {
        c = REPLACEMENT;
    } else if (!printable || c == 0x2028 || c == 0x2029) {
        buf_printf(out, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
        return;
    }
    if (c < 0x80) {
        if (c == '"' || c == '\\') buf_putc(out, '\\');
        buf_putc(out, (char)c);
    } else if (c < 0x800) {
        buf_putc(out, (char)(0xc0 | c >> 6));
    } else if (c < 0x10000) {
        buf_putc(out, (char)(0xe0 | c >> 12));
        buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
    } else {
        buf_putc(out, (char)(0xf0 | c >> 18));
        buf_putc(out, (char)(0x80 | (c >> 12 & 0x3f)));
        buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
    }
    if (c >= 0x80) buf_putc(out, (char)(0x80 | (c & 0x3f)));
}

static uint32_t read_hex(struct reader *r)
{
    uint32_t value = 0;
    for (int i = 0; i < 4 && r->p < r->end && isxdigit((unsigned char)*r->p); i++, r->p++)
        value =
            value << 4 | (uint32_t)(isdigit((unsigned char)*r->p) ? *r->p - '0' : (*r->p | 0x20) - 'a' + 10);
    return value;
}

/* Behind the "\u". Two halves are one character. */
static uint32_t read_escaped(struct reader *r)
{
    uint32_t high = read_hex(r);
    if (high < 0xd800 || high >= 0xdc00 || r->end - r->p < 2 || r->p[0] != '\\' || r->p[1] != 'u')
        return high;
    const char *before = r->p;
    r->p += 2;
    uint32_t low = read_hex(r);
    if (low >= 0xdc00 && low < 0xe000) return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    r->p = before;
    return high;
}

static void put_escape(struct reader *r)
{
    char c = *r->p++;
    if (c == 'u')
        put_code_point(r->out, read_escaped(r));
    else if (c == '/')
        buf_putc(r->out, '/');
    else if (strchr("bfnrt\"\\", c))
        buf_printf(r->out, "\\%c", c);
}

/* JSON's quotes are YAML's too; but YAML has fewer characters that may stand for themselves, and no halves of
 * one. */
static void put_text(struct reader *r)
{
    r->p++;
    buf_putc(r->out, '"');
    while (r->p < r->end && *r->p != '"') {
        if (*r->p == '\\' && r->end - r->p > 1) {
            r->p++;
            put_escape(r);
            continue;
        }
        size_t n;
        put_code_point(r->out, str_code_point((struct str){r->p, (size_t)(r->end - r->p)}, &n));
        r->p += n;
    }
    if (r->p < r->end) r->p++;
    buf_putc(r->out, '"');
}

/* What YAML 1.1 takes for something else than a text. */
static bool is_word(struct str key)
{
    static const char *const words[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (key.n == strlen(words[i]) && strncasecmp(key.p, words[i], key.n) == 0) return true;
    return false;
}

static bool is_plain(struct str key)
{
    if (key.n == 0 || !isalpha((unsigned char)key.p[0]) || is_word(key)) return false;
    for (size_t i = 0; i < key.n; i++)
        if (!isalnum((unsigned char)key.p[i]) && (!key.p[i] || !strchr("_-./", key.p[i]))) return false;
    return true;
}

static void put_key(struct reader *r)
{
    const char *close = memchr(r->p + 1, '"', (size_t)(r->end - r->p - 1));
    struct str key = {r->p + 1, close ? (size_t)(close - r->p - 1) : 0};
    if (!is_plain(key)) {
        put_text(r);
        return;
    }
    buf_str(r->out, key);
    r->p = close + 1;
}

/* --- values */

static void put_container(struct reader *r, size_t depth, bool in_line);

static void put_scalar(struct reader *r)
{
    const char *first = r->p;
    if (peek(r) == '"') {
        put_text(r);
        return;
    }
    while (r->p < r->end && (isalnum((unsigned char)*r->p) || strchr("+-.", *r->p))) r->p++;
    buf_append(r->out, first, (size_t)(r->p - first));
}

/* What stands behind "key:" or "-". */
static void put_value(struct reader *r, size_t depth, bool in_list)
{
    char open = peek(r);
    if (open != '{' && open != '[') {
        buf_putc(r->out, ' ');
        put_scalar(r);
        buf_putc(r->out, '\n');
        return;
    }
    struct reader ahead = *r;
    ahead.p++;
    if (peek(&ahead) == open + 2) {
        buf_puts(r->out, open == '{' ? " {}\n" : " []\n");
        r->p = ahead.p + 1;
        return;
    }
    buf_putc(r->out, in_list ? ' ' : '\n');
    put_container(r, depth, in_list);
}

static void put_container(struct reader *r, size_t depth, bool in_line)
{
    bool map = *r->p++ == '{';
    if (depth > DEPTH_MAX) r->p = r->end;
    do {
        char next = peek(r);
        if (map ? next != '"' : !next) return;
        if (!in_line) buf_printf(r->out, "%*s", (int)(2 * depth), "");
        in_line = false;
        if (map) put_key(r);
        buf_putc(r->out, map ? ':' : '-');
        if (map) take(r, ':');
        bool list_below = map && peek(r) == '[';
        put_value(r, list_below ? depth : depth + 1, !map);
    } while (take(r, ','));
    take(r, map ? '}' : ']');
}

void json_yaml(struct buf *out, struct str json, size_t depth, bool in_line)
{
    struct reader r = {json.p, json.p + json.n, out};
    struct reader ahead = r;
    char open = peek(&r);
    bool empty = (open == '{' || open == '[') && (ahead.p = r.p + 1, peek(&ahead) == open + 2);
    if ((open == '{' || open == '[') && !empty) {
        put_container(&r, depth, in_line);
        return;
    }
    if (!in_line) buf_printf(out, "%*s", (int)(2 * depth), "");
    if (empty)
        buf_puts(out, open == '{' ? "{}" : "[]");
    else
        put_scalar(&r);
    buf_putc(out, '\n');
}

void json_yaml_field(struct buf *out, const char *key, struct str json, size_t depth)
{
    struct reader r = {json.p, json.p + json.n, out};
    buf_printf(out, "%*s%s:", (int)(2 * depth), "", key);
    put_value(&r, peek(&r) == '[' ? depth : depth + 1, false);
}

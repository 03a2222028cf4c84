/* JSON text as YAML; see json_out.h. Nothing is parsed into a tree: each token is written as it is read. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text/json_out.h"

/* Deeper ones are left out: objects of Kubernetes may not be that deep. */
enum { DEPTH_MAX = 1000, REPLACEMENT = 0xfffd };
enum { KEY_MAX = 1000 /* longer keys need a mark: YAML searches no further for the colon */ };

struct yaml_reader {
    const char *p, *end;
    struct buf *out;
    bool bare; /* strings without quotes where possible */
};

static char peek(struct yaml_reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r')) r->p++;
    return r->p < r->end ? *r->p : '\0';
}

static bool take(struct yaml_reader *r, char c)
{
    if (peek(r) != c) return false;
    r->p++;
    return true;
}

/* --- texts */

static bool is_printable(uint32_t c)
{
    return (c >= ' ' && c < 0x7f) || (c >= 0xa0 && c < 0xd800 && c != 0x2028 && c != 0x2029) ||
           (c >= 0xe000 && c <= REPLACEMENT && c != 0xfeff) || (c >= 0x10000 && c < 0x110000);
}

static void put_utf8(struct buf *out, uint32_t c)
{
    if (c < 0x80) {
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

static const char named[] = "\b\f\n\r\t\"\\", names[] = "bfnrt\"\\";

static void put_quoted(struct buf *out, uint32_t c)
{
    const char *found = c && c < 0x80 ? strchr(named, (int)c) : NULL;
    if (found)
        buf_printf(out, "\\%c", names[found - named]);
    else if (c >= 0xd800 && c < 0xe000)
        put_utf8(out, REPLACEMENT);
    else if (is_printable(c))
        put_utf8(out, c);
    else
        buf_printf(out, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
}

static uint32_t read_hex(struct yaml_reader *r)
{
    uint32_t value = 0;
    for (int i = 0; i < 4 && r->p < r->end && isxdigit((unsigned char)*r->p); i++, r->p++)
        value =
            value << 4 | (uint32_t)(isdigit((unsigned char)*r->p) ? *r->p - '0' : (*r->p | 0x20) - 'a' + 10);
    return value;
}

/* Behind the "\u". Two halves are one character. */
static uint32_t read_escaped(struct yaml_reader *r)
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

/* Reads a character of a string, which may be an escape. */
static uint32_t take_char(struct yaml_reader *r)
{
    size_t n;
    if (*r->p == '\\' && r->end - r->p > 1) {
        char c = r->p[1];
        const char *name = c ? strchr(names, c) : NULL;
        r->p += 2;
        return c == 'u' ? read_escaped(r) : name ? (uint32_t)named[name - names] : (unsigned char)c;
    }
    uint32_t c = str_code_point((struct str){r->p, (size_t)(r->end - r->p)}, &n);
    r->p += n;
    return c;
}

/* JSON's quotes are YAML's too; but YAML has fewer characters that may stand for themselves, and no halves of
 * one. */
static void put_text(struct yaml_reader *r)
{
    r->p++;
    buf_putc(r->out, '"');
    while (r->p < r->end && *r->p != '"') put_quoted(r->out, take_char(r));
    if (r->p < r->end) r->p++;
    buf_putc(r->out, '"');
}

/* Several lines, which may stand for themselves below a mark: the first one tells how far they are indented.
 */
static bool is_block(struct yaml_reader r)
{
    const char *first = ++r.p;
    bool lines = false;
    while (r.p < r.end && *r.p != '"') {
        bool at_first = r.p == first;
        uint32_t c = take_char(&r);
        if (at_first ? c <= ' ' : c != '\t' && c != '\n' && c < ' ') return false;
        if (c >= ' ' && !is_printable(c)) return false;
        lines = lines || c == '\n';
    }
    return lines;
}

/* Writes a block. The mark defines the line ends after the last line; the caller writes the last one. */
static void put_block(struct yaml_reader *r, size_t depth)
{
    struct buf *out = r->out, text = {0};
    r->p++;
    while (r->p < r->end && *r->p != '"') put_utf8(&text, take_char(r));
    if (r->p < r->end) r->p++;
    struct str rest = buf_slice(&text), line;
    bool ends = str_ends(rest, STR("\n"));
    buf_puts(out, !ends ? "|-" : str_ends(rest, STR("\n\n")) ? "|+" : "|");
    if (ends) rest.n--;
    while (str_cut(&rest, '\n', &line)) {
        buf_putc(out, '\n');
        if (line.n) buf_printf(out, "%*s%.*s", (int)(2 * depth), "", STR_ARG(line));
    }
    buf_clear(&text);
}

/* Returns whether YAML 1.1 reads the word as something else than a string. */
static bool is_word(struct str key)
{
    static const char *const words[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (key.n == strlen(words[i]) && strncasecmp(key.p, words[i], key.n) == 0) return true;
    return false;
}

/* Nothing else than a text; `bare`: one that may be a sentence, an image or a URL. */
static bool is_plain(struct str text, bool bare)
{
    if (text.n == 0 || !isalpha((unsigned char)text.p[0]) || is_word(text)) return false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i], next = i + 1 < text.n ? text.p[i + 1] : ' ';
        bool inside = bare && (c == ':' || c == ' ') && (isalnum((unsigned char)next) || next == '/');
        if (!isalnum((unsigned char)c) && (!c || !strchr("_-./", c)) && !inside) return false;
    }
    return true;
}

/* A key, or with `bare` any text. */
static void put_short_text(struct yaml_reader *r)
{
    const char *close = memchr(r->p + 1, '"', (size_t)(r->end - r->p - 1));
    struct str text = {r->p + 1, close ? (size_t)(close - r->p - 1) : 0};
    if (!is_plain(text, r->bare)) {
        put_text(r);
        return;
    }
    buf_str(r->out, text);
    r->p = close + 1;
}

static void put_key(struct yaml_reader *r, size_t depth)
{
    size_t from = r->out->len;
    put_short_text(r);
    if (r->out->len - from <= KEY_MAX) return;
    buf_puts(r->out, "  ");
    memmove(r->out->data + from + 2, r->out->data + from, r->out->len - from - 2);
    memcpy(r->out->data + from, "? ", 2);
    buf_printf(r->out, "\n%*s", (int)(2 * depth), "");
}

/* --- values */

static void put_container(struct yaml_reader *r, size_t depth, bool in_line);

/* `depth`: of lines of a text below it. */
static void put_scalar(struct yaml_reader *r, size_t depth)
{
    const char *first = r->p;
    if (peek(r) == '"') {
        if (r->bare && is_block(*r))
            put_block(r, depth);
        else if (r->bare)
            put_short_text(r);
        else
            put_text(r);
        return;
    }
    while (r->p < r->end && (isalnum((unsigned char)*r->p) || strchr("+-.", *r->p))) r->p++;
    buf_append(r->out, first, (size_t)(r->p - first));
}

/* Writes the value behind "key:" or "-". */
static void put_value(struct yaml_reader *r, size_t depth, bool in_list)
{
    char open = peek(r);
    if (open != '{' && open != '[') {
        buf_putc(r->out, ' ');
        put_scalar(r, depth);
        buf_putc(r->out, '\n');
        return;
    }
    struct yaml_reader ahead = *r;
    ahead.p++;
    if (peek(&ahead) == open + 2) {
        buf_puts(r->out, open == '{' ? " {}\n" : " []\n");
        r->p = ahead.p + 1;
        return;
    }
    buf_putc(r->out, in_list ? ' ' : '\n');
    put_container(r, depth, in_list);
}

static void put_container(struct yaml_reader *r, size_t depth, bool in_line)
{
    bool map = *r->p++ == '{';
    if (depth > DEPTH_MAX) r->p = r->end;
    do {
        char next = peek(r);
        if (map ? next != '"' : !next) return;
        if (!in_line) buf_printf(r->out, "%*s", (int)(2 * depth), "");
        in_line = false;
        if (map) put_key(r, depth);
        buf_putc(r->out, map ? ':' : '-');
        if (map) take(r, ':');
        bool list_below = map && peek(r) == '[';
        put_value(r, list_below ? depth : depth + 1, !map);
    } while (take(r, ','));
    take(r, map ? '}' : ']');
}

static void put_whole(struct yaml_reader r, size_t depth, bool in_line)
{
    char open = peek(&r);
    struct yaml_reader ahead = r;
    bool is_container = open == '{' || open == '[';
    bool empty = is_container && (ahead.p++, peek(&ahead) == open + 2);
    if (is_container && !empty) {
        put_container(&r, depth, in_line);
        return;
    }
    if (!in_line) buf_printf(r.out, "%*s", (int)(2 * depth), "");
    if (empty)
        buf_puts(r.out, open == '{' ? "{}" : "[]");
    else
        put_scalar(&r, depth + 1);
    buf_putc(r.out, '\n');
}

void json_yaml(struct buf *out, struct str json, size_t depth, bool in_line)
{
    put_whole((struct yaml_reader){json.p, json.p + json.n, out, false}, depth, in_line);
}

void json_yaml_bare(struct buf *out, struct str json)
{
    put_whole((struct yaml_reader){json.p, json.p + json.n, out, true}, 0, false);
}

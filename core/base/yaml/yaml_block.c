/* Block form of YAML as JSON; see yaml_block.h. Every function returns false for what is not of this form. */
#include "base/yaml/yaml_block.h"

#include <ctype.h>
#include <string.h>

#include "base/yaml/yaml_anchors.h"
#include "base/yaml/yaml_value.h"

enum { DEPTH_MAX = YAML_DEPTH_MAX - 2, KEY_MAX = 1000, NO_INDENT = -1 };

/* The current line: its content without indent and spaces at its end. */
struct block_reader {
    const struct yaml_source *source;
    struct buf *out;
    const char *at, *end;     /* of the content; `at` moves with what was read */
    const char *next, *limit; /* the next line, and the end of the text */
    int indent;               /* NO_INDENT: the document ends here */
    bool has_tabs;
    struct yaml_keys keys;
    struct buf text; /* of a scalar with escapes */
};

static bool read_block(struct block_reader *r, int depth);

/* --- lines */

/* Whether libyaml takes all characters, and knows no breaks but newlines among them. */
static bool is_clean(struct str text, bool *has_tabs)
{
    unsigned control = 0, tabs = 0, wide = 0;
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        control |= (c < ' ' && c != '\n' && c != '\t') | (c == 0x7f);
        tabs |= c == '\t';
        wide |= c & 0x80U;
    }
    *has_tabs = tabs;
    for (size_t i = 0; wide && i < text.n;) {
        unsigned char c = (unsigned char)text.p[i];
        size_t n = c & 0x80U ? str_utf8((struct str){text.p + i, text.n - i}) : 1;
        /* among them: other breaks, and what is not printable */
        if (!n || c == 0xc2 || c == 0xe2 || c == 0xef || c >= 0xf4) return false;
        i += n;
    }
    return !control && text.n > 0 && text.p[text.n - 1] == '\n';
}

/* Goes to the next line with content. */
static bool next_line(struct block_reader *r)
{
    while (r->next < r->limit) {
        const char *line = r->next, *end = memchr(line, '\n', (size_t)(r->limit - line)), *at = line;
        if (r->source->stops && r->source->stops(r->source->ctx)) return false;
        if (r->has_tabs && memchr(line, '\t', (size_t)(end - line))) return false;
        r->next = end + 1;
        while (*at == ' ') at++;
        if (*at == '\n' || *at == '#') continue;
        while (end[-1] == ' ') end--;
        r->at = at;
        r->end = end;
        r->indent = (int)(at - line);
        bool ends = r->indent == 0 && end - at >= 3 && (!memcmp(at, "---", 3) || !memcmp(at, "...", 3));
        if (ends) r->indent = NO_INDENT;
        return !ends || (end - at == 3 && *at == '-');
    }
    r->at = r->end = r->limit;
    r->indent = NO_INDENT;
    return true;
}

static bool is_element(const struct block_reader *r)
{
    return *r->at == '-' && (r->at + 1 == r->end || r->at[1] == ' ');
}

static void skip_spaces(struct block_reader *r)
{
    while (r->at < r->end && *r->at == ' ') r->at++;
}

/* --- scalars */

/* Reads what is in quotes, and moves behind it. */
static bool read_quoted(struct block_reader *r, struct str *text)
{
    static const char escapes[] = "\"\"\\\\n\nt\tr\r//"; /* pairs */
    char quote = *r->at++;
    const char *from = r->at;
    r->text.len = 0;
    while (r->at < r->end &&
           (*r->at != quote || (quote == '\'' && r->at + 1 < r->end && r->at[1] == quote))) {
        char c = *r->at;
        if (c == quote || (c == '\\' && quote == '"')) {
            const char *pair = escapes;
            buf_append(&r->text, from, (size_t)(r->at - from));
            if (++r->at == r->end) return false;
            while (c == '\\' && *pair && *pair != *r->at) pair += 2;
            if (c == '\\' && !*pair) return false;
            buf_putc(&r->text, c == '\\' ? pair[1] : c);
            from = r->at + 1;
        }
        r->at++;
    }
    if (r->at >= r->end) return false;
    *text = (struct str){from, (size_t)(r->at - from)};
    if (r->text.len) {
        buf_str(&r->text, *text);
        *text = buf_slice(&r->text);
    }
    r->at++;
    return true;
}

static bool begins_plain(const char *at, const char *end)
{
    unsigned char c = (unsigned char)*at;
    return isalnum(c) || (c & 0x80U) || strchr("_./$(+~=^;\\", c) ||
           (c == '-' && at + 1 < end && at[1] != ' ');
}

/* Returns the end of a plain scalar, which ends with its line or before a colon; NULL where a comment begins.
 */
static const char *plain_end(const struct block_reader *r)
{
    const char *p = r->at;
    if (!begins_plain(p, r->end)) return NULL;
    for (; p < r->end; p++) {
        if (*p == ':' && (p + 1 == r->end || p[1] == ' ')) return p;
        if (*p == '#' && p[-1] == ' ') return NULL;
    }
    return p;
}

/* Reads the content of a literal block, whose first line says how far it is indented. */
static bool read_literal(struct block_reader *r, int around)
{
    bool strips = r->end - r->at == 2 && r->at[1] == '-';
    size_t indent = 0, breaks = 0;
    if (!strips && r->end - r->at != 1) return false;
    r->text.len = 0;
    for (; r->next < r->limit;) {
        const char *end = memchr(r->next, '\n', (size_t)(r->limit - r->next));
        size_t length = (size_t)(end - r->next), spaces = 0;
        while (spaces < length && r->next[spaces] == ' ') spaces++;
        bool blank = spaces == length;
        if (!indent) indent = spaces;
        if (r->text.len == 0 && breaks == 0 && (blank || (int)indent <= around)) return false;
        if (!blank && (spaces < indent || !breaks) && r->next[spaces] == '\t') return false;
        if (!blank && spaces < indent) break;
        if (!blank || spaces > indent) {
            for (; breaks; breaks--) buf_putc(&r->text, '\n');
            buf_append(&r->text, r->next + indent, length - indent);
        }
        breaks++;
        r->next = end + 1;
    }
    if (!indent) return false;
    if (!strips) buf_putc(&r->text, '\n');
    buf_json_string(r->out, buf_slice(&r->text));
    return true;
}

/* Reads the value on the rest of the line, in a map or list that is indented so far. */
static bool read_inline(struct block_reader *r, int around)
{
    struct str text = {r->at, (size_t)(r->end - r->at)};
    if (*r->at == '"' || *r->at == '\'') {
        if (!read_quoted(r, &text) || r->at != r->end) return false;
        buf_json_string(r->out, text);
    } else if (str_is(text, "{}") || str_is(text, "[]")) {
        buf_str(r->out, text);
    } else if (*r->at == '|') {
        if (!read_literal(r, around)) return false;
    } else {
        if (plain_end(r) != r->end) return false;
        yaml_put_plain(r->out, text, true);
    }
    return next_line(r);
}

/* --- maps and lists */

/* Appends a key with its colon, and moves behind it. */
static bool read_key(struct block_reader *r, int depth)
{
    size_t from = r->out->len;
    struct str text = {r->at, 0};
    if (*r->at == '"' || *r->at == '\'') {
        const char *begin = r->at;
        if (!read_quoted(r, &text) || r->at - begin > KEY_MAX) return false;
    } else {
        const char *end = plain_end(r);
        if (!end || end - r->at > KEY_MAX) return false;
        r->at = end;
        while (end > text.p && end[-1] == ' ') end--;
        text.n = (size_t)(end - text.p);
    }
    if (r->at == r->end || *r->at != ':' || (r->at + 1 < r->end && r->at[1] != ' ')) return false;
    r->at++;
    buf_json_string(r->out, text);
    if (!yaml_keys_add(&r->keys, depth, (struct str){r->out->data + from, r->out->len - from})) return false;
    buf_putc(r->out, ':');
    skip_spaces(r);
    return true;
}

static bool read_list(struct block_reader *r, int indent, int depth);

/* Reads the value of a key. A list in a map may be indented like its key. */
static bool read_member(struct block_reader *r, int indent, int depth)
{
    if (r->at < r->end) return read_inline(r, indent);
    if (!next_line(r)) return false;
    if (r->indent > indent) return read_block(r, depth + 1);
    if (r->indent == indent && is_element(r)) return read_list(r, indent, depth + 1);
    buf_puts(r->out, "null");
    return true;
}

static bool read_map(struct block_reader *r, int indent, int depth)
{
    buf_putc(r->out, '{');
    for (bool first = true; r->indent == indent && !is_element(r); first = false) {
        if (!first) buf_putc(r->out, ',');
        if (!read_key(r, depth) || !read_member(r, indent, depth)) return false;
        yaml_keys_close(&r->keys, depth + 1);
    }
    buf_putc(r->out, '}');
    return r->indent <= indent;
}

/* Whether a key is on the line. */
static bool has_key(struct block_reader *r)
{
    struct str text;
    const char *at = r->at;
    bool is_quoted = *at == '"' || *at == '\'';
    if (!is_quoted) at = plain_end(r);
    if (!is_quoted) return at && at < r->end;
    bool is_key = read_quoted(r, &text) && r->at < r->end && *r->at == ':';
    r->at = at;
    return is_key;
}

static bool read_element(struct block_reader *r, int indent, int depth)
{
    const char *mark = r->at++;
    skip_spaces(r);
    if (r->at < r->end) {
        int column = indent + (int)(r->at - mark);
        if (!is_element(r) && !has_key(r)) return read_inline(r, indent);
        r->indent = column; /* a map or a list begins on the line */
        return read_block(r, depth + 1);
    }
    if (!next_line(r)) return false;
    if (r->indent > indent) return read_block(r, depth + 1);
    buf_puts(r->out, "null");
    return true;
}

static bool read_list(struct block_reader *r, int indent, int depth)
{
    if (depth >= DEPTH_MAX) return false;
    buf_putc(r->out, '[');
    for (bool first = true; r->indent == indent && is_element(r); first = false) {
        if (!first) buf_putc(r->out, ',');
        if (!read_element(r, indent, depth)) return false;
        yaml_keys_close(&r->keys, depth + 1);
    }
    buf_putc(r->out, ']');
    return r->indent <= indent;
}

/* Reads the map or list that begins with the current line. */
static bool read_block(struct block_reader *r, int depth)
{
    if (depth >= DEPTH_MAX || r->out->len > r->source->max) return false;
    return is_element(r) ? read_list(r, r->indent, depth) : read_map(r, r->indent, depth);
}

static bool read_documents(struct block_reader *r)
{
    bool first = true;
    if (!next_line(r)) return false;
    for (;;) {
        while (r->at < r->limit && r->indent == NO_INDENT)
            if (!next_line(r)) return false;
        if (r->at == r->limit) return true;
        if (!first && r->source->alone) return false;
        if (!first) buf_putc(r->out, ',');
        first = false;
        if (r->indent != 0 || !read_block(r, 0) || r->indent != NO_INDENT) return false;
        yaml_keys_close(&r->keys, 0);
    }
}

bool yaml_block_read(const struct yaml_source *source, struct buf *out)
{
    struct str text = source->text;
    size_t from = out->len;
    struct block_reader r = {.source = source, .out = out, .next = text.p, .limit = text.p + text.n};
    bool ok = is_clean(text, &r.has_tabs) && read_documents(&r) && out->len <= source->max;
    if (!ok) out->len = from;
    yaml_keys_clear(&r.keys);
    buf_clear(&r.text);
    return ok;
}

/* Duplicate fields of JSON text; see duplicates.h. */
#include "sim/validate/duplicates.h"

#include <string.h>

#include "base/buf.h"
#include "sim/text/tree.h"

struct scan {
    const char *at, *end, *begin; /* the last NULL: no lines are told */
    struct buf path;
    json_t *found;
};

static void scan_value(struct scan *s);

static void skip_blanks(struct scan *s)
{
    while (s->at < s->end && strchr(" \t\r\n", *s->at)) s->at++;
}

static bool take(struct scan *s, char c)
{
    skip_blanks(s);
    if (s->at >= s->end || *s->at != c) return false;
    s->at++;
    return true;
}

/* Returns the text between the quotes, with its escapes. */
static struct str scan_string(struct scan *s)
{
    take(s, '"');
    const char *begin = s->at;
    while (s->at < s->end && *s->at != '"') s->at += *s->at == '\\' ? 2 : 1;
    struct str text = {begin, (size_t)(s->at - begin)};
    s->at++;
    return text;
}

/* Tells of a field once, as Go does. */
static void tell(struct scan *s, struct str key)
{
    struct buf text = {0};
    size_t line = 1;
    for (const char *p = s->begin; p && p < key.p; p++) line += *p == '\n';
    if (s->begin) buf_printf(&text, "line %zu: key ", line);
    if (!s->begin) buf_puts(&text, "duplicate field ");
    buf_json_string(&text, s->begin ? key : buf_slice(&s->path));
    if (s->begin) buf_puts(&text, " already set in map");
    if (!sim_has_text(s->found, buf_text(&text)))
        json_array_append_new(s->found, sim_string(buf_text(&text)));
    buf_clear(&text);
}

static void scan_object(struct scan *s)
{
    json_t *seen = json_object();
    size_t above = s->path.len;
    while (!take(s, '}') && s->at < s->end) {
        take(s, ',');
        struct str key = scan_string(s);
        if (above) buf_putc(&s->path, '.');
        buf_str(&s->path, key);
        if (json_object_getn(seen, key.p, key.n)) tell(s, key);
        json_object_setn_new_nocheck(seen, key.p, key.n, json_true());
        take(s, ':');
        scan_value(s);
        s->path.len = above;
    }
    json_decref(seen);
}

static void scan_list(struct scan *s)
{
    size_t above = s->path.len;
    for (size_t i = 0; !take(s, ']') && s->at < s->end; i++) {
        take(s, ',');
        buf_printf(&s->path, "[%zu]", i);
        scan_value(s);
        s->path.len = above;
    }
}

static void scan_value(struct scan *s)
{
    skip_blanks(s);
    if (take(s, '{'))
        scan_object(s);
    else if (take(s, '['))
        scan_list(s);
    else if (s->at < s->end && *s->at == '"')
        scan_string(s);
    else
        while (s->at < s->end && !strchr(",]} \t\r\n", *s->at)) s->at++;
}

json_t *sim_duplicates(struct str text, bool as_yaml)
{
    struct scan s = {text.p, text.p + text.n, as_yaml ? text.p : NULL, {0}, json_array()};
    scan_value(&s);
    buf_clear(&s.path);
    return s.found;
}

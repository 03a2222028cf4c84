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

/* The kind of value that is expected: an object of a type, or several with `holds`. Without a type it may be
 * anything, and with `raw` no Go struct looks into it. */
struct expected {
    const struct schema_type *type;
    bool holds, raw;
};

static void scan_value(struct scan *s, struct expected as);

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
static void tell(struct scan *s, const char *what, struct str key)
{
    struct buf text = {0};
    size_t line = 1;
    for (const char *p = s->begin; p && p < key.p; p++) line += *p == '\n';
    if (s->begin) buf_printf(&text, "line %zu: key ", line);
    bool is_list = s->path.len && *buf_text(&s->path) == '['; /* of operations */
    if (!s->begin) buf_printf(&text, "%s%s field ", is_list ? "json patch " : "", what);
    buf_json_string(&text, s->begin ? key : buf_slice(&s->path));
    if (s->begin) buf_puts(&text, " already set in map");
    if (!sim_has_text(s->found, buf_text(&text)))
        json_array_append_new(s->found, sim_string(buf_text(&text)));
    buf_clear(&text);
}

static struct expected of_field(const struct schema_field *field)
{
    bool raw = !field || field->form == SCHEMA_RAW ||
               (field->form >= SCHEMA_JSON && field->form <= SCHEMA_SCHEMA_OR_STRINGS);
    return (struct expected){raw ? NULL : schema_type_of_field(field), !raw && field->holder != SCHEMA_ONE,
                             raw};
}

static void scan_object(struct scan *s, struct expected as)
{
    json_t *seen = json_object();
    size_t above = s->path.len;
    bool is_struct = as.type && !as.holds;
    as.holds = false;
    while (!take(s, '}') && s->at < s->end) {
        take(s, ',');
        struct str key = scan_string(s);
        const struct schema_field *field = is_struct ? schema_field_named(as.type, key) : NULL;
        if (above) buf_putc(&s->path, '.');
        buf_str(&s->path, key);
        if (is_struct && !field)
            tell(s, "unknown", key);
        else if (!as.raw && json_object_getn(seen, key.p, key.n))
            tell(s, "duplicate", key);
        json_object_setn_new_nocheck(seen, key.p, key.n, json_true());
        take(s, ':');
        scan_value(s, is_struct ? of_field(field) : as);
        s->path.len = above;
    }
    json_decref(seen);
}

static void scan_list(struct scan *s, struct expected as)
{
    size_t above = s->path.len;
    as.holds = false;
    for (size_t i = 0; !take(s, ']') && s->at < s->end; i++) {
        take(s, ',');
        buf_printf(&s->path, "[%zu]", i);
        scan_value(s, as);
        s->path.len = above;
    }
}

static void scan_value(struct scan *s, struct expected as)
{
    skip_blanks(s);
    if (take(s, '{'))
        scan_object(s, as);
    else if (take(s, '['))
        scan_list(s, as);
    else if (s->at < s->end && *s->at == '"')
        scan_string(s);
    else
        while (s->at < s->end && !strchr(",]} \t\r\n", *s->at)) s->at++;
}

json_t *sim_duplicates(struct str text, const struct schema_type *type, bool as_yaml)
{
    struct scan s = {text.p, text.p + text.n, as_yaml ? text.p : NULL, {0}, json_array()};
    scan_value(&s, (struct expected){.type = type});
    buf_clear(&s.path);
    return s.found;
}

/* JSONPath by recursive descent: each step is read and followed at once, and the first value at the end wins.
 */
#include "sim/text/jsonpath.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

enum step_kind { STEP_END, STEP_KEY, STEP_INDEX, STEP_ALL, STEP_DEEP, STEP_FILTER, STEP_BAD };

struct jsonpath_step {
    enum step_kind kind;
    struct buf key;   /* STEP_KEY; of STEP_FILTER the path of the left side */
    long index;       /* STEP_INDEX */
    char compare[3];  /* STEP_FILTER: "==", ..., "" to test whether it exists */
    json_t *value;    /* STEP_FILTER: the right side */
    const char *rest; /* the path behind this step */
};

static void step_clear(struct jsonpath_step *s)
{
    buf_clear(&s->key);
    json_decref(s->value);
}

static const char *skip_blanks(const char *p)
{
    while (*p == ' ') p++;
    return p;
}

static bool bad(struct jsonpath_step *s)
{
    s->kind = STEP_BAD;
    return false;
}

/* Reads 'text' or "text"; `p` is at the quote. Returns the position after it, NULL if it does not end. */
static const char *read_quoted(struct buf *b, const char *p)
{
    char quote = *p++;
    for (; *p && *p != quote; p++) {
        if (*p == '\\' && p[1]) p++;
        buf_putc(b, *p);
    }
    return *p ? p + 1 : NULL;
}

static bool read_key(struct jsonpath_step *s, const char *p)
{
    s->kind = STEP_KEY;
    for (; *p && !strchr(".[", *p); p++) {
        if (*p == '\\' && p[1]) p++;
        buf_putc(&s->key, *p);
    }
    s->rest = p;
    if (s->key.len == 0) return bad(s);
    if (str_is(buf_slice(&s->key), "*")) s->kind = STEP_ALL;
    return true;
}

/* Reads the right side of a comparison: a quoted string, a number, true or false. */
static const char *read_literal(struct jsonpath_step *s, const char *p)
{
    if (*p == '\'' || *p == '"') {
        struct buf b = {0};
        p = read_quoted(&b, p);
        s->value = json_string(buf_text(&b));
        buf_clear(&b);
        return p;
    }
    size_t n = strcspn(p, " )");
    s->value = json_loadb(p, n, JSON_DECODE_ANY, NULL);
    return s->value ? p + n : NULL;
}

/* (@.type=="Ready")], behind the question mark. */
static bool read_filter(struct jsonpath_step *s, const char *p)
{
    s->kind = STEP_FILTER;
    p = skip_blanks(p);
    if (*p++ != '(') return bad(s);
    p = skip_blanks(p);
    if (*p++ != '@') return bad(s);
    size_t n = strcspn(p, "=!<>) ");
    buf_append(&s->key, p, n);
    p = skip_blanks(p + n);
    if (*p != ')') {
        size_t sign = strspn(p, "=!<>");
        if (sign < 1 || sign > 2) return bad(s);
        memcpy(s->compare, p, sign);
        p = read_literal(s, skip_blanks(p + sign));
        if (!p || !s->value) return bad(s);
        p = skip_blanks(p);
    }
    if (p[0] != ')' || *skip_blanks(p + 1) != ']') return bad(s);
    s->rest = skip_blanks(p + 1) + 1;
    return true;
}

/* Behind the opening bracket. */
static bool read_bracket(struct jsonpath_step *s, const char *p)
{
    p = skip_blanks(p);
    if (*p == '?') return read_filter(s, p + 1);
    if (*p == '\'' || *p == '"') {
        s->kind = STEP_KEY;
        p = read_quoted(&s->key, p);
    } else if (*p == '*') {
        s->kind = STEP_ALL;
        p++;
    } else {
        char *end;
        s->kind = STEP_INDEX;
        s->index = strtol(p, &end, 10);
        if (end == p) return bad(s);
        p = end;
    }
    if (!p || *(p = skip_blanks(p)) != ']') return bad(s);
    s->rest = p + 1;
    return true;
}

static bool read_step(struct jsonpath_step *s, const char *path)
{
    *s = (struct jsonpath_step){.kind = STEP_END, .rest = path};
    if (!*path) return true;
    if (*path == '[') return read_bracket(s, path + 1);
    if (path[0] == '.' && path[1] == '.') {
        s->kind = STEP_DEEP;
        s->rest = path[2] == '[' ? path + 2 : path + 1;
        return true;
    }
    if (path[0] == '.' && path[1] == '[') return read_bracket(s, path + 2);
    return read_key(s, path + (*path == '.'));
}

bool sim_jsonpath_valid(const char *path)
{
    struct jsonpath_step s;
    bool more = true;
    while (more) {
        if (!read_step(&s, path)) {
            step_clear(&s);
            return false;
        }
        path = s.rest;
        more = s.kind != STEP_END;
        step_clear(&s);
    }
    return true;
}

static int compare_values(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return (json_number_value(a) > json_number_value(b)) - (json_number_value(a) < json_number_value(b));
    if (json_is_string(a) && json_is_string(b)) return strcmp(json_string_value(a), json_string_value(b));
    return json_equal(a, b) ? 0 : 2; /* not to be ordered */
}

static bool passes(const struct jsonpath_step *s, const json_t *value)
{
    struct buf path = {0};
    buf_append(&path, s->key.data, s->key.len);
    const json_t *left = sim_jsonpath_first(value, buf_text(&path));
    buf_clear(&path);
    if (!left || !*s->compare) return left != NULL;
    int order = compare_values(left, s->value);
    bool ordered = order != 2;
    switch (s->compare[0]) {
    case '=': return order == 0;
    case '!': return order != 0;
    case '<': return ordered && (order < 0 || (s->compare[1] && order == 0));
    default: return ordered && (order > 0 || (s->compare[1] && order == 0));
    }
}

/* Returns the first of a map's or list's values from which `path` leads on, of those that pass. */
static json_t *first_below(const json_t *value, const struct jsonpath_step *s, const char *path)
{
    json_t *found = NULL, *item;
    const char *key;
    size_t i;
    if (json_is_object(value)) {
        json_object_foreach ((json_t *)value, key, item) {
            if (s && !passes(s, item)) continue;
            if ((found = sim_jsonpath_first(item, path))) break;
        }
    } else {
        json_array_foreach (value, i, item) {
            if (s && !passes(s, item)) continue;
            if ((found = sim_jsonpath_first(item, path))) break;
        }
    }
    return found;
}

/* Returns the value itself, or the first one at any depth below it, from which `path` leads on. */
static json_t *first_deep(const json_t *value, const char *path, const char *deep)
{
    json_t *found = sim_jsonpath_first(value, path);
    return found ? found : first_below(value, NULL, deep);
}

json_t *sim_jsonpath_first(const json_t *object, const char *path)
{
    struct jsonpath_step s;
    json_t *found = NULL;
    if (!object) return NULL;
    if (!read_step(&s, path)) {
        step_clear(&s);
        return NULL;
    }
    switch (s.kind) {
    case STEP_END: found = (json_t *)object; break;
    case STEP_KEY: found = sim_jsonpath_first(json_object_get(object, buf_text(&s.key)), s.rest); break;
    case STEP_INDEX: {
        long size = (long)json_array_size(object), at = s.index < 0 ? size + s.index : s.index;
        if (at >= 0) found = sim_jsonpath_first(json_array_get(object, (size_t)at), s.rest);
        break;
    }
    case STEP_ALL: found = first_below(object, NULL, s.rest); break;
    case STEP_FILTER: found = first_below(object, &s, s.rest); break;
    case STEP_DEEP: found = first_deep(object, s.rest, path); break;
    case STEP_BAD: break;
    }
    step_clear(&s);
    return found;
}

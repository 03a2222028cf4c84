/* Paths into jansson values, and their text; see tree.h. */
#include "sim/text/tree.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/widen.h"
#include "sim/text/text.h"

enum { NUMBER_MAX = 40 }; /* bytes of a number */

json_t *sim_at(const json_t *object, const char *path)
{
    json_t *at = (json_t *)object;
    while (at && *path) {
        size_t n = strcspn(path, ".");
        at = json_object_getn(at, path, n);
        path += n + (path[n] == '.');
    }
    return at;
}

const char *sim_text_at(const json_t *object, const char *path)
{
    const char *text = json_string_value(sim_at(object, path));
    return text ? text : "";
}

int64_t sim_int_at(const json_t *object, const char *path, int64_t otherwise)
{
    const json_t *value = sim_at(object, path);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

bool sim_true_at(const json_t *object, const char *path)
{
    return json_is_true(sim_at(object, path));
}

json_t *sim_find(const json_t *list, const char *path, const char *text)
{
    json_t *element;
    size_t i;
    json_array_foreach (list, i, element)
        if (strcmp(sim_text_at(element, path), text) == 0) return element;
    return NULL;
}

bool sim_has_text(const json_t *list, const char *text)
{
    return sim_find(list, "", text) != NULL;
}

bool sim_has_equal(const json_t *list, const json_t *value)
{
    size_t i;
    json_t *one;
    json_array_foreach ((json_t *)list, i, one)
        if (json_equal(one, value)) return true;
    return false;
}

json_t *sim_submap(json_t *object, const char *key)
{
    json_t *map = json_object_get(object, key);
    if (json_is_object(map)) return map;
    map = json_object();
    json_object_set_new(object, key, map);
    return map;
}

void sim_default(json_t *object, const char *key, json_t *value)
{
    const json_t *there = json_object_get(object, key);
    if (there && !json_is_null(there))
        json_decref(value);
    else
        json_object_set_new(object, key, value);
}

json_t *sim_string(const char *text)
{
    json_t *string = json_string(text ? text : "");
    if (string) return string;
    char *copy = xstrdup(text);
    for (char *p = copy; *p; p++)
        if (*p & 0x80) *p = '?';
    string = json_string(copy);
    free(copy);
    return string;
}

json_t *sim_vtextf(const char *format, va_list args)
{
    char *text = xvasprintf(format, args);
    json_t *string = sim_string(text);
    free(text);
    return string;
}

json_t *sim_textf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_t *string = sim_vtextf(format, args);
    va_end(args);
    return string;
}

/* Like Go: each byte that is no UTF-8 is U+FFFD. */
static void put_valid(struct str text, struct buf *out)
{
    while (text.n) {
        size_t n = str_utf8(text), taken = n ? n : 1;
        buf_append(out, n ? text.p : "\xef\xbf\xbd", n ? n : 3);
        text = (struct str){text.p + taken, text.n - taken};
    }
}

/* Returns whether the text begins with an escape as "\\ud83d", the half of a pair, whose second digit is one
 * of `digits`. */
static bool is_half(struct str text, const char *digits)
{
    return text.n >= 6 && text.p[0] == '\\' && text.p[1] == 'u' && (text.p[2] | 0x20) == 'd' && text.p[3] &&
           strchr(digits, text.p[3]) && isxdigit((unsigned char)text.p[4]) &&
           isxdigit((unsigned char)text.p[5]);
}

/* Each half of a pair that stands alone is U+FFFD, too. Returns whether there was one. */
static bool put_paired(struct str text, struct buf *out)
{
    bool found = false;
    while (text.n) {
        bool first = is_half(text, "89abAB"),
             alone = first ? !is_half((struct str){text.p + 6, text.n - 6}, "cdefCDEF")
                           : is_half(text, "cdefCDEF");
        size_t n = alone ? 6 : first ? 12 : text.n > 1 && *text.p == '\\' ? 2 : 1;
        buf_append(out, alone ? "\\ufffd" : text.p, n);
        found |= alone;
        text = (struct str){text.p + n, text.n - n};
    }
    return found;
}

/* Returns whether `out` has the text as Go reads it, if that is other than jansson does. */
static bool put_readable(struct str text, const json_error_t *error, struct buf *out)
{
    enum json_error_code code = json_error_code(error);
    if (code == json_error_invalid_utf8) {
        put_valid(text, out);
        return out->len > text.n;
    }
    return code == json_error_invalid_syntax && strstr(error->text, "invalid Unicode '\\u") &&
           put_paired(text, out);
}

json_t *sim_parse(struct str text, size_t flags, json_error_t *error)
{
    struct buf other = {0};
    json_t *value = json_loadb(text.p ? text.p : "", text.n, flags, error);
    bool whole = !(flags & JSON_DISABLE_EOF_CHECK); /* and no YAML, which is refused then */
    if (!value && whole && put_readable(text, error, &other))
        value = sim_parse(buf_slice(&other), flags, error);
    else if (!value && json_error_code(error) == json_error_numeric_overflow &&
             widen_integers(text, false, &other))
        value = sim_parse(buf_slice(&other), flags, error);
    buf_clear(&other);
    return value;
}

static json_t *read_string(struct str quoted)
{
    if (!memchr(quoted.p, '\\', quoted.n)) return json_stringn_nocheck(quoted.p + 1, quoted.n - 2);
    json_t *string = json_loadb(quoted.p, quoted.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    return string ? string : json_string("");
}

static json_t *read_members(struct sim_reader *in, json_t *object);

static json_t *read_value(struct sim_reader *in)
{
    if (*in->at == '{') return read_members(in, json_object());
    if (*in->at == '[') {
        json_t *list = json_array();
        if (in->at == in->skipped) {
            sim_reader_take(in);
            return list;
        }
        in->at++;
        while (sim_reader_next(in, ']', NULL)) json_array_append_new(list, read_value(in));
        return list;
    }
    struct str value = sim_reader_take(in);
    switch (*value.p) {
    case '"': return read_string(value);
    case 't': return json_true();
    case 'f': return json_false();
    case 'n': return json_null();
    default: break;
    }
    for (size_t i = 0; i < value.n; i++)
        if (strchr(".eE", value.p[i])) return json_real(strtod(value.p, NULL));
    errno = 0;
    long long integer = strtoll(value.p, NULL, 10);
    return errno == ERANGE ? json_real(strtod(value.p, NULL)) : json_integer(integer);
}

/* Adds the members of the object that is read to another one, and returns that. */
static json_t *read_members(struct sim_reader *in, json_t *object)
{
    struct str key;
    in->at++;
    while (sim_reader_next(in, '}', &key)) {
        if (memchr(key.p, '\\', key.n)) {
            json_t *name = read_string((struct str){key.p - 1, key.n + 2});
            json_object_set_new_nocheck(object, json_string_value(name), read_value(in));
            json_decref(name);
        } else
            json_object_setn_new_nocheck(object, key.p, key.n, read_value(in));
    }
    return object;
}

json_t *sim_read_stored(struct str text, const char *skipped, json_t *object)
{
    struct sim_reader in = {text.p, text.p + text.n, false, skipped};
    return read_members(&in, object);
}

/* As Go writes them: with the fewest digits that read back the same, and without an exponent from 1e-6 to
 * 1e21. */
static void put_real(struct buf *out, double value)
{
    char text[NUMBER_MAX];
    int digits = 0; /* behind the first one */
    do snprintf(text, sizeof text, "%.*e", digits, value);
    while (strtod(text, NULL) != value && digits++ < DBL_DECIMAL_DIG);
    char *end = strchr(text, 'e');
    long exponent = strtol(end + 1, NULL, 10);
    if (value != 0 && (exponent < -6 || exponent > 20))
        buf_printf(out, "%.*se%+ld", (int)(end - text), text, exponent);
    else if (exponent <= digits)
        buf_printf(out, "%.*f", digits - (int)exponent, value);
    else {
        for (const char *at = text; at < end; at++)
            if (*at != '.') buf_putc(out, *at);
        buf_printf(out, "%0*d", (int)exponent - digits, 0);
    }
}

void sim_put_json(struct buf *out, const json_t *value)
{
    const char *key;
    json_t *inner;
    size_t i;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        buf_putc(out, '{');
        json_object_foreach ((json_t *)value, key, inner) {
            if (out->data[out->len - 1] != '{') buf_putc(out, ',');
            buf_json_string(out, str_of(key));
            buf_putc(out, ':');
            sim_put_json(out, inner);
        }
        buf_putc(out, '}');
        return;
    case JSON_ARRAY:
        buf_putc(out, '[');
        json_array_foreach (value, i, inner) {
            if (i) buf_putc(out, ',');
            sim_put_json(out, inner);
        }
        buf_putc(out, ']');
        return;
    case JSON_STRING:
        buf_json_string(out, (struct str){json_string_value(value), json_string_length(value)});
        return;
    case JSON_REAL: put_real(out, json_real_value(value)); return;
    default: out->len += json_dumpb(value, buf_reserve(out, NUMBER_MAX), NUMBER_MAX, JSON_ENCODE_ANY);
    }
}

int sim_compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_go_map(struct buf *out, const json_t *map)
{
    const char **keys = xcalloc(json_object_size(map) + 1, sizeof *keys), *key;
    json_t *value;
    size_t n = 0;
    json_object_foreach ((json_t *)map, key, value) keys[n++] = key;
    qsort(keys, n, sizeof *keys, sim_compare_texts);
    buf_puts(out, "map[");
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "%s%s:", i ? " " : "", keys[i]);
        sim_put_go_value(out, json_object_get(map, keys[i]));
    }
    buf_putc(out, ']');
    free(keys);
}

void sim_put_go_value(struct buf *out, const json_t *value)
{
    json_t *below;
    size_t i = 0;
    if (json_is_object(value)) {
        put_go_map(out, value);
    } else if (json_is_array(value)) {
        buf_putc(out, '[');
        json_array_foreach ((json_t *)value, i, below) {
            if (i) buf_putc(out, ' ');
            sim_put_go_value(out, below);
        }
        buf_putc(out, ']');
    } else if (json_is_string(value))
        buf_puts(out, json_string_value(value));
    else if (json_is_null(value))
        buf_puts(out, "<nil>");
    else
        sim_put_json(out, value);
}

const char *sim_go_type(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING: return "string";
    case JSON_TRUE:
    case JSON_FALSE: return "bool";
    case JSON_INTEGER: return "int64";
    case JSON_REAL: return "float64";
    case JSON_ARRAY: return "[]interface {}";
    default: return "map[string]interface {}";
    }
}

char *sim_lower(const char *text)
{
    char *copy = xstrdup(text);
    for (char *p = copy; *p; p++) *p = (char)tolower((unsigned char)*p);
    return copy;
}

void sim_set_at(json_t *object, const char *path, json_t *value)
{
    char *copy = xstrdup(path), *rest = copy, *part;
    while ((part = strsep(&rest, ".")) && rest) object = sim_submap(object, part);
    json_object_set_new(object, part, value);
    free(copy);
}

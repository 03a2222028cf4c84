/* Strings and numbers of custom objects; see structural_internal.h. */
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/lua/lua.h"
#include "sim/text/tree.h"
#include "sim/validate/cause.h"
#include "sim/validate/structural_internal.h"

/* --- Strings */

static void check_format(const char *format, const char *text, const char *path, json_t *causes)
{
    if (!*format) return;
    lua_State *L = sim_lua_take("sim.checks.formats", "problems");
    lua_pushstring(L, path);
    lua_pushstring(L, format);
    lua_pushstring(L, text);
    sim_add_causes(causes, L);
}

/* Go's syntax in that of POSIX, as far as schemas use it. */
static void translate(const char *pattern, struct buf *out)
{
    bool inside = false;
    for (const char *p = pattern; *p; p++) {
        const char *set = p[0] != '\\' ? NULL : p[1] == 'd' ? "0-9" : p[1] == 'w' ? "A-Za-z0-9_" : NULL;
        if (set) {
            buf_printf(out, inside ? "%s" : "[%s]", set);
            p++;
        } else if (p[0] == '\\' && p[1] && inside) {
            buf_putc(out, *++p);
        } else if (p[0] == '\\' && p[1]) {
            buf_append(out, p, 2);
            p++;
        } else if (strncmp(p, "(?:", 3) == 0) {
            buf_putc(out, '(');
            p += 2;
        } else {
            inside = inside ? *p != ']' : *p == '[';
            buf_putc(out, *p);
        }
    }
}

/* A pattern that POSIX has no words for fits all. */
static bool matches(const char *pattern, const char *text)
{
    struct buf posix = {0};
    regex_t regex;
    translate(pattern, &posix);
    bool good = true;
    if (regcomp(&regex, buf_text(&posix), REG_EXTENDED | REG_NOSUB) == 0) {
        good = regexec(&regex, text, 0, NULL, 0) == 0;
        regfree(&regex);
    }
    buf_clear(&posix);
    return good;
}

static size_t count_characters(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += (*text & 0xC0) != 0x80;
    return n;
}

void sim_structural_check_string(const json_t *schema, const json_t *value, const char *path, json_t *causes)
{
    const char *text = json_string_value(value), *pattern = sim_text_at(schema, "pattern");
    json_int_t length = (json_int_t)count_characters(text);
    json_int_t least = sim_int_at(schema, "minLength", 0), most = sim_int_at(schema, "maxLength", INT64_MAX);
    if (length > most) {
        char *detail = xasprintf("may not be more than %lld byte%s", (long long)most, most == 1 ? "" : "s");
        json_array_append_new(causes, sim_cause("FieldValueTooLong", path, NULL, detail));
        free(detail);
    } else if (length < least)
        sim_structural_wrong(causes, path, value, "should be at least %lld chars long", (long long)least);
    else if (*pattern && !matches(pattern, text))
        sim_structural_wrong(causes, path, value, "should match '%s'", pattern);
    check_format(sim_text_at(schema, "format"), text, path, causes);
}

/* --- Numbers */

#define MOST_FLOAT 3.4028235677973366e+38 /* above it a float is infinite */

/* Takes the value and the text. */
static void add(json_t *causes, const char *field, json_t *shown, char *text)
{
    json_array_append_new(causes, sim_cause("FieldValueInvalid", field, shown, text));
    json_decref(shown);
    free(text);
}

/* Appends a cause, and returns false, if no value of the schema's type can be as large, or has a fraction. */
static bool fits(const json_t *schema, const json_t *number, const char *what, const char *path,
                 json_t *causes)
{
    const char *type = sim_text_at(schema, "type"), *format = sim_text_at(schema, "format");
    bool integer = strcmp(type, "integer") == 0, small = strcmp(format, "int32") == 0;
    double n = json_number_value(number);
    bool known = integer ? small || strcmp(format, "int64") == 0
                         : strcmp(type, "number") == 0 && strcmp(format, "float") == 0;
    bool good = !integer ? !known || fabs(n) <= MOST_FLOAT
                : small  ? n == floor(n) && n >= INT32_MIN && n <= INT32_MAX
                         : json_is_integer(number) || (n == floor(n) && fabs(n) < 0x1p63);
    if (!number || good) return true;
    add(causes, "<nil>", json_string(""),
        xasprintf("%s value must be of type %s %s%s in %s", what, type,
                  known ? "with format " : "(default format)", known ? format : "", path));
    return false;
}

void sim_structural_check_number(const json_t *schema, const json_t *value, const char *path, json_t *causes)
{
    const json_t *least = json_object_get(schema, "minimum"), *most = json_object_get(schema, "maximum");
    const json_t *factor = json_object_get(schema, "multipleOf");
    bool above = sim_true_at(schema, "exclusiveMinimum"), below = sim_true_at(schema, "exclusiveMaximum");
    double n = json_number_value(value), min = json_number_value(least), max = json_number_value(most);
    fits(schema, value, "Checked", path, causes);
    bool exact = fits(schema, factor, "MultipleOf", path, causes);
    if (factor && exact && json_is_integer(value) &&
        json_number_value(factor) < 1) /* it cuts the factor to an integer */
        add(causes, path, json_integer(0),
            xasprintf("factor MultipleOf declared for %s must be positive: 0", path));
    else if (factor && fmod(n, json_number_value(factor)) != 0)
        sim_structural_wrong(causes, path, value, "should be a multiple of %.15g", json_number_value(factor));
    fits(schema, least, "Minimum boundary", path, causes);
    if (least && (n < min || (above && n == min)))
        sim_structural_wrong(causes, path, value, "should be greater than %s%.15g",
                             above ? "" : "or equal to ", min);
    fits(schema, most, "Maximum boundary", path, causes);
    if (most && (n > max || (below && n == max)))
        sim_structural_wrong(causes, path, value, "should be less than %s%.15g", below ? "" : "or equal to ",
                             max);
}

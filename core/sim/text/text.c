/* Scanner of JSON text that skips unneeded values; see text.h. */
#include "sim/text/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* Skips a string; `at` is after the opening quote; returns the position after the closing one. */
static const char *skip_string(const char *at, const char *end)
{
    while (at < end) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        if (!quote) return end;
        const char *back = quote;
        while (back > at && back[-1] == '\\') back--;
        at = quote + 1;
        if ((quote - back) % 2 == 0) break; /* an even run of backslashes escapes itself only */
    }
    return at;
}

static const char *skip_container(const char *at, const char *end)
{
    int depth = 0;
    while (at < end) {
        char c = *at++;
        if (c == '"')
            at = skip_string(at, end);
        else if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            break;
    }
    return at;
}

static const char *skip_value(const char *at, const char *end)
{
    if (at >= end) return end;
    if (*at == '"') return skip_string(at + 1, end);
    if (*at == '{' || *at == '[') return skip_container(at, end);
    while (at < end && *at != ',' && *at != '}' && *at != ']') at++;
    return at;
}

bool sim_members_open(struct str json, struct sim_members *members)
{
    if (json.n < 2 || (json.p[0] != '{' && json.p[0] != '[')) return false;
    *members = (struct sim_members){json.p + 1, json.p + json.n - 1};
    return true;
}

bool sim_members_next(struct sim_members *members, struct str *key, struct str *value)
{
    const char *at = members->at, *end = members->end;
    if (at < end && *at == ',') at++;
    if (at >= end) return false;
    *key = (struct str){at, 0};
    if (*at == '"') {
        const char *behind = skip_string(at + 1, end);
        if (behind < end && *behind == ':') {
            *key = (struct str){at + 1, (size_t)(behind - at) - 2};
            at = behind + 1;
        }
    }
    members->at = skip_value(at, end);
    *value = (struct str){at, (size_t)(members->at - at)};
    return value->n > 0;
}

bool sim_text_member(struct str object, const char *key, struct str *value)
{
    struct sim_members members;
    struct str name;
    if (object.n == 0 || object.p[0] != '{' || !sim_members_open(object, &members)) return false;
    while (sim_members_next(&members, &name, value))
        if (str_is(name, key)) return true;
    return false;
}

struct str sim_text_unquote(struct str value)
{
    if (value.n < 2 || value.p[0] != '"') return (struct str){"", 0};
    return (struct str){value.p + 1, value.n - 2};
}

/* --- Decimal integers */

bool sim_parse_int64(const char *text, int64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)text[*text == '-' || *text == '+'])) return false;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && !*end;
}

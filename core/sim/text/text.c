/* Scanner of JSON text that skips unneeded values; see text.h. */
#include "sim/text/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

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

static bool bad(struct sim_reader *in)
{
    in->is_bad = true;
    in->at = in->end;
    return false;
}

bool sim_reader_next(struct sim_reader *in, char close, struct str *key)
{
    if (in->at < in->end && *in->at == ',') in->at++;
    if (in->at >= in->end || in->is_bad) return bad(in);
    if (*in->at == close) {
        in->at++;
        return false;
    }
    if (!key) return true;
    const char *from = in->at, *behind = skip_value(from, in->end);
    if (*from != '"' || in->end - behind < 2 || *behind != ':') return bad(in);
    *key = (struct str){from + 1, (size_t)(behind - from) - 2};
    in->at = behind + 1;
    return true;
}

struct str sim_reader_take(struct sim_reader *in)
{
    const char *from = in->at;
    in->at = skip_value(from, in->end);
    bool whole = in->at > from && (*from != '"' || (in->at - from > 1 && in->at[-1] == '"'));
    return whole || bad(in) ? (struct str){from, (size_t)(in->at - from)} : STR("\"\"");
}

void sim_text_unescape(struct buf *out, struct str quoted)
{
    bool plain = quoted.n > 1 && !memchr(quoted.p, '\\', quoted.n);
    json_t *text = plain ? NULL : json_loadb(quoted.p, quoted.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (plain)
        buf_append(out, quoted.p + 1, quoted.n - 2);
    else
        buf_append(out, json_string_value(text), json_string_length(text));
    json_decref(text);
}

bool sim_members_open(struct str json, struct sim_members *members)
{
    if (json.n < 2 || (json.p[0] != '{' && json.p[0] != '[')) return false;
    *members = (struct sim_members){{json.p + 1, json.p + json.n, false, NULL}, json.p[0] == '{' ? '}' : ']'};
    return true;
}

bool sim_members_next(struct sim_members *members, struct str *key, struct str *value)
{
    bool named = members->close == '}';
    if (!named) *key = (struct str){members->in.at, 0};
    if (!sim_reader_next(&members->in, members->close, named ? key : NULL)) return false;
    *value = sim_reader_take(&members->in);
    return !members->in.is_bad;
}

bool sim_text_member(struct str object, const char *key, struct str *value)
{
    struct sim_members members;
    struct str name, at;
    if (object.n == 0 || object.p[0] != '{' || !sim_members_open(object, &members)) return false;
    while (sim_members_next(&members, &name, &at))
        if (str_is(name, key)) return *value = at, true;
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

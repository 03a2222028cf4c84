/* Continue tokens in the form of a real server: base64 of a small JSON object; see page.h. */
#include "sim/store/page.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/buf.h"
#include "base/mem.h"

#define FORM "meta.k8s.io/v1"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static char *encode(struct str in)
{
    struct buf out = {0};
    for (size_t i = 0; i < in.n; i += 3) {
        size_t n = in.n - i < 3 ? in.n - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++) bits = bits << 8 | (k < n ? (unsigned char)in.p[i + k] : 0);
        for (size_t k = 0; k <= n; k++) buf_putc(&out, digits[bits >> (18 - 6 * k) & 63]);
    }
    return buf_take(&out);
}

static bool decode(const char *text, struct buf *out)
{
    uint32_t bits = 0;
    int have = 0;
    for (; *text && *text != '='; text++) {
        const char *digit = strchr(digits, *text);
        if (!digit) return false;
        bits = bits << 6 | (uint32_t)(digit - digits);
        have += 6;
        if (have < 8) continue;
        have -= 8;
        buf_putc(out, (char)(bits >> have & 255));
    }
    return true;
}

char *sim_page_token(int64_t version, const char *after)
{
    json_t *token = json_pack("{ss sI ss}", "v", FORM, "rv", (json_int_t)version, "start", after);
    char *text = json_dumps(token, JSON_COMPACT);
    char *result = encode(str_of(text));
    free(text);
    json_decref(token);
    return result;
}

bool sim_page_read(const char *token, struct sim_page *page)
{
    struct buf text = {0};
    json_t *value = decode(token, &text) && text.len ? json_loadb(text.data, text.len, 0, NULL) : NULL;
    const char *after = json_string_value(json_object_get(value, "start"));
    json_t *version = json_object_get(value, "rv");
    const char *form = json_string_value(json_object_get(value, "v"));
    bool ok = after && form && strcmp(form, FORM) == 0 && json_is_integer(version) &&
              json_integer_value(version) != 0;
    *page = (struct sim_page){ok ? json_integer_value(version) : 0, ok ? xstrdup(after) : NULL};
    json_decref(value);
    buf_clear(&text);
    return ok;
}

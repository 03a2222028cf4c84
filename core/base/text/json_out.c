/* JSON, field by field; see json_out.h. */
#include "base/text/json_out.h"

#include <inttypes.h>

#include "base/civil.h"

void json_key(struct buf *out, struct str key)
{
    char last = out->len ? out->data[out->len - 1] : '{';
    if (last != '{' && last != '[' && last != '\n') buf_putc(out, ',');
    if (!key.p) return;
    buf_json_string(out, key);
    buf_putc(out, ':');
}

static void begin(struct buf *out, const char *key)
{
    json_key(out, str_of(key));
}

void json_raw(struct buf *out, const char *key, struct str json)
{
    begin(out, key);
    buf_str(out, json);
}

void json_open(struct buf *out, const char *key, char bracket)
{
    if (out->len) begin(out, key);
    buf_putc(out, bracket);
}

void json_close(struct buf *out, char bracket)
{
    buf_putc(out, bracket);
}

void json_text(struct buf *out, const char *key, const char *value)
{
    json_str(out, key, value ? str_of(value) : STR(""));
}

void json_str(struct buf *out, const char *key, struct str value)
{
    begin(out, key);
    buf_json_string(out, value);
}

void json_str_unless_empty(struct buf *out, const char *key, struct str value)
{
    if (value.n) json_str(out, key, value);
}

void json_int(struct buf *out, const char *key, int64_t value)
{
    begin(out, key);
    buf_printf(out, "%" PRId64, value);
}

void json_bool(struct buf *out, const char *key, bool value)
{
    begin(out, key);
    buf_puts(out, value ? "true" : "false");
}

void json_time(struct buf *out, const char *key, int64_t wall_us)
{
    struct buf text = {0};
    if (wall_us == 0) return;
    civil_put_utc(&text, wall_us, 0);
    json_str(out, key, buf_slice(&text));
    buf_clear(&text);
}

/* Bodies of ConfigMaps; see state_map_body.h. */
#include "engine/state_map_body.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/text/base64.h"
#include "engine/state_maps.h"
#include "object/value/value.h"

static const char member[] = "binaryData";

void map_body_write(const struct map_body *body, struct buf *out)
{
    if (body->version) {
        buf_puts(out, "{\"metadata\":{\"resourceVersion\":");
        buf_json_string(out, str_of(body->version));
        buf_puts(out, "}");
    } else {
        buf_puts(out,
                 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" STATE_MAP_PREFIX);
        buf_printf(out, "%s\",\"labels\":{\"app.kubernetes.io/managed-by\":\"kubelua\"}}", body->place);
    }
    buf_printf(out, ",\"%s\":{", member);
    buf_json_string(out, str_of(body->state));
    if (body->removes) {
        buf_puts(out, ":null}}");
        return;
    }
    buf_puts(out, ":\"");
    base64_encode(body->bytes, out);
    buf_puts(out, "\"}}");
}

void map_body_write_take(const char *version, const char *reader, struct buf *out)
{
    buf_puts(out, "{\"metadata\":{\"resourceVersion\":");
    buf_json_string(out, str_of(version));
    buf_puts(out, ",\"annotations\":{\"" STATE_MAP_READER "\":");
    buf_json_string(out, str_of(reader));
    buf_puts(out, "}}}");
}

/* Three bytes are four letters, the last of which may be "=". */
static size_t decoded_size(struct str text)
{
    size_t padding = text.n > 0 && text.p[text.n - 1] == '=';
    if (padding && text.n > 1 && text.p[text.n - 2] == '=') padding++;
    return text.n / 4 * 3 - (text.n >= 4 ? padding : 0);
}

bool map_content_read(const struct root *root, const char *state, struct map_content *content,
                      struct buf *value)
{
    struct value all = value_field(root_value(root), str_of(member));
    bool found = false;
    for (size_t i = 0; i < value_count(all); i++) {
        struct text key_text, text;
        struct str key;
        struct str encoded = value_str(value_entry(all, i, &key, &key_text), &text);
        *array_add(content->items, content->count) =
            (struct map_size){.state = xstrndup(key.p, key.n), .bytes = decoded_size(encoded)};
        if (str_is(key, state)) found = base64_decode(encoded, value);
    }
    return found;
}

void map_content_set(struct map_content *content, const char *state, size_t bytes)
{
    for (size_t i = 0; i < content->count; i++) {
        if (strcmp(content->items[i].state, state) != 0) continue;
        content->items[i].bytes = bytes;
        return;
    }
    *array_add(content->items, content->count) = (struct map_size){xstrdup(state), bytes};
}

size_t map_content_others(const struct map_content *content, const char *state)
{
    size_t bytes = 0;
    for (size_t i = 0; i < content->count; i++)
        if (strcmp(content->items[i].state, state) != 0) bytes += content->items[i].bytes;
    return bytes;
}

void map_content_clear(struct map_content *content)
{
    for (size_t i = 0; i < content->count; i++) free(content->items[i].state);
    free(content->items);
    *content = (struct map_content){0};
}

/* Bodies of requests for ConfigMaps; see state_map_body.h. */
#include "engine/state_map_body.h"

#include "base/text/base64.h"
#include "engine/state_maps.h"

static void write_metadata(const struct map_body *body, struct buf *out)
{
    if (body->version) {
        buf_puts(out, "\"metadata\":{\"resourceVersion\":");
        buf_json_string(out, str_of(body->version));
    } else {
        buf_puts(out,
                 "\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" STATE_MAP_PREFIX);
        buf_printf(out, "%s\",\"labels\":{\"app.kubernetes.io/managed-by\":\"kubelua\"}", body->place);
    }
    if (body->reader) {
        buf_puts(out, ",\"annotations\":{\"" STATE_MAP_READER "\":");
        buf_json_string(out, str_of(body->reader));
        buf_putc(out, '}');
    }
    buf_putc(out, '}');
}

static void write_state(const struct map_body *body, struct buf *out)
{
    buf_puts(out, ",\"" STATE_MAP_MEMBER "\":{");
    buf_json_string(out, str_of(body->state));
    if (body->removes) {
        buf_puts(out, ":null}");
        return;
    }
    buf_puts(out, ":\"");
    base64_encode(body->bytes, out);
    buf_puts(out, "\"}");
}

void map_body_write(const struct map_body *body, struct buf *out)
{
    buf_putc(out, '{');
    write_metadata(body, out);
    if (body->state) write_state(body, out);
    buf_putc(out, '}');
}

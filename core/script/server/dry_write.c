/* Writes that are not sent; see dry_write.h. */
#include "script/server/dry_write.h"

#include <string.h>

#include "base/log.h"
#include "base/text/json_out.h"
#include "object/pack/pack.h"
#include "object/parse/tape.h"
#include "object/value/json.h"
#include "script/vm/state.h"

enum { BODY_SHOWN = 4096 };

const char *dry_write_message(const struct script *script)
{
    const char *own = script->host->not_sent;
    return own ? own : "Not sent because of --dry-run=client";
}

static void log_dry_write(const struct script *script, const struct object_request *r)
{
    struct str body = r->body;
    struct buf resource = {0}, key = {0}, shown = {0};
    write_request_resource(r, &resource);
    write_request_object(r, str_of(r->place.name), &key);
    if (write_request_is_secret(r))
        buf_puts(&shown, "(not shown)");
    else
        buf_str(&shown, body);
    buf_shorten(&shown, 0, BODY_SHOWN);
    log_info(dry_write_message(script), F("script", script->id.name),
             F("verb", write_function_of(r)->access_name), F("resource", buf_text(&resource)),
             F("object", buf_text(&key)), F("type", object_request_type(r)), FS("body", buf_slice(&shown)));
    buf_clear(&resource);
    buf_clear(&key);
    buf_clear(&shown);
}

/* Appends the known part of an object of which only the name was given. */
static void put_reference(const struct object_place *place, struct buf *out)
{
    struct buf version = {0};
    resource_api_version(place->resource, &version);
    json_open(out, NULL, '{');
    json_str(out, "apiVersion", buf_slice(&version));
    json_text(out, "kind", place->resource->kind);
    json_open(out, "metadata", '{');
    json_text(out, "name", place->name);
    json_str_unless_empty(out, "namespace", str_of(place->namespace_));
    json_close(out, '}');
    json_close(out, '}');
    buf_clear(&version);
}

bool dry_write(struct script *script, const struct object_request *r, struct root *given, struct root **out,
               struct err *err)
{
    static const struct pack_type type = {.nameless = true};
    struct packer *packer = shared_factory_packer(script->host->cluster->factory);
    bool is_patch = r->verb == OBJECT_PATCH;
    struct buf json = {0};
    *out = NULL;
    log_dry_write(script, r);
    if (r->verb == OBJECT_DELETE) return true;
    if (is_patch && given) {
        *out = root_ref(given);
        return true;
    }
    if (is_patch)
        put_reference(&r->place, &json);
    else
        buf_str(&json, r->body);
    size_t len = json.len;
    memset(buf_reserve(&json, TAPE_PADDING), 0, TAPE_PADDING);
    bool ok = pack_text(packer, json.data, len, &type, out, err);
    buf_clear(&json);
    return ok;
}

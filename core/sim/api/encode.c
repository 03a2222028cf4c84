/* Encodings besides JSON; see encode.h. */
#include "sim/api/encode.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/yaml/yaml_documents.h"
#include "sim/kinds/table.h"
#include "sim/object/status.h"
#include "sim/proto/wire.h"
#include "sim/text/tree.h"

enum { YAML_MAX = 64 << 20 /* what aliases may make of a body */ };

/* --- bodies */

/* Objects of kinds that have no protobuf stay as they are, and are refused with 415 by who reads them. */
static bool from_protobuf(struct str body, struct buf *json, struct err *err)
{
    json_t *object = sim_wire_get(body, err);
    if (!object) return err->code == ERR_NOT_FOUND;
    sim_put_json(json, object);
    json_decref(object);
    return true;
}

json_t *sim_read_yaml(struct str text, bool may_repeat, struct err *err)
{
    static const char *const other[] = {"\\/", "\\ud", "\\uD"}; /* escapes that YAML does not know */
    const struct yaml_source source = {
        .text = text, .first = true, .as_go = true, .max = YAML_MAX, .max_name = "64Mi of a body"};
    struct buf json = {0};
    json_error_t error;
    json_t *documents = NULL, *value = NULL;
    bool is_yaml = false;
    for (size_t i = 0; text.n && i < ARRAY_LEN(other); i++)
        is_yaml = is_yaml || memmem(text.p, text.n, other[i], strlen(other[i]));
    size_t flags = JSON_DISABLE_EOF_CHECK | (may_repeat ? 0 : JSON_REJECT_DUPLICATES);
    if (!is_yaml) value = sim_parse(text, flags, &error);
    if (value) return value; /* the first document counts, and what follows it is not read */
    if (yaml_read_source(&source, &json, err)) {
        documents = sim_parse(buf_slice(&json), 0, &error);
        if (!documents) err_set(err, ERR_PARSE, "%s", error.text);
    }
    json_t *first = json_incref(json_array_get(documents, 0));
    if (documents && !first) first = json_object();
    json_decref(documents);
    buf_clear(&json);
    return first;
}

static bool from_yaml(struct str body, struct buf *json, struct err *err)
{
    json_t *object = sim_read_yaml(body, false, err);
    if (object) sim_put_json(json, object);
    json_decref(object);
    return object != NULL;
}

bool sim_encode_request(struct sim_request *request, struct buf *json, struct sim_reply *reply)
{
    struct err err;
    bool is_protobuf = sim_has_type(request, SIM_WIRE_TYPE), ok = true;
    if (!request->body.n || (!is_protobuf && !sim_has_type(request, "application/yaml"))) return true;
    ok = is_protobuf ? from_protobuf(request->body, json, &err) : from_yaml(request->body, json, &err);
    if (!ok && is_protobuf) sim_reply_status(reply, sim_status_bad_request("%s", err.text));
    if (!json->len) return ok || !is_protobuf; /* YAML that is none is refused by who reads it */
    request->body = buf_slice(json);
    request->content_type = "application/json";
    return ok;
}

/* --- replies */

static const char *encode(struct buf *bytes, struct str json, struct sim_media media)
{
    if (media.protobuf) return sim_wire_put(bytes, json) ? SIM_WIRE_TYPE : NULL;
    json_t *object = sim_parse(json, 0, NULL);
    if (object) sim_put_yaml(bytes, object);
    json_decref(object);
    return object ? "application/yaml" : NULL;
}

void sim_encode_reply(const struct sim_request *request, struct sim_reply *reply)
{
    static const struct sim_spoken all = {.tables = true, .protobuf = true, .partial_protobuf = true};
    struct sim_media media = sim_negotiate_media(request->accept, &all);
    bool plain = !media.protobuf && !media.yaml;
    /* An error has no other form. */
    if (reply->code >= 300 && media.form != SIM_FORM_JSON && !media.protobuf) plain = true;
    if (plain || reply->stream || reply->content_type || reply->code <= 0) return;
    struct buf bytes = {0};
    if (reply->json) sim_put_json(&reply->text, reply->json);
    const char *type = encode(&bytes, buf_slice(&reply->text), media);
    json_decref(reply->json);
    reply->json = NULL;
    if (type) {
        buf_clear(&reply->text);
        reply->text = bytes;
        reply->content_type = type;
    }
}

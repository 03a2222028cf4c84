/* Texts around pods; see replay_form.h. */
#include "bench/source/replay_form.h"

#include <stdlib.h>

#include "base/must.h"
#include "bench/source/replay_form_protobuf.h"
#include "sim/kinds/table.h"
#include "sim/object/status.h"

#define EVENT(type)   "{\"type\":\"" type "\",\"object\":"
#define POD_HEAD      "{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
#define METADATA_HEAD "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","

struct around {
    struct str head, tail;
};

static const struct str nothing = {"", 0};

static bool is_protobuf(enum replay_form form)
{
    return form == REPLAY_PROTOBUF || form == REPLAY_PROTOBUF_METADATA;
}

static bool is_metadata(enum replay_form form)
{
    return form == REPLAY_JSON_METADATA || form == REPLAY_PROTOBUF_METADATA;
}

bool replay_form_of(const char *accept, bool list, bool has_protobuf, enum replay_form *form,
                    json_t **refusal)
{
    struct sim_media media = sim_negotiate_media(accept, &(struct sim_spoken){.protobuf = has_protobuf});
    bool whole = media.form == SIM_FORM_JSON;
    *refusal = NULL;
    *form = media.protobuf ? (whole ? REPLAY_PROTOBUF : REPLAY_PROTOBUF_METADATA)
                           : (whole ? REPLAY_JSON : REPLAY_JSON_METADATA);
    if (whole || media.form == (list ? SIM_FORM_PARTIAL_LIST : SIM_FORM_PARTIAL)) return true;
    *refusal = sim_status_not_acceptable(
        has_protobuf ? "application/json, application/vnd.kubernetes.protobuf" : "application/json");
    return false;
}

/* As a real server has it, the stream is named with protobuf only. */
const char *replay_form_content_type(enum replay_form form, bool watch)
{
    if (!is_protobuf(form)) return "application/json";
    return watch ? "application/vnd.kubernetes.protobuf;stream=watch" : "application/vnd.kubernetes.protobuf";
}

static struct str body_of(enum replay_form form, const struct replay_pod *pod)
{
    const struct replay_body *body = &pod->json;
    return (struct str){body->bytes, is_metadata(form) ? body->metadata_len : body->len};
}

void replay_form_event(struct replay_out *out, enum replay_form form, enum replay_event event,
                       const struct replay_pod *pod)
{
    static const struct around around[2][2] = {
        [REPLAY_JSON] = {[REPLAY_ADDED] = {STR(EVENT("ADDED") POD_HEAD), STR("}\n")},
                         [REPLAY_MODIFIED] = {STR(EVENT("MODIFIED") POD_HEAD), STR("}\n")}},
        [REPLAY_JSON_METADATA] = {[REPLAY_ADDED] = {STR(EVENT("ADDED") METADATA_HEAD), STR("}}\n")},
                                  [REPLAY_MODIFIED] = {STR(EVENT("MODIFIED") METADATA_HEAD), STR("}}\n")}}};
    static const struct str types[] = {[REPLAY_ADDED] = STR("ADDED"), [REPLAY_MODIFIED] = STR("MODIFIED")};
    if (is_protobuf(form)) {
        replay_protobuf_event(out, is_metadata(form), types[event], pod);
        return;
    }
    const struct around *a = &around[form][event];
    replay_out_chunk(out, a->head, body_of(form, pod), a->tail);
}

void replay_form_bookmark(struct replay_out *out, enum replay_form form, const struct sim_served *served,
                          uint64_t version)
{
    struct sim_event_form json = {.served = served,
                                  .form = form == REPLAY_JSON ? SIM_FORM_JSON : SIM_FORM_PARTIAL};
    struct sim_out text = {0};
    if (is_protobuf(form)) {
        replay_protobuf_bookmark(out, is_metadata(form), version);
        return;
    }
    sim_form_bookmark(&text, &json, version, true);
    replay_out_chunk(out, buf_slice(&text.kept), nothing, nothing);
    sim_out_clear(&text);
}

static void put_error(struct replay_out *out, const json_t *status)
{
    char *text = json_dumps(status, JSON_COMPACT);
    struct buf event = {0};
    must(text);
    buf_printf(&event, EVENT("ERROR") "%s}\n", text);
    replay_out_chunk(out, buf_slice(&event), nothing, nothing);
    buf_clear(&event);
    free(text);
}

void replay_form_error(struct replay_out *out, enum replay_form form, json_t *status)
{
    if (is_protobuf(form))
        replay_protobuf_error(out, status);
    else
        put_error(out, status);
    json_decref(status);
}

static void put_list(struct replay_out *out, bool metadata_only, const struct sim_served *served,
                     const struct sim_list_meta *meta, struct replay_pod *const *pods, size_t n)
{
    enum sim_form form = metadata_only ? SIM_FORM_PARTIAL_LIST : SIM_FORM_JSON;
    struct str first = metadata_only ? STR(METADATA_HEAD) : STR("{");
    struct str next = metadata_only ? STR("," METADATA_HEAD) : STR(",{");
    struct buf around = {0};
    sim_form_list_head(&around, served, form, meta);
    replay_out_chunk(out, buf_slice(&around), nothing, nothing);
    for (size_t i = 0; i < n; i++)
        replay_out_chunk(out, i ? next : first,
                         body_of(metadata_only ? REPLAY_JSON_METADATA : REPLAY_JSON, pods[i]),
                         metadata_only ? STR("}") : nothing);
    around.len = 0;
    sim_form_list_tail(&around, served, form, meta);
    replay_out_chunk(out, buf_slice(&around), nothing, nothing);
    buf_clear(&around);
}

void replay_form_list(struct replay_out *out, enum replay_form form, const struct sim_served *served,
                      const struct sim_list_meta *meta, struct replay_pod *const *pods, size_t n)
{
    if (is_protobuf(form))
        replay_protobuf_list(out, is_metadata(form), meta, pods, n);
    else
        put_list(out, is_metadata(form), served, meta, pods, n);
}

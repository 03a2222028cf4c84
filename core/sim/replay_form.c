/* Texts around pods; see replay_form.h. */
#include "sim/replay_form.h"

#include <stdlib.h>

#include "base/must.h"
#include "sim/table.h"

#define EVENT(type)   "{\"type\":\"" type "\",\"object\":"
#define POD_HEAD      "{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
#define METADATA_HEAD "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","

struct around {
    struct str head, tail;
};

static const struct str nothing = {"", 0};

bool replay_form_of(const char *accept, bool list, enum replay_form *form)
{
    enum sim_form asked = sim_negotiate_media(accept, &(struct sim_spoken){0}).form;
    *form = asked == SIM_FORM_JSON ? REPLAY_JSON : REPLAY_JSON_METADATA;
    return asked == SIM_FORM_JSON || asked == (list ? SIM_FORM_PARTIAL_LIST : SIM_FORM_PARTIAL);
}

const char *replay_form_content_type(enum replay_form form, bool watch)
{
    return "application/json";
}

static struct str body_of(enum replay_form form, const struct replay_pod *pod)
{
    const struct replay_body *body = &pod->json;
    return (struct str){body->bytes, form == REPLAY_JSON ? body->len : body->metadata_len};
}

void replay_form_event(struct replay_out *out, enum replay_form form, enum replay_event event,
                       const struct replay_pod *pod)
{
    static const struct around around[2][2] = {
        [REPLAY_JSON] = {[REPLAY_ADDED] = {STR(EVENT("ADDED") POD_HEAD), STR("}\n")},
                         [REPLAY_MODIFIED] = {STR(EVENT("MODIFIED") POD_HEAD), STR("}\n")}},
        [REPLAY_JSON_METADATA] = {[REPLAY_ADDED] = {STR(EVENT("ADDED") METADATA_HEAD), STR("}}\n")},
                                  [REPLAY_MODIFIED] = {STR(EVENT("MODIFIED") METADATA_HEAD), STR("}}\n")}}};
    const struct around *a = &around[form][event];
    replay_out_chunk(out, a->head, body_of(form, pod), a->tail);
}

void replay_form_bookmark(struct replay_out *out, enum replay_form form, const struct sim_served *served,
                          uint64_t version)
{
    struct sim_event_form json = {.served = served,
                                  .form = form == REPLAY_JSON ? SIM_FORM_JSON : SIM_FORM_PARTIAL};
    struct sim_out text = {0};
    sim_form_bookmark(&text, &json, version, true);
    replay_out_chunk(out, buf_slice(&text.kept), nothing, nothing);
    sim_out_clear(&text);
}

void replay_form_error(struct replay_out *out, enum replay_form form, json_t *status)
{
    char *text = json_dumps(status, JSON_COMPACT);
    struct buf event = {0};
    must(text);
    buf_printf(&event, EVENT("ERROR") "%s}\n", text);
    replay_out_chunk(out, buf_slice(&event), nothing, nothing);
    buf_clear(&event);
    free(text);
    json_decref(status);
}

void replay_form_list(struct replay_out *out, enum replay_form form, const struct sim_served *served,
                      const struct sim_list_meta *meta, struct replay_pod *const *pods, size_t n)
{
    enum sim_form json = form == REPLAY_JSON ? SIM_FORM_JSON : SIM_FORM_PARTIAL_LIST;
    struct str first = form == REPLAY_JSON ? STR("{") : STR(METADATA_HEAD);
    struct str next = form == REPLAY_JSON ? STR(",{") : STR("," METADATA_HEAD);
    struct buf around = {0};
    sim_form_list_head(&around, served, json, meta);
    replay_out_chunk(out, buf_slice(&around), nothing, nothing);
    for (size_t i = 0; i < n; i++)
        replay_out_chunk(out, i ? next : first, body_of(form, pods[i]),
                         form == REPLAY_JSON ? nothing : STR("}"));
    around.len = 0;
    sim_form_list_tail(&around, served, json, meta);
    replay_out_chunk(out, buf_slice(&around), nothing, nothing);
    buf_clear(&around);
}

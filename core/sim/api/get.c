/* Single objects; see list.h. */
#include <stdlib.h>
#include <string.h>

#include "sim/api/list.h"
#include "sim/api/subresource.h"
#include "sim/object/status.h"
#include "sim/store/form.h"

void sim_reply_object(const struct sim_api *api, const struct sim_request *request,
                      const struct sim_served *served, const struct sim_object *object,
                      struct sim_reply *reply)
{
    struct sim_media media = sim_negotiate_of(served->kind, request->accept);
    const char *include = sim_query(request, "includeObject");
    struct sim_view view = {api, served, media.form, include, false, media.beta};
    struct sim_out out = {0};
    json_t *refusal = NULL;
    if (media.form == SIM_FORM_PARTIAL_LIST)
        refusal = sim_status_other_form(served->kind, "PartialObjectMetadataList", false);
    if (media.form == SIM_FORM_TABLE) refusal = sim_table_refused(include);
    if (refusal) {
        sim_reply_status(reply, refusal);
        return;
    }
    reply->code = 200;
    sim_form_object(&out, &view, object);
    reply->text = out.kept;
}

/* A get takes any version that is no older than the given one. */
static json_t *version_refused(struct sim_api *api, const struct sim_kind *kind, const char *given)
{
    uint64_t wanted = 0;
    bool cached = !sim_kind_is(kind, "Event"); /* a server reads events from storage */
    if (!given || !*given) return NULL;
    if (!str_to_u64(str_of(given), &wanted)) return sim_version_refused(given, cached);
    sim_store_lock(api->store);
    uint64_t version = api->store->version;
    sim_store_unlock(api->store);
    json_t *refusal = wanted > version ? sim_status_too_large(wanted, version) : NULL;
    if (!cached) json_object_del(json_object_get(refusal, "details"), "retryAfterSeconds");
    return refusal;
}

void sim_get(struct sim_api *api, const struct sim_request *request, const struct sim_target *target,
             struct sim_reply *reply)
{
    char *key = sim_target_key(target, target->name);
    sim_count(&api->stats.gets, 1);
    json_t *refusal = version_refused(api, target->served->kind, sim_query(request, "resourceVersion"));
    if (refusal) {
        free(key);
        sim_reply_status(reply, refusal);
        return;
    }
    struct sim_object *object = sim_store_ref(api->store, target->served->resource, key);
    free(key);
    if (!object) {
        sim_reply_status(reply, sim_status_not_found(target->served->kind, target->name));
        return;
    }
    if (target->subresource && sim_is_kubelets(target->subresource))
        sim_kubelet(api, request, target, object, reply);
    else if (target->subresource && strcmp(target->subresource, "scale") == 0)
        sim_scale_get(target, object, reply);
    else
        sim_reply_object(api, request, target->served, object, reply);
    sim_store_release(api->store, object);
}

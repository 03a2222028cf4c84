/* Responses to access reviews from the fault rules; see review.h. */
#include "sim/api/review.h"

#include <string.h>

#include "sim/object/status.h"
#include "sim/store/fault.h"
#include "sim/text/tree.h"

static const char path[] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
static const char media_type[] = "application/json";

static json_t *invalid(const char *detail)
{
    static const struct sim_kind kind = {.group = "authorization.k8s.io", .kind = "SelfSubjectAccessReview"};
    return sim_status_invalid(&kind, "", "FieldValueInvalid", "spec", NULL, detail);
}

/* Returns whether the fault rules allow such a request; only rules that name no resource meet "*". */
static bool is_allowed(struct sim_api *api, const json_t *attributes)
{
    const char *resource = sim_text_at(attributes, "resource"), *ns = sim_text_at(attributes, "namespace");
    return !sim_faults_forbid(api->faults, sim_text_at(attributes, "verb"),
                              strcmp(resource, "*") == 0 ? NULL : resource, *ns ? ns : NULL);
}

/* Responds with the received review and its status: the server stores none. */
static void respond(struct sim_api *api, json_t *review, struct sim_reply *reply)
{
    const json_t *spec = json_object_get(review, "spec");
    const json_t *attributes = json_object_get(spec, "resourceAttributes");
    const json_t *others = json_object_get(spec, "nonResourceAttributes");
    if (!json_is_object(attributes) == !json_is_object(others)) {
        sim_reply_status(
            reply, invalid("exactly one of nonResourceAttributes or resourceAttributes must be specified"));
        return;
    }
    bool allowed = !attributes || is_allowed(api, attributes);
    json_object_set_new(review, "kind", json_string("SelfSubjectAccessReview"));
    json_object_set_new(review, "apiVersion", json_string("authorization.k8s.io/v1"));
    json_object_set_new(review, "status", json_pack("{s:b}", "allowed", allowed));
    reply->json = json_incref(review);
    reply->code = 201;
}

bool sim_review(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply)
{
    if (strcmp(request->path, path) != 0) return false;
    if (strcmp(request->method, "POST") != 0) {
        sim_reply_not_allowed(reply);
        return true;
    }
    if (*request->content_type && strncmp(request->content_type, media_type, sizeof media_type - 1) != 0) {
        sim_reply_status(reply, sim_status_unsupported_media(media_type));
        return true;
    }
    json_t *review = json_loadb(request->body.p ? request->body.p : "", request->body.n, 0, NULL);
    if (json_is_object(review))
        respond(api, review, reply);
    else
        sim_reply_status(reply, sim_status_bad_request("the body is not a SelfSubjectAccessReview as JSON"));
    json_decref(review);
    return true;
}

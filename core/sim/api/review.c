/* Responses to reviews of access and of tokens; see review.h. */
#include "sim/api/review.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sim/object/status.h"
#include "sim/store/fault.h"
#include "sim/text/tree.h"

static const char media_type[] = "application/json";
static const char user_mark[] = "user:";

struct review_kind {
    const char *group, *plural, *kind;
    /* Returns the status of a review with that `spec`; NULL after an error response. */
    json_t *(*status)(struct sim_api *api, const struct review_kind *kind, const json_t *spec,
                      struct sim_reply *reply);
};

static void refuse(const struct review_kind *review, const char *detail, struct sim_reply *reply)
{
    const struct sim_kind kind = {.group = (char *)review->group, .kind = (char *)review->kind};
    sim_reply_status(reply, sim_status_invalid(&kind, "", "FieldValueInvalid", "spec", NULL, detail));
}

/* --- access */

/* Returns whether the fault rules allow such a request; only rules that name no resource meet "*". */
static bool is_allowed(struct sim_api *api, const json_t *attributes)
{
    const char *resource = sim_text_at(attributes, "resource"), *ns = sim_text_at(attributes, "namespace");
    return !sim_faults_forbid(api->faults, sim_text_at(attributes, "verb"),
                              strcmp(resource, "*") == 0 ? NULL : resource, *ns ? ns : NULL);
}

static json_t *access_status(struct sim_api *api, const struct review_kind *kind, const json_t *spec,
                             struct sim_reply *reply)
{
    const json_t *attributes = json_object_get(spec, "resourceAttributes");
    const json_t *others = json_object_get(spec, "nonResourceAttributes");
    if (!json_is_object(attributes) == !json_is_object(others)) {
        refuse(kind, "exactly one of nonResourceAttributes or resourceAttributes must be specified", reply);
        return NULL;
    }
    bool allowed = attributes ? is_allowed(api, attributes)
                              : !sim_faults_forbid_path(api->faults, sim_text_at(others, "verb"),
                                                        sim_text_at(others, "path"));
    return json_pack("{s:b}", "allowed", allowed);
}

static json_t *subject_status(struct sim_api *api, const struct review_kind *kind, const json_t *spec,
                              struct sim_reply *reply)
{
    if (*sim_text_at(spec, "user") || json_array_size(json_object_get(spec, "groups")))
        return access_status(api, kind, spec, reply);
    refuse(kind, "at least one of user or group must be specified", reply);
    return NULL;
}

/* --- tokens */

static json_t *token_status(struct sim_api *api, const struct review_kind *kind, const json_t *spec,
                            struct sim_reply *reply)
{
    const char *token = sim_text_at(spec, "token");
    size_t mark = sizeof user_mark - 1;
    if (!*token) {
        refuse(kind, "token is required for TokenReview in authentication", reply);
        return NULL;
    }
    if (strncmp(token, user_mark, mark) != 0 || !token[mark])
        return json_pack("{s:{}, s:s}", "user", "error", "invalid bearer token");
    return json_pack("{s:b, s:{s:s, s:[s]}}", "authenticated", true, "user", "username", token + mark,
                     "groups", "system:authenticated");
}

/* --- any of them */

static const struct review_kind kinds[] = {
    {"authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview", access_status},
    {"authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview", subject_status},
    {"authentication.k8s.io", "tokenreviews", "TokenReview", token_status},
};

static const struct review_kind *find(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        char wanted[128];
        snprintf(wanted, sizeof wanted, "/apis/%s/v1/%s", kinds[i].group, kinds[i].plural);
        if (strcmp(path, wanted) == 0) return &kinds[i];
    }
    return NULL;
}

/* Responds with the received review and its status: the server stores none. */
static void respond(struct sim_api *api, const struct review_kind *kind, json_t *review,
                    struct sim_reply *reply)
{
    json_t *status = kind->status(api, kind, json_object_get(review, "spec"), reply);
    if (!status) return;
    json_object_set_new(review, "kind", json_string(kind->kind));
    json_object_set_new(review, "apiVersion", json_sprintf("%s/v1", kind->group));
    json_object_set_new(review, "status", status);
    reply->json = json_incref(review);
    reply->code = 201;
}

static void respond_to_text(struct sim_api *api, const struct review_kind *kind, struct str text,
                            struct sim_reply *reply)
{
    json_t *review = json_loadb(text.p ? text.p : "", text.n, 0, NULL);
    if (json_is_object(review))
        respond(api, kind, review, reply);
    else
        sim_reply_status(reply, sim_status_bad_request("the body is not a %s as JSON", kind->kind));
    json_decref(review);
}

bool sim_review(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply)
{
    const struct review_kind *kind = find(request->path);
    if (!kind) return false;
    if (strcmp(request->method, "POST") != 0)
        sim_reply_not_allowed(reply);
    else if (*request->content_type && strncmp(request->content_type, media_type, sizeof media_type - 1) != 0)
        sim_reply_status(reply, sim_status_unsupported_media(media_type));
    else
        respond_to_text(api, kind, request->body, reply);
    return true;
}

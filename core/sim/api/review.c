/* Responses to reviews of access and of tokens; see review.h. */
#include "sim/api/review.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/access/access.h"
#include "sim/object/status.h"
#include "sim/store/fault.h"
#include "sim/text/tree.h"

static const char media_type[] = "application/json";
static const char user_mark[] = "user:";

struct review;

struct review_kind {
    const char *group, *plural, *kind;
    /* Returns the status of the review; NULL after an error response. */
    json_t *(*status)(const struct review *review, const json_t *spec, struct sim_reply *reply);
};

struct review {
    struct sim_api *api;
    const struct review_kind *kind;
    const json_t *user; /* who sends it; NULL: anybody */
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

/* Returns whether `user` may do it; NULL: anybody. `why` gets a new text, or NULL. */
static bool is_granted(struct sim_api *api, const json_t *user, const json_t *resource, const json_t *other,
                       char **why)
{
    struct sim_attributes a = {.verb = sim_text_at(resource ? resource : other, "verb"),
                               .group = sim_text_at(resource, "group"),
                               .resource = sim_text_at(resource, "resource"),
                               .subresource = sim_text_at(resource, "subresource"),
                               .namespace_ = sim_text_at(resource, "namespace"),
                               .name = sim_text_at(resource, "name"),
                               .path = sim_text_at(other, "path")};
    *why = NULL;
    return !api->access || !user || sim_access_allows(api->access, user, &a, why);
}

static json_t *access_status_of(const struct review *review, const json_t *user, const json_t *spec,
                                struct sim_reply *reply)
{
    const json_t *attributes = json_object_get(spec, "resourceAttributes");
    const json_t *others = json_object_get(spec, "nonResourceAttributes");
    if (!json_is_object(attributes) == !json_is_object(others)) {
        refuse(review->kind, "exactly one of nonResourceAttributes or resourceAttributes must be specified",
               reply);
        return NULL;
    }
    struct sim_api *api = review->api;
    bool allowed = attributes ? is_allowed(api, attributes)
                              : !sim_faults_forbid_path(api->faults, sim_text_at(others, "verb"),
                                                        sim_text_at(others, "path"));
    char *why;
    allowed = is_granted(api, user, attributes, others, &why) && allowed;
    json_t *status = json_pack("{s:b, s:s*}", "allowed", allowed, "reason", allowed ? why : NULL);
    free(why);
    return status;
}

static json_t *access_status(const struct review *review, const json_t *spec, struct sim_reply *reply)
{
    return access_status_of(review, review->user, spec, reply);
}

static json_t *subject_status(const struct review *review, const json_t *spec, struct sim_reply *reply)
{
    const char *name = sim_text_at(spec, "user");
    json_t *groups = json_object_get(spec, "groups");
    if (!*name && !json_array_size(groups)) {
        refuse(review->kind, "at least one of user or group must be specified", reply);
        return NULL;
    }
    json_t *user = json_pack("{s:s, s:O?}", "username", name, "groups", groups);
    json_t *status = access_status_of(review, user, spec, reply);
    json_decref(user);
    return status;
}

/* Rules that name paths are apart from those that name resources. */
static json_t *rules_status(const struct review *review, const json_t *spec, struct sim_reply *reply)
{
    const char *namespace_ = sim_text_at(spec, "namespace");
    json_t *status = json_pack("{s:[], s:[], s:b}", "resourceRules", "nonResourceRules", "incomplete", false);
    struct sim_access *access = review->api->access;
    json_t *rules =
        access && review->user ? sim_access_rules(access, review->user, namespace_) : json_array();
    json_t *rule;
    size_t i;
    json_array_foreach (rules, i, rule)
        json_array_append(json_object_get(status, json_object_get(rule, "nonResourceURLs")
                                                      ? "nonResourceRules"
                                                      : "resourceRules"),
                          rule);
    json_decref(rules);
    return status;
}

/* --- tokens */

static json_t *self_status(const struct review *review, const json_t *spec, struct sim_reply *reply)
{
    json_t *info = review->user ? json_incref((json_t *)review->user) : json_object();
    return json_pack("{s:o}", "userInfo", info);
}

/* Returns the user of a token; NULL if nobody has it. In the process itself only "user:NAME" is a token. */
static json_t *user_of(struct sim_api *api, const char *token, const json_t *wanted, json_t **audiences)
{
    size_t mark = sizeof user_mark - 1;
    *audiences = NULL;
    if (api->access) return sim_user_of_token(sim_access_users(api->access), token, wanted, audiences);
    if (strncmp(token, user_mark, mark) != 0 || !token[mark]) return NULL;
    return json_pack("{s:s, s:[s]}", "username", token + mark, "groups", "system:authenticated");
}

static json_t *token_status(const struct review *review, const json_t *spec, struct sim_reply *reply)
{
    const char *token = sim_text_at(spec, "token");
    if (!*token) {
        refuse(review->kind, "token is required for TokenReview in authentication", reply);
        return NULL;
    }
    json_t *audiences, *user = user_of(review->api, token, json_object_get(spec, "audiences"), &audiences);
    if (!user) return json_pack("{s:{}, s:s}", "user", "error", "invalid bearer token");
    return json_pack("{s:b, s:o, s:o*}", "authenticated", true, "user", user, "audiences", audiences);
}

/* --- any of them */

static const struct review_kind kinds[] = {
    {"authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview", access_status},
    {"authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview", subject_status},
    {"authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview", rules_status},
    {"authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview", self_status},
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
static void respond(const struct review *review, json_t *body, struct sim_reply *reply)
{
    const struct review_kind *kind = review->kind;
    json_t *status = kind->status(review, json_object_get(body, "spec"), reply);
    if (!status) return;
    json_object_set_new(body, "kind", json_string(kind->kind));
    json_object_set_new(body, "apiVersion", json_sprintf("%s/v1", kind->group));
    json_object_set_new(body, "status", status);
    sim_submap(body, "metadata");
    reply->json = json_incref(body);
    reply->code = 201;
}

static void respond_to_text(const struct review *review, struct str text, struct sim_reply *reply)
{
    json_t *body = json_loadb(text.p ? text.p : "", text.n, 0, NULL);
    if (json_is_object(body))
        respond(review, body, reply);
    else
        sim_reply_status(reply, sim_status_bad_request("the body is not a %s as JSON", review->kind->kind));
    json_decref(body);
}

bool sim_review(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply)
{
    const struct review review = {api, find(request->path), request->user};
    if (!review.kind) return false;
    if (strcmp(request->method, "POST") != 0)
        sim_reply_not_allowed(reply);
    else if (*request->content_type && strncmp(request->content_type, media_type, sizeof media_type - 1) != 0)
        sim_reply_status(reply, sim_status_unsupported_media(media_type));
    else
        respond_to_text(&review, request->body, reply);
    return true;
}

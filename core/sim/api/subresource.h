/* Subresources with objects of their own: scale, binding and eviction of pods, tokens of service accounts;
 * and those for which a server asks a kubelet. Each function responds. Called on the connections' threads. */
#pragma once
#include "sim/api/write_request_internal.h"

/* --- scale.c */

extern const struct sim_kind sim_scale_kind;
/* GET: the Scale of the object, which is borrowed. */
void sim_scale_get(const struct sim_target *target, const struct sim_object *object, struct sim_reply *reply);
/* PUT and PATCH; `change` makes the new Scale from the present one. */
void sim_scale_write(struct writing *writing, const char *key, sim_body_fn *change, void *ctx);

/* --- body.c */

/* Decodes the body of a subresource, which is of another kind; `name` has to be in it. NULL and a response.
 */
json_t *sim_body_of_subresource(struct writing *writing, const struct sim_kind *kind, const char *name);

/* --- binding.c */

/* POST of a Binding of the pod: gives it its node. */
void sim_bind(struct writing *writing, const char *key);
/* POST of a Binding by itself, which names the pod. */
void sim_bind_named(struct writing *writing);

/* --- eviction.c */

/* POST of an Eviction: deletes the pod, unless a PodDisruptionBudget forbids it at the moment. */
void sim_evict(struct writing *writing, const char *key);

/* --- review.c */

/* POST of a review, which is decoded: lua/sim/reviews.lua answers it, and nothing is stored. A request that a
 * fault would refuse with 403 is not allowed; without roles everything else is, to everybody. */
void sim_review_create(struct writing *writing, json_t *review);

/* --- kubelet.c */

/* Is it log, exec, attach or portforward? */
bool sim_is_kubelets(const char *subresource);
/* Refuses options of a log that a server does not take; false if they are refused. */
bool sim_log_takes(const struct sim_request *request, const struct sim_target *target,
                   struct sim_reply *reply);
/* The error of a server that cannot reach the kubelet of the pod, which is borrowed. */
void sim_kubelet(struct sim_api *api, const struct sim_request *request, const struct sim_target *target,
                 const struct sim_object *object, struct sim_reply *reply);

/* --- token.c */

/* POST of a TokenRequest: a token of the service account. */
void sim_token_create(struct writing *writing, const char *key);

/* Subresources with objects of their own: scale, eviction of pods, tokens of service accounts; and those for
 * which a server asks a kubelet. Each function responds. Called on the connections' threads. */
#pragma once
#include "sim/api/write_request_internal.h"

/* --- scale.c */

extern const struct sim_kind sim_scale_kind;
/* GET: the Scale of the object, which is borrowed. */
void sim_scale_get(const struct sim_target *target, const struct sim_object *object, struct sim_reply *reply);
/* Returns a LabelSelector as text: "app=web,tier in (a,b)"; a new string. */
char *sim_scale_selector(const json_t *selector);
/* PUT and PATCH; `change` makes the new Scale from the present one. */
void sim_scale_write(struct writing *writing, const char *key, sim_body_fn *change, void *ctx);

/* --- eviction.c */

/* POST of an Eviction: deletes the pod, unless a PodDisruptionBudget forbids it at the moment. */
void sim_evict(struct writing *writing, const char *key);

/* --- kubelet.c */

/* Is it log, exec, attach or portforward? */
bool sim_is_kubelets(const char *subresource);
/* The error of a server that cannot reach the kubelet of the pod, which is borrowed. */
void sim_kubelet(struct sim_api *api, const struct sim_request *request, const struct sim_target *target,
                 const struct sim_object *object, struct sim_reply *reply);

/* --- token.c */

/* POST of a TokenRequest: a token of the service account. */
void sim_token_create(struct writing *writing, const char *key);

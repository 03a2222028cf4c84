/* Rules for what stands outside of metadata, as far as they matter to clients of a simulator.
 * Owner: a new array of causes each, empty when all is well.
 * May be called anywhere. */
#pragma once
#include <stdbool.h>

#include <jansson.h>

#include "sim/object/object_rules.h"

/* Returns the causes for an object with its defaults, which follows `old` (may be NULL); `of_status`: what a
 * write of its status is refused for. */
json_t *sim_spec_causes(const struct sim_kind *kind, const json_t *old, const json_t *object, bool of_status);
/* Appends the causes by the tables of rules (validate/rules.h), unless `old`, the previous state or NULL, has
 * them. `given` is the body. */
void sim_add_rule_causes(const struct sim_kind *kind, const json_t *old, const json_t *object,
                         const json_t *given, json_t *causes);
/* Appends the causes for what changed in the spec of a pod; both have their defaults. */
void sim_add_pod_change_causes(const json_t *old, const json_t *object, json_t *causes);

/* Sets a condition of a pod, which it takes, in the place of that of its type. */
void sim_pod_set_condition(json_t *pod, json_t *condition);

/* --- object_csr.c: CertificateSigningRequests; objects of other kinds have no conditions of theirs */

/* Appends the causes for which their conditions must not change so. */
void sim_csr_check(const struct sim_kind *kind, const json_t *old, const json_t *object,
                   const char *subresource, json_t *causes);
/* Sets the times that new conditions lack, and since when a volume is in its phase. */
void sim_stamp(const struct sim_kind *kind, const json_t *old, json_t *object, int64_t now_s);

/* --- object_service.c: Services; objects of other kinds stay as they are */

/* Settles addresses and families before all rules, after which a new service, or one that follows `old`, may
 * be refused. `tried`: of a dry run, which takes no address. */
bool sim_service_begin(const struct sim_kind *kind, const json_t *old, json_t *object, bool tried,
                       struct sim_refusal *refusal);
/* Completes an update that no rule refused. */
void sim_service_finish(const struct sim_kind *kind, json_t *object);

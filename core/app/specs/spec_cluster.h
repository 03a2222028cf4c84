/* The functions of script/specs/spec_engine.h that are about the cluster.
 * Owner: the test's engine. */
#pragma once
#include "app/specs/spec_engine.h"

int spec_cluster_request(struct spec_engine *engine, const char *method, const char *target,
                         const char *content_type, struct str body, struct buf *out);
bool spec_cluster_put(struct spec_engine *engine, struct str json, struct err *err);
bool spec_cluster_add_kind(struct spec_engine *engine, const struct resource *r, struct err *err);
bool spec_cluster_remove(struct spec_engine *engine, const char *path);
bool spec_cluster_add_rule(struct spec_engine *engine, const struct spec_fault_options *rule,
                           struct err *err);
bool spec_cluster_rule_is_unmet(struct spec_engine *engine, int id);
void spec_cluster_add_answer(struct spec_engine *engine, const struct spec_response *a);
void spec_cluster_clear_rules(struct spec_engine *engine);
bool spec_cluster_end_watches(struct spec_engine *engine, const char *kind, bool expire, struct err *err);
bool spec_cluster_resolve(struct spec_engine *engine, const char *kind, struct resource *out,
                          struct err *err);

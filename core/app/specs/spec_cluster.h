/* The functions of script/specs/spec_engine.h that are about the cluster.
 * Owner: the test's engine. */
#pragma once
#include "app/specs/spec_engine.h"

int spec_cluster_request(struct test_engine *engine, const char *method, const char *target,
                         const char *content_type, struct str body, struct buf *out);
bool test_cluster_put(struct test_engine *engine, struct str json, struct err *err);
bool test_cluster_add_kind(struct test_engine *engine, const struct resource *r, struct err *err);
bool test_cluster_remove(struct test_engine *engine, const char *path);
bool test_cluster_add_rule(struct test_engine *engine, const struct test_rule *rule, struct err *err);
bool test_cluster_rule_is_unmet(struct test_engine *engine, int id);
void test_cluster_add_answer(struct test_engine *engine, const struct spec_response *a);
void test_cluster_clear_rules(struct test_engine *engine);
bool test_cluster_end_watches(struct test_engine *engine, const char *kind, bool expire, struct err *err);
bool test_cluster_resolve(struct test_engine *engine, const char *kind, struct resource *out,
                          struct err *err);

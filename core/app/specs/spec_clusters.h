/* Clusters of a test beside the home cluster: a simulator for each, on the same loop. Owner: the test's
 * engine; on its thread. */
#pragma once
#include "app/specs/spec_engine.h"

enum { SPEC_CLUSTERS_MAX = 100 };

/* Creates their servers. */
void spec_clusters_new(struct spec_engine *engine, const char *const *names, size_t count);
/* Creates the client's side of one. */
struct cluster *spec_cluster_connect(struct spec_other *other, struct cluster *home, bool comes_and_goes,
                                     struct err *err);
/* Adds one to an engine that runs; engine_leave_cluster ends it. */
bool spec_cluster_join(struct spec_engine *engine, const char *name, struct err *err);
/* Delivers to watches of all clusters what is due; returns true if one got anything. */
bool spec_clusters_pump(const struct spec_engine *engine);
/* Frees the servers. Call after the clients were freed. */
void spec_clusters_free(struct spec_engine *engine);

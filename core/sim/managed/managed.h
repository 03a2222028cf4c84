/* Owners of fields through writes: what creates, updates, patches and server-side applies leave in
 * metadata.managedFields. Owner: see each; what is handed in is borrowed. May be called anywhere. */
#pragma once
#include "sim/managed/managers.h"
#include "sim/object/object_rules.h"

/* Sets metadata.managedFields of `object`, which is ready to be stored. `live` is what is stored now, NULL
 * for nothing; `given` the body of the request, whose own managedFields count. */
void sim_managed_write(const struct sim_kind *kind, const struct sim_author *author, const json_t *live,
                       const json_t *given, json_t *object);
/* Takes away a list that only resets, of an object that was written without a manager. */
void sim_managed_tidy(json_t *object);
/* Takes over the times of `live` where an object differs from it in times of managers alone. */
void sim_managed_keep_times(const json_t *live, json_t *object);

/* --- for apply.c */

/* Takes out what the subresource does not write. */
void sim_managed_filter(const struct sim_kind *kind, const char *subresource, struct sim_field_set *set);
void sim_managed_filter_all(const struct sim_kind *kind, const char *subresource,
                            struct sim_comparison *changes);
void sim_managed_set(json_t *object, const struct sim_managers *managers);

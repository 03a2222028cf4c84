/* Steps of a server-side apply on values: what a configuration names, merging it into an object, and taking
 * fields out again. Owner: a new reference each; what is handed in is borrowed and not changed. May be called
 * anywhere. */
#pragma once
#include "sim/managed/field_set.h"
#include "sim/managed/shape.h"

/* Adds the fields that the value has. */
void sim_fields_of(const struct sim_shape *shape, const json_t *value, struct sim_field_set *set);
/* Returns `live` with what `given` has; NULL if nothing is left. */
json_t *sim_merge(const struct sim_shape *shape, const json_t *live, const json_t *given);
/* Returns the value without the fields of the set; null if nothing is left. */
json_t *sim_without(const struct sim_shape *shape, const json_t *value, const struct sim_field_set *set);
/* Makes declared fields members where something below them is one. */
void sim_name_fields(const struct sim_shape *shape, struct sim_field_set *set);
/* Returns what is wrong with a configuration as a new string: unknown fields, types, elements that are there
 * twice; NULL if nothing is. */
char *sim_shape_problems(const struct sim_shape *shape, const json_t *given);

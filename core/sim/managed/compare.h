/* Comparison of two objects by their shape: fields that the second one adds, removes and changes.
 * Owner: sim_comparison_clear frees what sim_compare fills. May be called anywhere. */
#pragma once
#include "sim/managed/field_set.h"
#include "sim/managed/shape.h"

struct sim_comparison {
    struct sim_field_set added, removed, modified;
};

/* Fields that Go omits or always has count so, whatever the values have; with `literal` the second object is
 * a result of merging, which is not in Go's types yet. */
void sim_compare(const struct sim_shape *shape, const json_t *before, const json_t *after, bool literal,
                 struct sim_comparison *comparison);
void sim_comparison_clear(struct sim_comparison *comparison);

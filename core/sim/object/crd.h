/* CustomResourceDefinitions (apiextensions.k8s.io/v1): the kinds they define, and their status.
 * Owner: sim_crd_kinds' caller owns array and kinds. May be called anywhere. */
#pragma once
#include "sim/object/kind.h"

/* Is it the kind of CustomResourceDefinitions? */
bool sim_is_crd(const struct sim_kind *kind);
/* Appends to `causes` what is wrong with a field that is the name, or the prefix of names. */
void sim_crd_check_name(const json_t *crd, const char *field, json_t *causes);
/* Appends to `causes` what is wrong with a definition, or its status alone; `old` is NULL for a new one.
 * A new one has no status: it is loaded then, and only has to be one that can be served. */
void sim_crd_check(const json_t *crd, const json_t *old, bool of_status, json_t *causes);
/* Sets `*out` to a new array of one kind for each served version, in discovery's order of preference. Returns
 * their number; 0 with a new string in `*obstacle` if it cannot be served, 0 with NULL there if another one
 * has its names. If no version is served it is one that is hidden. Nothing else is checked: what was stored
 * once is served. */
size_t sim_crd_kinds(const json_t *crd, struct sim_kind ***out, char **obstacle);
/* Takes a step of its life, in place, all of which lua/sim/crds.lua knows: "begin", "establish", which looks
 * for the names that are taken at `all` definitions, a map of sim_crd_names or NULL, "store", of an
 * update, "mark" for deletion, "clean", "finish". */
void sim_crd_do(const char *step, json_t *crd, int64_t now_s, const json_t *all);
/* Returns what others are to know of a definition: group, accepted names, and whether it is "unsettled": its
 * names are to be looked at, as it is new, or they are not all accepted. A new object. */
json_t *sim_crd_names(const json_t *crd);

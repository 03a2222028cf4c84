/* CustomResourceDefinitions (apiextensions.k8s.io/v1): the kinds they define, and their status.
 * Owner: sim_crd_kinds' caller owns array and kinds. May be called anywhere. */
#pragma once
#include "sim/object/kind.h"

/* Is it the kind of CustomResourceDefinitions? */
bool sim_is_crd(const struct sim_kind *kind);
/* Appends to `causes` what is wrong with a field that is the name, or the prefix of names. */
void sim_crd_check_name(const json_t *crd, const char *field, json_t *causes);
/* Appends to `causes` what is wrong with a definition, or its status alone; `old` is NULL for a new one. */
void sim_crd_check(const json_t *crd, const json_t *old, bool of_status, json_t *causes);
/* Sets `*out` to a new array of one kind for each served version, in discovery's order of preference. Returns
 * their number; 0 with a new string in `*message` if the CRD is inconsistent, 0 with NULL there if no version
 * is served. */
size_t sim_crd_kinds(const json_t *crd, struct sim_kind ***out, char **message);
/* Takes a step of its life, in place, all of which lua/sim/crds.lua knows: "begin", "establish", which looks
 * at `all` definitions for the names that are taken (else NULL), "mark" for deletion, "clean", "finish". */
void sim_crd_do(const char *step, json_t *crd, int64_t now_s, const json_t *all);
/* Returns whether its names are to be looked at: it is new, or they are not all accepted. */
bool sim_crd_is_unsettled(const json_t *crd);

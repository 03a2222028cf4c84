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
/* Sets the status that a definition has before its names are accepted. */
void sim_crd_begin(json_t *crd);
/* Sets acceptedNames, storedVersions and the conditions NamesAccepted and Established in `crd`'s status; a
 * second call changes nothing. */
void sim_crd_establish(json_t *crd, int64_t now_s);

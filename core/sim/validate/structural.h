/* Objects of custom kinds by the structural schema of their CustomResourceDefinition. Schemas are borrowed
 * JSON, as `openAPIV3Schema` has them. May be called anywhere. */
#pragma once
#include <stdbool.h>

#include <jansson.h>

/* Removes from the object, in place, what its schema does not name, and nulls that are not nullable and have
 * no default, unless they are kept. Returns the paths of unknown fields, sorted; a new reference, empty if
 * there are none. */
json_t *sim_structural_prune(const json_t *schema, json_t *object, bool keeps_nulls);
/* Sets missing values that have a default, in place. */
void sim_structural_default(const json_t *schema, json_t *object);
/* Appends the causes for which the object, or its status alone, is invalid, but for values that are as they
 * were in `old` (may be NULL). Neither CEL rules are evaluated, nor what lua/sim/checks/custom.lua checks. */
void sim_structural_check(const json_t *schema, const json_t *object, const json_t *old, bool of_status,
                          json_t *causes);
/* Likewise of a value that stands at the path. */
void sim_structural_check_at(const json_t *schema, const json_t *value, const json_t *old, const char *path,
                             json_t *causes);

/* The most frequent of Kubernetes' own validations, as tables. Owner: causes are appended to the caller's
 * array. May be called anywhere. */
#pragma once
#include <jansson.h>

/* Appends the causes for which an object of a built-in kind, with its defaults, is invalid. */
void sim_rules_check(const char *kind, const json_t *object, json_t *causes);
/* Appends the causes for fields that changed and must not. */
void sim_rules_check_change(const char *kind, const json_t *old, const json_t *object, json_t *causes);

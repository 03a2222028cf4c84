/* The most frequent of Kubernetes' own validations, as tables. Owner: causes are appended to the caller's
 * array. May be called anywhere. */
#pragma once
#include <stdbool.h>

#include <jansson.h>

/* Appends the causes for which an object of a built-in kind, with its defaults, is invalid; `old` is its
 * previous state, NULL for a new one; `given` its body, or NULL. A number among the causes is the
 * schema_check of a rule for metadata, which the caller replaces by what that finds. */
void sim_rules_check(const char *kind, const json_t *old, const json_t *object, const json_t *given,
                     json_t *causes);
/* Is an object of a built-in kind ever warned of? */
bool sim_rules_warn(const char *kind);
/* Appends the warnings, strings. `old`: NULL for a new object, else any. */
void sim_rules_warnings(const char *kind, const json_t *old, const json_t *object, json_t *warnings);

/* Internals of the validation by structural schemas, which structural_check.c and structural_values.c share.
 * Owner: causes are appended to the caller's array. May be called anywhere. */
#pragma once
#include "sim/validate/structural.h"

/* "PATH in body DETAIL" */
void sim_structural_wrong(json_t *causes, const char *path, const json_t *value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* `got` is shown as the value. */
void sim_structural_wrong_type(json_t *causes, const char *path, const char *wanted, const char *got);
void sim_structural_check_string(const json_t *schema, const json_t *value, const char *path, json_t *causes);
void sim_structural_check_number(const json_t *schema, const json_t *value, const char *path, json_t *causes);

/* --- structural_old.c: what a value was before an update, as far as a server knows */

/* Returns what a member was, NULL if that is unknown. */
const json_t *sim_structural_member(const json_t *schema, const json_t *old, const char *key);
/* Returns what an element was, which only the keys of a list of maps tell; NULL if that is unknown. */
const json_t *sim_structural_element(const json_t *schema, const json_t *old, const json_t *element);
/* Returns whether a value is what it was; a member of which the schema knows nothing is not. */
bool sim_structural_same(const json_t *schema, const json_t *value, const json_t *old);

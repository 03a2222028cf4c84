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

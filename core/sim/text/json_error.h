/* JSON bodies that cannot be read, in the words of Go's decoder, which clients see from a real server. Owner:
 * the caller. May be called anywhere. */
#pragma once
#include <jansson.h>

#include "base/str.h"

/* Returns the value if it is of that type, or null; NULL with a reason, a new string. A new reference. */
json_t *sim_parse_as(struct str text, json_type type, const char *go_type, char **why);
/* The same of the body of an object, of which kind and version are read first. */
json_t *sim_parse_body(struct str text, char **why);
/* Returns Go's name of the value's type, as in "cannot unmarshal number". */
const char *sim_json_type(const json_t *value);
/* Returns why Go does not read the text as a number without a sign. */
const char *sim_number_problem(const char *text);
/* Returns the beginning of a body as errors show it: text, hexadecimal digits unless it begins as an object,
 * or
 * "<empty>"; a new string. */
char *sim_body_summary(struct str body);

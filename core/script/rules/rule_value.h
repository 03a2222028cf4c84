/* A value that was given for a parameter of a rule, read as what its default is.
 * Owner: the caller's buffer. On any thread; raises nothing. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* `given` is JSON, or the text behind "=": "10", "true", "ghcr.io,docker.io". `fallback` is the default as
 * JSON: a boolean, a number, a string, or an array of one of them; of an empty one it is an array of strings.
 * Appends JSON of the same type; false for what is of another: `"x" is not a number`. */
bool rule_value_read(struct str given, bool is_json, struct str fallback, struct buf *out, struct err *err);
/* Returns the name of a default's type: "a list of strings". A literal. */
const char *rule_value_type(struct str fallback);

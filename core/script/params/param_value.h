/* A value that was given for a parameter, read as what its default is.
 * Owner: the caller's buffer. On any thread; raises nothing. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "script/params/params.h"

/* The value is JSON, or the text behind "=": "10", "true", "ghcr.io,docker.io". `fallback` is the default as
 * JSON: a boolean, a number, a string, or an array of one of them; of an empty one it is an array of strings.
 * Appends JSON of the same type; false for what is of another: `--param restarts: "x" is not a number`. A
 * secret is not shown. */
bool param_value_read(const struct param_given *given, bool is_secret, struct str fallback, struct buf *out,
                      struct err *err);
/* Returns the name of a default's type: "a list of strings". A literal. */
const char *param_value_type(struct str fallback);

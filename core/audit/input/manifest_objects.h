/* The objects of files for those that take all of them or none; see input.h for what such files are.
 * Owner: nothing is kept; what callbacks are given is borrowed for the call. Reads files: for commands only.
 */
#pragma once
#include "audit/input/input.h"

struct manifest_sink {
    /* False with an error ends the reading; file and line are put before it. */
    bool (*object)(void *ctx, const struct audit_input_parsed *object, struct err *err);
    void *ctx;
};

/* Up to the first that cannot be read, with an error that names file and line. ERR_INVALID for a file without
 * a document if `none_is_wrong` says what to write. */
bool manifest_objects(const char *const *paths, size_t count, const struct manifest_sink *sink,
                      const char *none_is_wrong, struct err *err);

/* Objects of files for callers that need all of them or none; input.h describes such files. Owner: stateless;
 * arguments of callbacks are borrowed for the call. Reads files: for commands only. */
#pragma once
#include "audit/input/input.h"

struct manifest_sink {
    /* Called for each object; false with an error ends the reading. File and line are put before the error.
     */
    bool (*object)(void *ctx, const struct audit_input_parsed *object, struct err *err);
    void *ctx;
};

/* Reads files up to the first that cannot be read, with an error that names file and line. ERR_INVALID for a
 * file without a document, if `none_is_wrong` says what to write. */
bool manifest_objects(const char *const *paths, size_t count, const struct manifest_sink *sink,
                      const char *none_is_wrong, struct err *err);

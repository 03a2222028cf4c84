/* All documents of a file of manifests as JSON: YAML with any number of them, or JSON, any number of objects
 * one behind another too, as `kubectl get -o json --watch` and `jq -c` print them.
 * Owner: nothing is kept. Reads a file: not from callbacks of a loop. */
#pragma once
#include "base/err.h"
#include "base/str.h"

/* Calls `document` with the text of each that is not empty, in order. ERR_IO; ERR_PARSE names file and line;
 * ERR_LIMIT for one of more than 64 MiB of JSON. */
bool yaml_documents(const char *path, void (*document)(void *ctx, struct str json), void *ctx,
                    struct err *err);

/* The objects of files: what `kubectl get -o json|yaml` prints, and manifests.
 * Owner: nothing is kept between calls. Reads files: for commands only, on the packer's thread. Callbacks may
 * not call back. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "object/pack.h"

struct audit_input_sink {
    /* An object; borrowed. `line` is where it begins in the file, from 1 up; 0: not known. False: stop. */
    bool (*object)(void *ctx, struct root *object, struct str file, size_t line);
    /* What could not be read, alone: `err` names file and place. What is left of the file is read on where
     * that is possible. */
    void (*refused)(void *ctx, const struct err *err);
    void *ctx;
};

struct audit_input_options {
    struct packer *packer;
    const struct audit_input_sink *sink;
};

struct audit_input_counts {
    size_t files, documents, objects;
};

/* `counts` are added to. False with an error that names the file, when it cannot be read at all. */
bool audit_input_read(const struct audit_input_options *options, const char *path,
                      struct audit_input_counts *counts, struct err *err);

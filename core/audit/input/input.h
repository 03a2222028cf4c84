/* Objects of files, directories and stdin: output of `kubectl get -o json|yaml`, and manifests; JSON and YAML
 * in every form that kubectl reads, also gzip or zstd. Only a window of a file and one object are in memory
 * at a time. Owner: stateless between calls. Reads files: for commands only, on the packer's thread.
 * Callbacks may not call back. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/input/input_files.h"
#include "base/err.h"
#include "object/pack/pack.h"
#include "object/pack/projection.h"
#include "object/parse/tape.h"

struct number_set;

enum { AUDIT_INPUT_OBJECT_MAX = 8 << 20 }; /* of one object's text, unless options say otherwise */

/* Bytes of all inputs as they are read, unpacked. */
struct input_total {
    uint64_t bytes, max;
};

/* An object; all is borrowed for the call. */
struct audit_input_object {
    struct root *root;
    struct str file;
    size_t line;                         /* where it begins in the file, from 1 */
    const struct projection *projection; /* projection it was packed by; NULL: complete */
    /* Packs it by another projection, or completely: a new reference. NULL if a part that was not read before
     * is malformed, which `refused` reports. */
    struct root *(*again)(void *text, const struct projection *projection);
    void *text; /* for `again` */
};

/* An object that is not packed; all is borrowed for the call. */
struct audit_input_parsed {
    const struct tape *tape;
    struct str api_version, kind; /* of an item that says none, those of its list; empty: nothing says */
    struct str file;
    size_t line;
};

struct audit_input_sink {
    /* False: stop, quietly. */
    bool (*object)(void *ctx, const struct audit_input_object *object);
    /* In its place if it is there: nothing is packed, no packer needed, and no name asked for. */
    bool (*parsed)(void *ctx, const struct audit_input_parsed *object);
    /* Called for an input that could not be read; only it is lost: `err` names file and position. The rest of
     * the file is read where that is possible. */
    void (*refused)(void *ctx, const struct err *err);
    void *ctx;
};

struct audit_input_options {
    struct packer *packer;
    const struct audit_input_sink *sink;
    /* Returns the projection of objects of that type; NULL function or result: everything. The projection
     * stays valid while the input is read; the function is called again after `again`. */
    const struct projection *(*projection_of)(void *ctx, struct str api_version, struct str kind);
    /* Returns whether a rule matches objects of that type: others are counted and skipped without being
     * packed; NULL: all are wanted. */
    bool (*wanted)(void *ctx, struct str api_version, struct str kind);
    /* Returns the namespace for objects of that type without one; NULL function, or empty: unchanged. Called
     * before `wanted`. */
    struct str (*namespace_of)(void *ctx, struct str api_version, struct str kind);
    /* Each that is skipped; NULL: nobody asks. */
    void (*skipped)(void *ctx, struct str api_version, struct str kind, struct str file, size_t line);
    /* Called for a document that is not a Kubernetes object, with neither a kind nor metadata, or that is a
     * kustomization, in a file that was found in a directory: such documents are skipped, and the first of
     * each file is reported here. With NULL, and in files that were named, they are refused. */
    void (*foreign)(void *ctx, struct str file, size_t line);
    /* A file that is among them is passed over, whatever its name is this time, and each that is read is
     * added; NULL: nobody asks. Not for stdin. */
    struct number_set *seen;
    bool recursive;                /* folders: also those below */
    struct input_exclude *exclude; /* what of them is left out; NULL: nothing */
    size_t max_object_size;        /* bytes of one object's text; 0: AUDIT_INPUT_OBJECT_MAX */
    const char *max_name;          /* of that limit, for messages; NULL: --max-object-size */
    struct input_total *total;     /* what all calls may read together; NULL: as much as there is */
    size_t window;                 /* bytes that are read ahead, about; 0: as many as are fast. For tests */
    /* Bytes read so far of the total (0: not known), for a progress bar; may be NULL. */
    void (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
};

struct audit_input_counts {
    size_t files, documents, objects, skipped, foreign;
};

/* `path` is a file, a folder (each *.json *.yaml *.yml *.ndjson in it, and with .gz or .zst behind), or "-",
 * stdin. `counts` are added to. False with an error that names the path, when nothing of it can be read. */
bool audit_input_read(const struct audit_input_options *options, const char *path,
                      struct audit_input_counts *counts, struct err *err);

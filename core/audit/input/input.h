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

struct input_share;
struct number_set;

enum { AUDIT_INPUT_OBJECT_MAX = 8 << 20 }; /* of one object's text, unless options say otherwise */
enum { INPUT_SHARE_LEAST = 8 << 20 };

/* Bytes of all inputs as they are read, unpacked. */
struct input_total {
    uint64_t bytes, max;
};

/* An object; everything is borrowed for the call. */
struct audit_input_object {
    struct root *root;
    struct str file;
    size_t line;                         /* its first line in the file, from 1 */
    const struct projection *projection; /* projection it was packed by; NULL: complete */
    /* Packs it by another projection, or completely; returns a new reference. Returns NULL if a part that was
     * not read before is malformed, which `refused` reports. */
    struct root *(*again)(void *text, const struct projection *projection);
    void *text; /* for `again` */
};

/* An object that is not packed; everything is borrowed for the call. */
struct audit_input_parsed {
    const struct tape *tape;
    struct str api_version, kind; /* for an item without them, those that its list declares; empty: unknown */
    struct str file;
    size_t line;
};

struct audit_input_sink {
    /* Called for each object; false stops the reading, without an error. */
    bool (*object)(void *ctx, const struct audit_input_object *object);
    /* Called instead of `object`, if set: nothing is packed, no packer is needed, and objects need no name.
     */
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
    /* Called for each skipped object; may be NULL. */
    void (*skipped)(void *ctx, struct str api_version, struct str kind, struct str file, size_t line);
    /* Called for a document that is not a Kubernetes object, with neither a kind nor metadata, or that is a
     * kustomization, in a file that was found in a directory: such documents are skipped, and the first of
     * each file is reported here. With NULL, and in files that were named, they are refused. */
    void (*foreign)(void *ctx, struct str file, size_t line);
    /* Files that were read, to skip them under any name; each file is added. NULL: files are not compared.
     * Not for stdin. */
    struct number_set *seen;
    bool recursive;                /* also reads directories below directories */
    struct input_exclude *exclude; /* omitted files of directories; NULL: none */
    size_t max_object_size;        /* bytes of one object's text; 0: AUDIT_INPUT_OBJECT_MAX */
    const char *max_name;          /* name of that limit, for messages; NULL: --max-object-size */
    struct input_total *total;     /* limit of all calls together; NULL: none */
    size_t window;                 /* approximate read-ahead in bytes; 0: the fastest. For tests */
    /* Has other processes read a large file; NULL: none do. Returns the number of pieces (input_share.h) that
     * are read, from the first on, and adds their line ends to `lines`. The rest is read here. */
    size_t (*share)(void *ctx, struct input_share *share, uint64_t *lines);
    size_t share_least; /* bytes of a file that are worth it; 0: INPUT_SHARE_LEAST */
    /* Bytes read so far of the total (0: not known), for a progress bar; may be NULL. */
    void (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
};

struct audit_input_counts {
    size_t files, documents, objects, skipped, foreign;
};

/* Reads `path`: a file, a directory (each *.json *.yaml *.yml *.ndjson in it, also with .gz or .zst), or "-",
 * stdin. Adds to `counts`. Returns false with an error that names the path if nothing of it can be read. */
bool audit_input_read(const struct audit_input_options *options, const char *path,
                      struct audit_input_counts *counts, struct err *err);

/* All documents of a file of manifests as JSON: YAML with any number of them, or JSON, any number of objects
 * one behind another too, as `kubectl get -o json --watch` and `jq -c` print them.
 * Owner: nothing is kept. Reads a file: not from callbacks of a loop. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "kube/config/yaml_file.h"
#include "object/parse/tape.h"

/* Calls `document` with the text of each that is not empty, in order. ERR_IO; ERR_PARSE names file and line;
 * ERR_LIMIT for one of more than 64 MiB of JSON. */
bool yaml_documents(const char *path, void (*document)(void *ctx, struct str json), void *ctx,
                    struct err *err);

/* --- The objects of such files. Owner: what callbacks are given is borrowed for the call. */

struct manifest_object {
    const struct tape *tape;
    size_t at;
    struct str api_version, kind; /* of an item that says none, those of its list; empty: nothing says */
    size_t number;                /* of the objects of the file, from 1 */
};

struct manifest_sink {
    /* Whether it takes the whole document; NULL: none is. */
    bool (*document)(void *ctx, const struct tape *tape);
    /* False with an error ends the reading; the file's name is put before it. */
    bool (*object)(void *ctx, const struct manifest_object *object, struct err *err);
    void *ctx;
};

/* Files one after the other. ERR_INVALID for one without a document if `none_is_wrong` says what to write. */
bool manifest_objects(const char *const *paths, size_t count, const struct manifest_sink *sink,
                      const char *none_is_wrong, struct err *err);

/* --- A YAML value as JSON, by YAML's core schema: what Kubernetes hands on of files without looking into it.
 * Owner: the caller's buffer. Not from callbacks. */

/* Appends it. What is too deep or too much, as by aliases inside of themselves, is written as null. */
void yaml_json(struct yaml_file *file, yaml_node_t *node, struct buf *out);
/* The same of up to 64 MiB; false when something was written as null for that. */
bool yaml_json_whole(struct yaml_file *file, yaml_node_t *node, struct buf *out);

/* --- All documents of a text as kubectl reads YAML (yaml_value.h). Owner: the caller's buffer. Any thread.
 */

struct yaml_source {
    struct str text;
    bool alone;               /* a second document is an error */
    size_t max;               /* bytes of the JSON */
    const char *max_name;     /* of that limit, for messages */
    bool (*stops)(void *ctx); /* asked all the while; NULL: never */
    void *ctx;
};

/* Appends a JSON array of them; those with nothing in them are left out. ERR_PARSE and ERR_LIMIT begin with
 * the line. ERR_CANCELLED: it stops. What was appended until then stays. */
bool yaml_read_source(const struct yaml_source *source, struct buf *out, struct err *err);

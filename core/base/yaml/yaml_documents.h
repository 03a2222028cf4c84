/* YAML as JSON: a node of a file that is read as a tree, and all documents of a text. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/yaml/yaml_file.h"

/* --- A YAML value as JSON, by YAML's core schema: for parts of files that Kubernetes passes on without
 * reading them. Owner: the caller's buffer. Not from callbacks. */

/* Appends the node. Values that are too deep or too long, as by aliases inside of themselves, are written as
 * null. */
void yaml_json(struct yaml_file *file, yaml_node_t *node, struct buf *out);
/* Like yaml_json, up to 64 MiB; returns false if it wrote null for a value. */
bool yaml_json_whole(struct yaml_file *file, yaml_node_t *node, struct buf *out);

/* --- All documents of a text as kubectl reads YAML (yaml_value.h). Owner: the caller's buffer. Any thread.
 */

struct yaml_source {
    struct str text;
    bool alone;               /* a second document is an error */
    bool first;               /* nothing behind the first document is read */
    bool as_go;               /* "\/" is an error, and errors are worded and ordered as by Go's YAML */
    size_t max;               /* bytes of the JSON */
    const char *max_name;     /* name of that limit, for messages */
    bool (*stops)(void *ctx); /* called repeatedly; true cancels; NULL: never */
    void *ctx;
};

/* Appends a JSON array of the documents; empty ones are omitted. ERR_PARSE and ERR_LIMIT begin with the line
 * (with `as_go`: "yaml: line 2: ", or "yaml: " where Go knows no line);
 * ERR_CANCELLED: `stops` returned true. Output so far stays in the buffer. */
bool yaml_read_source(const struct yaml_source *source, struct buf *out, struct err *err);

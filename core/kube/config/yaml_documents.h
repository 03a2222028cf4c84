/* YAML as JSON: a node of a file that is read as a tree, and all documents of a text. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "kube/config/yaml_file.h"

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

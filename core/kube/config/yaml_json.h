/* A YAML value as JSON, by YAML's core schema: what Kubernetes hands on of files without looking into it.
 * Owner: the caller's buffer. Not from callbacks. */
#pragma once
#include "base/buf.h"
#include "kube/config/yaml_file.h"

/* Appends it. What is too deep or too much, as by aliases inside of themselves, is written as null. */
void yaml_json(struct yaml_file *file, yaml_node_t *node, struct buf *out);
/* The same of up to 64 MiB; false when something was written as null for that. */
bool yaml_json_whole(struct yaml_file *file, yaml_node_t *node, struct buf *out);

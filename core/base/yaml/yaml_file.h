/* A YAML file as a tree of nodes, with errors that name file and line.
 * Owner: yaml_file_clear frees it; nodes and texts borrow from it. Reads a file: not from callbacks. */
#pragma once
#include <stdbool.h>
#include <yaml.h>

#include "base/err.h"
#include "base/str.h"

struct yaml_file {
    const char *path; /* borrowed */
    yaml_document_t document;
    bool loaded;
};

bool yaml_file_load(struct yaml_file *file, const char *path, struct err *err);
/* The same for the text of a file that was read already. */
bool yaml_file_parse(struct yaml_file *file, const char *path, struct str text, struct err *err);
void yaml_file_clear(struct yaml_file *file);
/* Returns the first document's value; NULL for an empty file. */
yaml_node_t *yaml_file_root(struct yaml_file *file);
/* Returns the value under `key` of a mapping; NULL if it is missing or null, or if `map` is NULL. */
yaml_node_t *yaml_get(struct yaml_file *file, yaml_node_t *map, const char *key);
/* Iterates the elements of a sequence: `*index` begins at 0; returns NULL at the end. */
yaml_node_t *yaml_next(struct yaml_file *file, yaml_node_t *sequence, size_t *index);
/* Iterates the entries of a mapping in the same way. */
yaml_node_t *yaml_next_entry(struct yaml_file *file, yaml_node_t *map, size_t *index, struct str *key);
/* Form of a node in JSON. */
enum yaml_form {
    YAML_FORM_NULL,
    YAML_FORM_TRUE,
    YAML_FORM_FALSE,
    YAML_FORM_NUMBER,
    YAML_FORM_TEXT,
    YAML_FORM_MORE
};
/* Returns the form by YAML's core schema; YAML_FORM_MORE is a sequence or a mapping. */
enum yaml_form yaml_form(const yaml_node_t *node);
/* Read as strictly as kubectl does; NULL and null are read as NULL or false, without an error. Errors say
 * what is wrong, never the content: "not a string". */
bool yaml_read_text(const yaml_node_t *node, struct str *out, struct err *err);
bool yaml_read_flag(const yaml_node_t *node, bool *out, struct err *err);
/* Returns whether the node is a sequence whose elements are strings. */
bool yaml_check_list(const yaml_node_t *node, struct err *err);
bool yaml_check_texts(struct yaml_file *file, yaml_node_t *node, struct err *err);
/* Returns the text of a scalar of any type; a NULL pointer for other nodes. */
struct str yaml_text(const yaml_node_t *node);

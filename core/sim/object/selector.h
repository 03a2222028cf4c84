/* Label and field selectors as an API server reads them (contract X-1..X-6); the engine has its own, on
 * purpose. Owner: the parse functions' caller frees by sim_selector_free. Immutable, so any thread may match.
 * Everything may be called anywhere. */
#pragma once
#include "sim/object/kind.h"

/* Fields of one object for field selectors; NULL is the empty string. */
struct sim_fields {
    const char *name, *namespace_;
    const char *phase, *node_name; /* status.phase and spec.nodeName */
    const json_t *object;          /* the complete object, read only if sim_selector_needs_object is true */
};

struct sim_selector;

/* Parses a label selector; returns NULL and a new string in `*message`, as the server words it, if `text` is
 * not a selector. "" and NULL select everything. */
struct sim_selector *sim_label_selector_parse(const char *text, char **message);
/* `labels` may be NULL, which is an object without labels. */
bool sim_selector_matches_labels(const struct sim_selector *selector, const json_t *labels);

/* Likewise for the fields of the kind. */
struct sim_selector *sim_field_selector_parse(const struct sim_kind *kind, const char *text, char **message);
bool sim_selector_matches_fields(const struct sim_selector *selector, const struct sim_fields *fields);
/* Returns whether a field other than the four strings is needed: then `object` must be set
 * (involvedObject.name of events). */
bool sim_selector_needs_object(const struct sim_selector *selector);
/* Returns whether its fields are those of one object; `placed`: its namespace is known. */
bool sim_selector_is_single(const struct sim_selector *selector, bool placed);
/* NULL is allowed. */
void sim_selector_free(struct sim_selector *selector);

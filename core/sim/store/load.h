/* Objects from files of JSON or YAML: one object or a List, one value or document after the other.
 * Owner: the store gets the objects. Called before the server starts. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "sim/store/api.h"

/* Loads a file, or the .json, .yaml and .yml files of a directory by name; returns false with an error that
 * names the file and the line, or document, and item. Creates missing namespaces. "-" is stdin. */
bool sim_load_file(struct sim_api *api, const char *path, struct err *err);
/* Likewise from a string. */
bool sim_load_text(struct sim_api *api, struct str text, struct err *err);
/* Stores an object, or the items of a List. */
bool sim_load_object(struct sim_api *api, json_t *object, struct err *err);
/* Stores the items of a List that came from a cluster by their text, part by part (api->list_parts).
 * Returns false, with nothing done, if one of them needs more than that: it has no uid, is of a kind that
 * changes what is served, or is odd. */
bool sim_load_list(struct sim_api *api, struct str text);
/* Creates a namespace that is not there. */
void sim_load_namespace(struct sim_api *api, const char *name);
/* Appends the complete file. */
bool sim_file_read(const char *path, struct buf *out, struct err *err);

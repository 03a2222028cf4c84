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
/* Appends the complete file. */
bool sim_file_read(const char *path, struct buf *out, struct err *err);

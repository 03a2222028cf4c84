/* Objects from files: one object, a List, or one object a line.
 * Owner: the store gets the objects. Called before the server starts. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "sim/store/api.h"

/* Loads a file; returns false with an error that names the file and the line or object. Creates missing
 * namespaces. "-" is stdin. */
bool sim_load_file(struct sim_api *api, const char *path, struct err *err);
/* Likewise from a string. */
bool sim_load_text(struct sim_api *api, struct str text, struct err *err);
/* Appends the complete file. */
bool sim_file_read(const char *path, struct buf *out, struct err *err);

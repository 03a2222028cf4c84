/* Versions of a kind that are stored as another one: what kinds.json says of their fields. Owner: see each.
 * May be called anywhere. */
#pragma once
#include "sim/object/kind.h"

/* Turns an object of the kind into one of the stored version, or back: returns the new one, takes the other.
 * A kind that is stored as it is has the same object. */
json_t *sim_to_stored(const struct sim_kind *kind, json_t *object);
json_t *sim_from_stored(const struct sim_kind *kind, json_t *object);
/* Returns what the stored version calls a field; a new string. */
char *sim_stored_path(const struct sim_kind *kind, const char *path);

/* Objects of a simulator in a file, so that they are there after a restart: each as it is stored, with uid
 * and version, packed by zstd in a checked file (base/checked_file.h). Owner: a copy belongs to who takes it.
 * Blocks on the disk. */
#pragma once
#include "base/err.h"
#include "sim/store/api.h"

struct sim_state;

/* Takes the present objects; costs a reference for each resource. Takes the store's lock. */
struct sim_state *sim_state_take(struct sim_store *store);
/* Version of the store at that time. */
uint64_t sim_state_version(const struct sim_state *state);
/* Writes the file, whole or not at all. ERR_IO names it. Without the store's lock, on any thread. */
bool sim_state_write(const struct sim_state *state, const char *path, struct err *err);
void sim_state_free(struct sim_state *state, struct sim_store *store);

/* Fills an empty store; `*found` is false if there is no such file. ERR_IO, or ERR_PARSE: it is not complete,
 * of another program or a newer one, of somebody else, or has a kind that is not served. The message begins
 * with the path. Call before anything is served. */
bool sim_state_read(struct sim_api *api, const char *path, bool *found, struct err *err);

/* Selectors of shards (contract A-7): objects whose uid or namespace hashes into one of some ranges. Owner:
 * sim_shard_free. Constant once parsed; any thread. */
#pragma once
#include "sim/object/object.h"

/* How a server treats them: without the feature; with it; or as one that filters, and does not say so. */
enum sim_sharding { SIM_SHARDS_OFF, SIM_SHARDS_ON, SIM_SHARDS_UNSAID };

struct sim_shard;

/* Parses a selector; NULL with a new string in `*message`, as the server words it. */
struct sim_shard *sim_shard_parse(const char *text, char **message);
bool sim_shard_has(const struct sim_shard *shard, const struct sim_object *object);
/* The selector in the form that lists repeat; borrowed. */
const char *sim_shard_text(const struct sim_shard *shard);
void sim_shard_free(struct sim_shard *shard);
/* Reads "off", "on" or "unsaid"; returns false for others. */
bool sim_sharding_read(const char *text, enum sim_sharding *sharding);

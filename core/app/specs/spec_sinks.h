/* Sinks of scripts under test: what was published, in memory, as the engine's sinks have it on disk. Owner:
 * the engine of the spec, longer than its engine; the spec reads it meanwhile. On one thread. */
#pragma once
#include "net/loop.h"
#include "script/server/sink.h"

struct spec_published {
    char *sink, *id, *key;
    struct buf json;
};

struct sinks *spec_sinks_new(struct loop *loop);
/* After the engine has gone. NULL is allowed. */
void spec_sinks_free(struct sinks *sinks);
/* Returns what was published, in order; borrowed until the next change. */
const struct spec_published *spec_sinks_published(const struct sinks *sinks, size_t *count);
/* From now on nothing can be stored, for this reason, so that publish waits; NULL: it can again. */
void spec_sinks_fail(struct sinks *sinks, const char *reason);

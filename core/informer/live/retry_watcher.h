/* Watch without a cache that survives the end of its streams: client-go's RetryWatcher (contract RW). Every
 * event after a version is delivered once and in order, until an ERROR ends it. Owner: the I/O thread.
 * Callbacks run on that thread, never from inside start; they may pause it, but not free it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "kube/api/list_watch.h"

struct retry_watcher_options {
    const char *name;             /* for logs: "pods", "pods in shop"; copied */
    struct list_watch *source;    /* taken, even if retry_watcher_new fails */
    struct clock *clock;          /* borrowed */
    const char *resource_version; /* delivers events after it; copied */
    uint64_t seed;                /* of timeoutSeconds */
    void (*event)(void *ctx, enum lw_event_type type, struct root *object); /* takes the reference */
    void (*error)(void *ctx, const struct err *err);                        /* the last call */
    void *ctx;
};

struct retry_watcher;

/* Returns whether a watch may begin at the version (RW-1): ERR_INVALID for "" and "0". */
bool retry_watcher_check_version(const char *resource_version, struct err *err);
/* Returns NULL and sets err if a watch cannot begin at the version. */
struct retry_watcher *retry_watcher_new(const struct retry_watcher_options *options, struct err *err);
void retry_watcher_start(struct retry_watcher *watcher);
/* Pauses or resumes reading from the network, so that a slow reader loses nothing. Events that were read
 * already are still delivered. */
void retry_watcher_pause(struct retry_watcher *watcher, bool paused);
void retry_watcher_free(struct retry_watcher *watcher);

/* Waits until a cache has caught up with a version: reading one's own writes (B-10). Owner: the shared
 * informer or the set that embeds the list; each wait belongs to its creator. On the engine thread. The
 * callback may add and cancel waits. */
#pragma once
#include <stdbool.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct version_wait;

struct version_waits {
    TAILQ_HEAD(version_wait_queue, version_wait) queue; /* oldest version first */
    struct buf notified;                                /* the version of the last notification */
};

void version_waits_init(struct version_waits *waits);
/* Clears the list. Pending waits are never called; each stays with its creator, who must cancel it. */
void version_waits_clear(struct version_waits *waits);
/* Adds a wait. Returns NULL with an error if `version` is not a resource version (RV-1). `reached` is called
 * once, never from in here; the wait is freed by then. `reader` identifies the reader for version_waits_move;
 * may be NULL. */
struct version_wait *version_waits_add(struct version_waits *waits, struct str version, const void *reader,
                                       void (*reached)(void *ctx), void *ctx, struct err *err);
/* Moves the waits of this reader to another store. Calls no callback. */
void version_waits_move(struct version_waits *from, struct version_waits *to, const void *reader);
/* Cancels and frees a wait that was not reached, even if its list was cleared. */
void version_wait_cancel(struct version_wait *wait);
/* Records that handlers were notified up to `now`; calls the waits for that version or an older one, by
 * version, then in the order in which they were added. */
void version_waits_notify(struct version_waits *waits, struct str now);
/* Returns the newest version of which handlers were notified; empty before the first. Borrowed. */
struct str version_waits_version(const struct version_waits *waits);
/* Returns whether a store at version `now` has `wanted`. A store whose version cannot be compared never has
 * it. */
bool version_reached(struct str now, struct str wanted);

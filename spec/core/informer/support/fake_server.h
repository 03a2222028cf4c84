/* A server of one resource in memory, as a list/watch source on a virtual clock: a history of versions, lists
 * in pages, watches from a version, compaction, and faults at every point, drawn from a seed (contract 1.13).
 * Owner: the spec; the reflector frees only the list_watch. */
#pragma once
#include <stdbool.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "informer/jitter.h"
#include "kube/list_watch.h"

enum { FAKE_KEYS = 12 };

enum fake_change_type { FAKE_CREATED, FAKE_UPDATED, FAKE_REMOVED };

struct fake_change {
    enum fake_change_type type;
    int key;
    struct root *object; /* with the version of the change */
};

struct fake_server {
    struct list_watch base;
    struct clock *clock;
    struct jitter jitter;
    struct fake_change *log; /* change i has version FAKE_FIRST + i */
    size_t count, cap;
    int64_t compacted; /* older versions are gone */
    int fault_percent; /* of lists, pages and looks at a watch */
    size_t lists, watches;
    int incarnation; /* makes uids */
    LIST_HEAD(, lw_call) calls;
};

enum { FAKE_FIRST = 100 };

struct list_watch *fake_server_init(struct fake_server *server, struct clock *clock, uint64_t seed);
void fake_server_clear(struct fake_server *server);
int64_t fake_server_version(const struct fake_server *server);
/* Creates, updates or deletes a key at random. */
void fake_server_change(struct fake_server *server);
void fake_server_compact(struct fake_server *server);
/* What is there now, or was at `version`: borrowed, NULL for absent, by key. */
void fake_server_state(const struct fake_server *server, int64_t version, struct root *state[FAKE_KEYS]);
/* The key of an object. */
int fake_key(const struct root *object);

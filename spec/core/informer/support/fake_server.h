/* A server of one resource in memory, as a list/watch source on a virtual clock: a history of versions, lists
 * in pages, watches from a version, watch-lists, compaction, and faults at every point, drawn from a seed
 * (contract 1.13). Owner: the spec; the reflector frees only the list_watch. */
#pragma once
#include <stdbool.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/time/backoff.h"
#include "kube/api/list_watch.h"

enum { FAKE_KEYS = 12, FAKE_FIRST = 100 };

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
    int64_t compacted;    /* older versions are gone */
    int64_t lag;          /* answers come from a replica that is so many versions behind; a list of the newest
                           * state and what is compacted are never behind */
    int fault_percent;    /* of lists, pages and looks at a watch */
    int refuse_percent;   /* of objects: the client cannot take them */
    bool refuse_nameless; /* and sometimes nobody knows which one it was */
    int silent_percent;   /* of watches: they stay open without a byte */
    bool ignores_initial_events; /* does not know watch-lists */
    bool no_end_bookmark;        /* knows them, and never says that the first state is whole */
    size_t lists, watches, watch_lists, refusals, nameless;
    int incarnation;         /* makes uids */
    struct lw_call *current; /* whose sink is called; NULL once it was cancelled */
    LIST_HEAD(, lw_call) calls;
};

struct list_watch *fake_server_init(struct fake_server *server, struct clock *clock, uint64_t seed);
void fake_server_clear(struct fake_server *server);
int64_t fake_server_version(const struct fake_server *server);
/* Creates, updates or deletes a key at random. */
void fake_server_change(struct fake_server *server);
/* A new version of each object that is there. */
void fake_server_touch_all(struct fake_server *server);
void fake_server_compact(struct fake_server *server);
/* Every version given out so far is too old, and open watches break off. */
void fake_server_expire(struct fake_server *server);
/* What is there now, or was at `version`: borrowed, NULL for absent, by key. */
void fake_server_state(const struct fake_server *server, int64_t version, struct root *state[FAKE_KEYS]);
/* The key of an object. */
int fake_key(const struct root *object);

/* State that all requests share: the store, the settings, the counters and the faults.
 * Owner: the server. Counters and settings may be changed from any thread. */
#pragma once
#include <stdatomic.h>

#include "base/buf.h"
#include "sim/store/store.h"

struct sim_settings {
    atomic_bool watch_cache;  /* lists with resourceVersion=0 ignore their limit, as from a watch cache */
    atomic_bool gzip;         /* responses may be compressed */
    atomic_int sharding;      /* an enum sim_sharding */
    atomic_llong bookmark_ms; /* between the bookmarks of a watch */
    atomic_llong
        terminate_ms; /* a deleted pod on a node is removed after its grace period, and at most so much */
};

struct sim_stats {
    atomic_uint_fast64_t requests, lists, watches, watch_lists, gets, writes;
    atomic_uint_fast64_t events, bookmarks; /* sent to watches */
    atomic_uint_fast64_t bytes;             /* of bodies, before compression */
    atomic_uint_fast64_t faults;
    atomic_int_fast64_t open_watches;
};

struct sim_request;
struct sim_reply;
struct sim_target;

/* A companion of the server, as controllers are: it owns the clock of the objects, and ends pods itself.
 * Owner: its creator, for longer than the server. */
struct sim_life {
    struct clock *clock;
    uint64_t first_version;
    /* Responds to a request that it knows, on a connection's thread; false: it does not. `target` is a
     * subresource, NULL for a path below /sim/. */
    bool (*serve)(void *ctx, const struct sim_request *request, const struct sim_target *target,
                  struct sim_reply *reply);
    void *ctx;
};

struct sim_faults;
struct sim_access;
struct sim_director;

/* Calls `part` with a List as if it had no items, and then with each item, as compact JSON, until that
 * returns false. Returns whether all were taken: false also if the text is not one valid List of objects, or
 * if it has numbers other than integers of 64 bits with a sign, or strings with a NUL. */
typedef bool sim_list_parts_fn(struct str text, bool (*part)(void *ctx, struct str text), void *ctx);

struct sim_api {
    struct clock *clock;         /* NULL: the real one */
    const struct sim_life *life; /* NULL: none */
    struct sim_store *store;
    struct sim_settings settings;
    struct sim_stats stats;
    struct sim_faults *faults;
    struct sim_access *access; /* NULL: nobody is asked who he is */
    struct sim_director *director;
    sim_list_parts_fn *list_parts; /* by a faster parser than ours, for large files; NULL without */
    bool checks_loads;             /* objects that are loaded have to have the types of their kinds */
    /* A deleted pod on a node waits for the end of its grace period. Called without the store's lock. May be
     * NULL. */
    void (*terminating)(void *ctx, const struct sim_served *served, const struct sim_object *object,
                        int64_t grace_ms);
    void *ctx;
};

static inline struct clock *sim_clock(const struct sim_api *api)
{
    return api->clock ? api->clock : clock_real();
}

static inline int64_t sim_now_s(const struct sim_api *api)
{
    enum { MICROS = 1000000 };
    return clock_wall_us(sim_clock(api)) / MICROS;
}

static inline bool sim_life_serves(const struct sim_api *api, const struct sim_request *request,
                                   const struct sim_target *target, struct sim_reply *reply)
{
    return api->life && api->life->serve(api->life->ctx, request, target, reply);
}

static inline void sim_count(atomic_uint_fast64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

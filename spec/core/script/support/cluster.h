/* A cluster that the spec plays by hand, with pods, nodes and deployments.apps, and scripts on it: the real
 * factory, informers and reflectors on one loop, on list/watch sources that say what they are told to say.
 * Owner: the spec. What cluster_clear finds alive in the pool is a leaked reference. */
#pragma once
#include "kube/api/list_watch.h"
#include "object/pack/pack.h"
#include "script/generation/script.h"
#include "script/vm/state.h"
#include "script/vm/turns.h"

enum { CLUSTER_SOURCES_MAX = 8, CLUSTER_CLAIMS_MAX = 2000 };

struct cluster_source {
    struct list_watch base;
    struct cluster *cluster;
    char plural[64], scope[256]; /* "shop|app=web|spec.nodeName=n1" */
    struct lw_call *call;
    struct lw_sink sink;
    void *ctx;
    enum lw_verb verb;
    bool freed;
};

struct cluster_claim {
    struct informer_claim *claim;
    struct script *script; /* that holds it */
};

struct cluster {
    struct loop *loop;
    struct shared_factory *factory;
    struct catalogue *catalogue;
    struct pool *pool;
    struct packer *packer;
    struct cluster_parts parts;
    struct script_host host;
    struct turns turns;
    struct virtual_clock clock; /* of the scripts, after cluster_setup_by_hand */
    struct script *script;      /* freed by cluster_teardown; may be NULL */
    struct script *told;        /* of claims that change; NULL: who holds them */
    struct cluster_claim loaded[CLUSTER_CLAIMS_MAX];
    size_t loaded_count;
    struct cluster_source sources[CLUSTER_SOURCES_MAX]; /* in the order in which they were started */
    size_t source_count;
    char folder[64];
    struct buf result;
    uint64_t version;
};

void cluster_init(struct cluster *c);
/* Scripts must have been freed. */
void cluster_clear(struct cluster *c);
/* For cmocka: the same, of a cluster that becomes the state. */
int cluster_setup(void **state);
int cluster_teardown(void **state);
/* What waits in a script waits for `clock`, which the spec moves. */
int cluster_setup_by_hand(void **state);

/* A source of lists and watches, the next of `sources`; `ctx` is the cluster. */
struct list_watch *cluster_new_source(void *ctx, const struct resource *resource,
                                      const struct lw_scope *scope);

/* Loads a script of this text; fails the test when it does not load. */
struct script *cluster_load(struct cluster *c, const char *name, const char *lua);
/* Has it told of its claims that change, as cluster_load does. Claims of scripts that were freed do not. */
void cluster_note_claims(struct cluster *c, struct script *script);
/* Why a script of this text does not load, until the next call; fails the test when it does. */
const char *cluster_load_error(struct cluster *c, const char *name, const char *lua);
/* Discovery answers; sources start. */
void cluster_resolve(struct cluster *c);
/* Runs the loop until nothing is left to do. */
void cluster_settle(struct cluster *c);

/* The list of a source ends with these objects, as "shop/web-1 app=web" with any number of labels, separated
 * by ";". Starts over with a new list when a watch is under way (410 first). */
void cluster_list(struct cluster *c, size_t source, const char *objects);
/* An event of a watch; cluster_feed leaves it to be handled with what comes next. */
void cluster_feed(struct cluster *c, size_t source, enum lw_event_type type, const char *object);
void cluster_event(struct cluster *c, size_t source, enum lw_event_type type, const char *object);

/* Runs the text in the script, gives what tostring makes of its result, or "raised: " and the error. */
const char *cluster_ask(struct cluster *c, struct script *script, const char *lua);
#define assert_ask(c, script, lua, expected) assert_string_equal(cluster_ask(c, script, lua), expected)

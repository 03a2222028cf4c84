/* Functions of the process for its scripts, and callbacks for the outcome of their calls.
 * Owner: the engine, longer than its scripts. On the engine thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "informer/leader/leadership.h"
#include "informer/shared/shared_factory.h"
#include "net/loop.h"

struct write_log;
struct cpu_watch;
struct event_recorder;
struct history;
struct kinds;
struct limits;
struct live_client;
struct log_field;
struct params;
struct running;
struct script;
struct shards;
struct sinks;
struct state_store;
struct turns;
struct web;
struct webhook_paths;

enum write_mode {
    WRITES_SENT,
    WRITES_TRIED,    /* --dry-run=server: sent with dryRun=All */
    WRITES_RECORDED, /* --dry-run=client: never sent */
};

/* Of tests, instead of stdout, the log and /metrics; NULL: none. `call` is "handler", "worker", ... The texts
 * are borrowed for the call, which may not call back. */
struct script_hooks {
    void (*print)(void *ctx, struct str line);
    void (*failed)(void *ctx, const char *call, const char *error, const char *traceback,
                   const struct log_field *about);
    void *ctx;
    const void *metrics_page; /* of k8s.metric, see base/series/user_metric.h; NULL: that of the process */
};

/* Parts of a cluster that scripts use; a second cluster is a second one of these. Owner: the engine's
 * cluster, or the owner of scripts without a server. */
struct cluster_parts {
    struct shared_factory *factory;
    struct kinds *kinds; /* meaning of the names of kinds */
    /* NULL when there is no server. */
    struct live_client *live; /* reads without a cache, and writes */
    struct leaders *leaders;  /* elections */
    struct event_recorder *recorder;
    struct shards *shards;   /* replicas that share objects; NULL: there is this one alone */
    struct history *history; /* last versions of objects; NULL also when none are kept */
    const char *name;        /* NULL: the home cluster, which scripts mean without a name */
    bool comes_and_goes;     /* with a Secret */
    size_t *users;           /* number of holds (cluster_hold); NULL: it outlives all scripts */
};

/* The clusters by name, of which the home cluster has one too. */
struct cluster_names {
    /* Returns NULL if there is none. */
    const struct cluster_parts *(*find)(void *ctx, struct str name);
    /* Returns the name of number `at`, the home cluster first, and sets its id, which no other has or had;
     * NULL after the last. NULL: names are not known. */
    const char *(*at)(void *ctx, size_t at, uint64_t *id);
    /* Returns a number that changes when one comes or goes. Likewise. */
    uint64_t (*changes)(void *ctx);
    void *ctx;
};

/* Host of scripts: what the process offers to them; outlives them all. */
struct script_host {
    const struct cluster_parts *cluster; /* never NULL, its members may be */
    struct cluster_names clusters;       /* `find` NULL: it is the only one */
    struct loop *loop;
    struct clock *clock;            /* NULL: the loop's */
    struct turns *turns;            /* of all of them together */
    int64_t resync_ms;              /* of handlers that do not say; 0: never (I-15) */
    struct web *web;                /* requests of http.request; NULL: there is no network */
    struct webhook_paths *webhooks; /* of all scripts; NULL: none is called */
    struct running *running;        /* where calls are noted for other threads; NULL: nowhere */
    struct cpu_watch *watch;        /* of the engine thread; NULL: count hooks see how long calls take */
    enum write_mode write_mode;
    const char *const *dry_runs; /* "SCRIPT=client": instead, of the script with that name or path */
    size_t dry_run_count;        /* items without '=' are of no script */
    /* Log message of a write under WRITES_RECORDED, a literal; NULL: a message that the user requested it. */
    const char *not_sent;
    struct write_log *audit; /* of writes; NULL for none */
    /* Where k8s.state with keep = "file" is kept; NULL: nowhere. */
    struct state_store *state_files;
    struct state_store *state_maps; /* likewise, "configmap" */
    struct sinks *sinks;            /* of k8s.sink; NULL: nothing is delivered */
    /* Flag that gives both: a script that needs one is refused without; NULL: such states are as others. */
    const char *lacks_state_files;
    const char *field_manager;     /* of writes; NULL: "kubelua" */
    struct lease_config lease;     /* what k8s.leader does not say */
    bool any_lease;                /* its namespace is nobody's: nothing is said of leases elsewhere */
    bool elects;                   /* scripts that do not call it take part in that one */
    const char *default_namespace; /* of those that do not say; "" all namespaces */
    struct script_hooks hooks;
    /* Returns whether the engine rolls back the generation, because what has this id exceeded its limits too
     * often; NULL: never. */
    bool (*is_given_up)(void *ctx, const struct script *script, const char *id);
    void *is_given_up_ctx;
    /* Notes that handlers were attached late: mains may wait for their initial objects. NULL: nobody waits.
     */
    void (*attached)(void *ctx);
    void *attached_ctx;
    /* Returns whether an earlier run, whose caches this one continues, had the handler and it was caught up.
     * NULL: there is none. */
    bool (*knew_handler)(void *ctx, const char *script, const char *handler);
    void *knew_ctx;
    const struct limits *limits; /* NULL: the defaults */
    bool runs_rules;             /* false: claims of rules stay suspended (shared_factory.h) until resumed */
    const struct params *params; /* that the operator gave; NULL: none */
    bool lacks_params;           /* required ones may have no value: the script is only looked at */
    const char *const *trusted;  /* scripts with JIT and without CPU budgets, by name or path */
    size_t trusted_count;
    const char *const *lua_path; /* folders of the operator with modules, behind that of the script */
    size_t lua_path_count;
    bool notes_functions;     /* inventories have the places of functions, to show them to users */
    bool knows_missing_kinds; /* the driver itself logs which kinds are not there */
    bool print_waits; /* `exec`: a full stdout holds the script up; `run`: the line is counted, not written */
};

/* Returns the cluster with this name; NULL if there is none. */
static inline const struct cluster_parts *cluster_named(const struct script_host *host, struct str name)
{
    return host->clusters.find ? host->clusters.find(host->clusters.ctx, name) : NULL;
}

/* Holds the parts for who keeps a pointer to them beyond a call, and returns them. */
static inline const struct cluster_parts *cluster_hold(const struct cluster_parts *parts)
{
    if (parts->users) ++*parts->users;
    return parts;
}

/* Once for each hold. NULL is allowed. */
static inline void cluster_let_go(const struct cluster_parts *parts)
{
    if (parts && parts->users) --*parts->users;
}

enum script_result {
    SCRIPT_OK,
    SCRIPT_YIELDED,
    SCRIPT_ERROR,
    SCRIPT_CPU_LIMIT,
    SCRIPT_MEMORY_LIMIT,
    SCRIPT_CANCELLED
};

struct script_counters {
    uint64_t adds, updates, deletes; /* calls of handlers */
    uint64_t errors; /* calls of any of its functions that failed: handlers, filters, workers, timers,
                        main, transforms, index functions */
    uint64_t failed_writes;
    int64_t failed_us;  /* wall clock of the last such error; 0: none yet */
    int64_t failing_us; /* and of the first one since which there was no minute without */
};

/* Number of calls that wait for a rate limit, and how long the first has waited. */
struct pace_status {
    size_t waiting;
    int64_t longest_ms;
};

/* Number of calls into its functions, and of failed calls, in one generation alone. */
struct script_tally {
    uint64_t calls, failed;
};

/* The end of k8s.main. */
typedef void script_main_done(void *ctx, enum script_result result, int exit_code);

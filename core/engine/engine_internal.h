/* Internals of the engine, shared by its files: engine.c defines the order of start and stop, engine_parts.c
 * creates the parts, engine_kinds.c resolves kinds by discovery, engine_scripts.c owns the scripts,
 * engine_leaders.c their elections; cluster.h is the state of one cluster. Owner: the driver that created the
 * engine; on the engine thread. */
#pragma once
#include "base/series/series.h"
#include "engine/cluster_secrets.h"
#include "engine/engine_view.h"
#include "engine/reload/reload.h"
#include "script/server/write_log.h"
#include "script/vm/running.h"
#include "script/vm/turns.h"

enum { ENGINE_MESSAGE_MAX = 128 }; /* of the log, with a name of a setting */

struct engine_summary {
    struct script_counters calls;
    size_t unhandled; /* events */
};

struct engine_shards;
struct webhook_listener;

struct engine {
    struct engine_options options;
    struct loop *loop;
    struct cluster *cluster; /* the home cluster */
    struct clusters clusters;
    struct cluster_secrets *cluster_secrets; /* NULL: none */
    struct web *web;
    struct state_store *state_files;   /* NULL: there is no directory */
    struct state_store *state_maps;    /* states in ConfigMaps; NULL: another store has them */
    struct sinks *sinks;               /* NULL: nothing is delivered */
    bool owns_sinks;                   /* they are not of the options */
    struct webhook_listener *listener; /* of webhooks; NULL: nothing is listened to */
    struct webhook_paths *paths;       /* of webhooks; of the listener, if there is one */
    struct write_log *audit;           /* writes of scripts */
    struct script_host host;
    const struct setting_names *names; /* never NULL */
    struct turns turns;
    struct running running;  /* other threads read it */
    struct cpu_watch *watch; /* NULL: the system has no thread CPU timer */
    struct managed_scripts scripts;
    struct signal_watch *on_hangup; /* on the I/O thread; NULL: SIGHUP is not handled */
    struct mail hangup;             /* to the engine thread */
    _Atomic bool hangup_posted;
    struct engine_continuous *report; /* continuous audits; NULL: none */
    struct engine_warm *warm;         /* stored caches; NULL: none */
    int refreshes;                    /* consecutive discovery refreshes while kinds are missing */
    int64_t refresh_due_ms;           /* due time of the last refresh */
    bool writes_checked;              /* k8s.writes was compared with discovery, once */
    bool history_checked;             /* unknown kinds of the history were logged */
    bool params_logged;               /* a parameter without a rule was logged */
    bool started;
    int64_t started_us;
    struct engine_summary summary; /* counters of scripts that have ended */
    struct timer check; /* starts main functions that are ready, outside of callbacks of the factory */
    struct timer drain; /* checks whether calls in flight have ended */
    int64_t ending_ms;  /* start of the shutdown; 0 before */
    struct timer step_down_timer; /* checks whether functions for the end of leadership have ended */
    bool competes;                /* for leases */
    bool releasing;               /* leases are being released; ends with `step_down_timer` */
    unsigned unreleased;          /* of elections and shards: what is being released */
    struct engine_shards *shards; /* share of this replica; NULL: there is no group */
    bool stopping;
    enum engine_outcome outcome;
    struct buf refused; /* lines about kinds that no group serves, for which the start is refused */
};

/* --- engine.c */

/* End of each phase of the shutdown, in hundredths of the shutdown timeout. Freeing the engine takes the
 * rest. */
enum end_part { END_CALLS = 90, END_SINKS = 93, END_LEASES = 95, END_EVENTS = 97 };
/* Like engine_stop, with another outcome. */
void engine_stop_as(struct engine *engine, enum engine_outcome outcome);
/* Starts the shutdown, unless it has started. */
void engine_begin_end(struct engine *engine);
/* Marks the state that the status shows as changed. */
void engine_touch(struct engine *engine);
/* Returns the time left for a phase; 0 when it is over. */
int64_t engine_end_left_ms(const struct engine *engine, enum end_part part);

/* --- engine_parts.c */

/* Creates an empty managed script for each file. */
void engine_make_scripts(struct engine *engine);
/* Takes the clusters beside the home cluster. */
void engine_take_clusters(struct engine *engine);
/* Creates the parts that threads and scripts need. Returns false and sets err on failure; engine_free frees
 * those that exist by then. */
bool engine_make_parts(struct engine *engine, struct err *err);

/* --- engine_warm.c */

/* Creates what stores caches, if the cluster has a place for them. After the host. */
void engine_make_warm(struct engine *engine);
/* Returns whether informers cannot start yet, as it is not known whether the stored caches are this
 * cluster's; asks the server then, and engine_found_kinds is called again. */
bool engine_awaits_cluster(struct engine *engine);
/* Releases stored caches that no informer of the start took. */
void engine_end_warm_start(struct engine *engine);
/* Saves the caches a last time; before scripts and informers end. */
void engine_save_caches(struct engine *engine, int64_t wait_ms);
/* While the cluster's parts exist. */
void engine_free_warm(struct engine *engine);

/* --- engine_kinds.c */

/* Called when a discovery refresh has succeeded. */
void engine_found_kinds(void *engine, const struct catalogue *catalogue);
/* Called when a discovery refresh has failed. */
void engine_failed_kinds(void *engine, const struct err *err);
/* Resolves the kinds of claims of scripts that start. */
void engine_update_kinds(struct engine *engine, const struct catalogue *catalogue);
/* Schedules a discovery refresh because a kind is missing. */
void engine_refresh_kinds_soon(struct engine *engine);
/* Resolves the kinds of claims that have no informer yet. */
void engine_resolve_kinds(struct engine *engine);
/* Warns about kinds in k8s.writes of a script that the server does not have. */
void engine_check_writes_of(struct engine *engine, const struct script *script);

/* --- engine_scripts.c */

/* Loads all scripts and logs each fault. Returns false if there was one. */
bool engine_load_scripts(struct engine *engine);
/* Schedules a check for scripts that are ready for their main, outside of any callback. */
void engine_check_soon(struct engine *engine);
void engine_on_check(struct timer *timer);
/* Notes a change of a claim of any cluster. */
void engine_note_claim(struct engine *engine, struct informer_claim *claim);
/* Callbacks of the informer factory. */
void engine_claim_changed(void *engine, struct informer_claim *claim);
/* Tells scripts that claims have synced, or will not for the time being. */
void engine_claims_settled(struct engine *engine);
void engine_claim_synced(void *engine, const char *informer, size_t objects);
/* Returns the sums of the counters of all scripts. Call while the scripts exist. */
struct engine_summary engine_sum_up(const struct engine *engine);
/* Logs the last line of a run. */
void engine_log_summary(const struct engine_summary *summary);

/* --- engine_kinds.c: kinds of rules */

/* Names without duplicates, one a line (`all`), and the first of them as the log shows them (`shown`). */
struct skipped_names {
    struct buf all, shown;
    size_t count;
};
/* Kinds that the server was found not to have, and the rules that need them. */
struct skipped_kinds {
    struct skipped_names kinds, rules;
};
/* Suspends the claim and returns true if the server lacks its kind and only rules need it: a server may do
 * without such a kind, so nothing waits for it. */
bool engine_skip_kind(const struct engine *engine, const struct script *script, struct informer_claim *claim,
                      const struct catalogue *catalogue, struct skipped_kinds *skipped);
/* Logs the skipped kinds, and clears them. */
void engine_log_skipped(struct skipped_kinds *skipped);
/* Resumes suspended claims whose kind the server has by now; call shared_factory_resolve next. Returns true
 * if claims without a kind remain. */
bool engine_take_kinds(const struct engine *engine, const struct catalogue *catalogue);

/* --- engine_scripts.c: parameters of rules */

/* Returns false and sets err if activating the incoming generation would leave a parameter without a rule:
 * its rule would be gone unnoticed. A rule that moves to another script that changes too is no loss. */
bool engine_params_stay(void *engine, const struct managed_script *managed, struct err *err);
/* Warns, once, about parameters without a rule. Call after scripts may have gone. */
void engine_warn_params(struct engine *engine);

/* --- engine_leaders.c */

/* Called when the holder of one of the leases has changed. */
void engine_leadership_changed(void *engine);
/* Joins the elections that loaded scripts asked for, but not in a dry run. */
void engine_start_leaders(struct engine *engine);
/* Ends leadership of scripts, then releases leases (L-8), then stops the loop. */
void engine_step_down(struct engine *engine);
void engine_on_step_down(struct timer *timer);

/* --- engine_shards.c: each does nothing without a group */

/* Once the cluster is there. */
void engine_make_shards(struct engine *engine);
/* Joins the group of replicas. */
void engine_start_shards(struct engine *engine);
/* Called when the slots of this replica may have changed. */
void engine_shards_changed(void *engine);
/* Returns whether this replica is a member of a group. */
bool engine_shares(const struct engine *engine);
/* Warns of kinds that the operator shares and the server lacks: once, and no error, as they may come later.
 */
void engine_check_shard_kinds(const struct engine *engine);
/* Before the caches end: nothing of them moves from then on. */
void engine_end_shards(struct engine *engine);
void engine_free_shards(struct engine *engine);

/* --- engine_moves.c */

/* Moves of objects after many have gone, in pieces between which the engine goes on. Begins zeroed. */
struct engine_moves {
    struct engine *engine;
    struct timer timer;
    bool runs, again; /* a pass is under way; another one is wanted behind it */
    size_t cluster;   /* whose caches it is at */
    struct moved_caches at;
    size_t unused;    /* bytes before the pass */
    unsigned useless; /* passes in a row */
    int64_t spent_ns;
};
/* Starts a pass soon, if enough memory would be won. */
void engine_moves_start(struct engine_moves *moves, struct engine *engine);
void engine_moves_end(struct engine_moves *moves);

/* --- engine_audits.c: each does nothing without continuous audits */

void engine_make_continuous(struct engine *engine);
/* Called when a cache has synced. */
void engine_continuous_claims_changed(struct engine *engine);
/* Replaces `before` by `now` in the continuous audit; either may be NULL. Call before `before` is freed. */
void engine_continuous_take(struct engine *engine, struct script *before, struct script *now);
/* Called when the holder of the lease of the host has changed. */
void engine_continuous_leadership(struct engine *engine);
/* Stops evaluating rules. */
void engine_end_continuous(struct engine *engine);
/* Frees the continuous audit. Call before scripts are freed. */
void engine_free_continuous(struct engine *engine);

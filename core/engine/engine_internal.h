/* Internals of the engine, shared by its files: engine.c has the order of start and stop, engine_parts.c
 * creates what it starts, engine_kinds.c resolves the kinds that scripts need by discovery, engine_scripts.c
 * has the scripts themselves, engine_leaders.c their elections; cluster.h has what is of one cluster. Owner:
 * the driver that made the engine; the engine thread. */
#pragma once
#include "base/series/series.h"
#include "engine/engine_view.h"
#include "engine/reload/reload.h"
#include "script/server/write_log.h"
#include "script/vm/running.h"
#include "script/vm/turns.h"

struct engine_summary {
    struct script_counters calls;
    size_t unhandled; /* events */
};

struct engine {
    struct engine_options options;
    struct loop *loop;
    struct cluster *cluster;
    struct web *web;
    struct write_log *audit; /* of what scripts write */
    struct script_host host;
    struct turns turns;
    struct running running;         /* read by other threads */
    struct cpu_watch *watch;        /* NULL: the system has no such timer */
    struct managed_scripts scripts; /* of the scripts */
    struct signal_watch *on_hangup; /* of the I/O thread; NULL for `exec` without an audit log */
    struct mail hangup;             /* to the engine thread */
    _Atomic bool hangup_posted;
    struct engine_continuous *report; /* continuous audits; NULL without --report */
    int refreshes;                    /* of discovery in a row, as kinds are missing */
    int64_t refresh_due_ms;           /* when the last of them was due */
    bool writes_checked;              /* the kinds in k8s.writes, once */
    bool params_logged;               /* that a parameter is of no rule any more */
    bool started;
    int64_t started_us;
    struct engine_summary summary; /* of scripts that have ended */
    struct timer check; /* looks for scripts whose main can run, outside of any callback of the factory */
    struct timer drain; /* looks whether the calls in progress have ended */
    int64_t ending_ms;  /* when the end began; 0 before */
    int drained_code;
    struct timer step_down_timer; /* looks whether functions for the end of leadership have ended */
    bool competes;                /* for leases */
    bool releasing;               /* leases are being given back; `farewell` is the end of that */
    bool stopping;
    int exit_code;
};

/* --- engine.c */

/* End of each part of the shutdown, in hundredths of --shutdown-timeout. The rest is for freeing the
 * engine. */
enum end_part { END_CALLS = 90, END_LEASES = 95, END_EVENTS = 97 };
/* The end begins, unless it has. */
void engine_begin_end(struct engine *engine);
/* Notes that the shown state of the engine has changed. */
void engine_touch(struct engine *engine);
/* Returns the time left for the part; 0 when it is over. */
int64_t engine_end_left_ms(const struct engine *engine, enum end_part part);

/* --- engine_parts.c */

/* Makes the places of scripts, empty. */
void engine_make_scripts(struct engine *engine);
/* Makes the parts that threads and scripts need. False: one cannot be had; engine_free takes those that were
 * made. */
bool engine_make_parts(struct engine *engine, struct err *err);

/* --- engine_kinds.c */

/* Discovery has responded. */
void engine_found_kinds(void *engine, const struct catalogue *catalogue);
/* Discovery has failed. */
void engine_failed_kinds(void *engine, const struct err *err);
/* Claims of scripts that start are looked up in what is known of the server. */
void engine_update_kinds(struct engine *engine, const struct catalogue *catalogue);
/* A kind is missing: discovery is refreshed before long. */
void engine_refresh_kinds_soon(struct engine *engine);
/* Claims that have no informer are looked up in what is known of the server. */
void engine_resolve_kinds(struct engine *engine);
/* Warns of writes that a script declared, of kinds that the server does not have. */
void engine_check_writes_of(struct engine *engine, const struct script *script);

/* --- engine_scripts.c */

/* Loads them all and names each fault; false when there was one. */
bool engine_load_scripts(struct engine *engine);
/* A script may have become ready for its main: to be looked at outside of any callback. */
void engine_check_soon(struct engine *engine);
void engine_on_check(struct timer *timer);
/* The factory's callbacks. */
void engine_claim_changed(void *engine, struct informer_claim *claim);
void engine_claim_synced(void *engine, const char *informer, size_t objects);
/* Returns the sums of what all scripts did; call while they exist. */
struct engine_summary engine_sum_up(const struct engine *engine);
/* The last line of the log. */
void engine_log_summary(const struct engine_summary *summary);

/* --- engine_kinds.c: kinds of rules */

/* Each once, in lines, and the first of them as they are shown. */
struct skipped_names {
    struct buf all, shown;
    size_t count;
};
/* Kinds that the server was found not to have, and the rules that need them. */
struct skipped_kinds {
    struct skipped_names kinds, rules;
};
/* Returns whether nobody waits for the claim's kind, which the server does not have: only rules need it, and
 * a server may do without. The claim is suspended then. */
bool engine_skip_kind(const struct engine *engine, const struct script *script, struct informer_claim *claim,
                      const struct catalogue *catalogue, struct skipped_kinds *skipped);
/* Logs it, and clears it. */
void engine_log_skipped(struct skipped_kinds *skipped);
/* Claims whose kind the server has by now are held no more, until shared_factory_resolve. True: there are
 * others.
 */
bool engine_take_kinds(const struct engine *engine, const struct catalogue *catalogue);

/* --- engine_scripts.c: parameters of rules */

/* False when it is the incoming generation of this managed script by which a parameter is of no rule any
 * more: rules would run on their defaults, and nobody would know. A rule that goes to another script which
 * changes too is no loss. */
bool engine_params_stay(void *engine, const struct managed_script *managed, struct err *err);
/* Scripts may have gone: warns, once, of what is of no rule any more. */
void engine_warn_params(struct engine *engine);

/* --- engine_leaders.c */

/* Called when the holder of one of the leases has changed. */
void engine_leadership_changed(void *engine);
/* Scripts have loaded: they compete for the leases that they asked for, but under --dry-run. */
void engine_start_leaders(struct engine *engine);
/* Scripts lead no more, then leases are given back (L-8), then the loop ends. */
void engine_step_down(struct engine *engine);
void engine_on_step_down(struct timer *timer);

/* --- engine_audits.c: each does nothing without --report */

void engine_make_continuous(struct engine *engine);
/* A cache has synced. */
void engine_continuous_claims_changed(struct engine *engine);
/* The script runs where `before` did; either may be NULL. Before `before` is dropped. */
void engine_continuous_take(struct engine *engine, struct script *before, struct script *now);
/* Called when the holder of the lease of --leader-elect has changed. */
void engine_continuous_leadership(struct engine *engine);
/* No rule is evaluated any more. */
void engine_end_continuous(struct engine *engine);
/* Before the scripts go. */
void engine_free_continuous(struct engine *engine);

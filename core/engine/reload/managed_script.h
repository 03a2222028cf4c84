/* The places of an engine's scripts: one for each file, with the generation of it that runs, one that is
 * about to follow, and those that run out. Owner: the engine, on its thread. Generations are `struct
 * script`s; `generations` has all of them, a managed script says which is which. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/series/series.h"
#include "engine/reload/reload_probation.h"
#include "net/loop.h"
#include "script/generation/handover.h"

struct bundle;
struct err;
struct reload_metrics;
struct script;
struct script_watch;
struct managed_script;
struct managed_scripts;

/* Functions that managed scripts need of their engine. On its thread; none of them may add or remove a
 * managed script. */
struct managed_scripts_hooks {
    /* Claims of incoming generations are looked up in what is known of the server; nothing, when that is
     * nothing yet.
     */
    void (*resolve_kinds)(void *ctx);
    /* Refreshes the kinds of the server again. */
    void (*refresh_kinds)(void *ctx);
    /* False: the script's incoming generation would leave a parameter of the operator's to no rule. */
    bool (*params_stay)(void *ctx, const struct managed_script *managed, struct err *err);
    /* The script runs where `before` did; either may be NULL. Before `before` is dropped. */
    void (*activated)(void *ctx, struct script *before, struct script *now);
    /* The script is the running generation from now on. */
    void (*now_running)(void *ctx, const struct script *script);
    /* All files were looked at: scripts may have gone. */
    void (*scanned)(void *ctx);
    void *ctx;
};

struct managed_scripts_options {
    struct loop *loop;
    const struct script_host *host;
    const char *const *files; /* files and folders that are looked at again; borrowed */
    size_t file_count;
    int64_t reload_timeout_ms, reload_probation_ms;
    bool is_counted; /* reloads are in the series of /metrics */
    struct managed_scripts_hooks hooks;
};

struct managed_scripts {
    struct managed_scripts_options options;
    struct managed_script **items; /* one for each file; in their order */
    size_t count;
    struct script **generations; /* of all scripts */
    size_t generation_count;
    struct draining *draining;
    size_t draining_count;
    char **names; /* of scripts, for as long as the engine lives */
    size_t name_count;
    struct reload_metrics *metrics; /* NULL: nothing is counted */
    struct script_watch *watch;     /* of the scripts' files; NULL: nobody tells */
    struct timer rescan;            /* at files that may be on their way */
    struct timer probation;         /* judges new generations; see reload_probation.h */
    bool ending;                    /* no generation follows any more */
};

struct managed_script {
    struct managed_scripts *scripts;
    const char *name, *path; /* kept by `scripts` as long as they live */
    struct script *running;  /* NULL: there is none yet, or none any more */
    struct script *incoming; /* NULL: none waits for its turn */
    uint64_t made;           /* generations so far */
    uint64_t tried;          /* loads so far, and files that were no script */
    bool main_started;
    bool gone;                    /* its file is no more, and it is to go too */
    bool lost;                    /* file is missing; already logged */
    int64_t missing_ms, empty_ms; /* since when its file is; 0: it is not */

    /* Incoming generation. */
    struct timer ready;         /* checks whether it may be activated */
    struct timer drain;         /* checks whether generations have drained */
    int64_t refuse_ms;          /* then it has waited too long */
    int64_t began_us;           /* wall time of its load */
    const char *why;            /* it was loaded: a literal */
    struct buf waits_for;       /* as the status tells it */
    struct buf unknown;         /* a kind that the server does not have, and where it is asked for */
    bool refreshed;             /* the kinds of the server were, for this */
    bool builds;                /* indexes, a part in each turn */
    struct bundle *rollback_of; /* bundle that a rollback in progress replaces; NULL: none in progress */
    struct buf rollback_why;

    /* Previous generation. */
    struct bundle *previous;  /* of the generation before the running one; NULL: there was none */
    uint64_t previous_number; /* that generation */
    int64_t previous_us;      /* when it began; 0: with the engine */
    struct bundle *refused;   /* files that are not what runs: refused, or returned from; NULL: none */
    struct buf error;         /* why; empty: nothing is wrong */
    int64_t error_us;
    bool rolled_back;     /* the running one has the text of the one before */
    int64_t activated_us; /* when the running one began; 0: with the engine */
    uint64_t pause_us;    /* how long the engine thread took for that */
    struct handover done; /* what it took over */

    struct probation probation;
    struct series *memory, *load, *generation, *is_refused; /* made when they are first shown */
};

/* An old generation that drains. */
struct draining {
    struct script *script;
    struct managed_script *managed;
    int64_t until_ms;
};

/* The first of all; managed_scripts_clear is due. */
void managed_scripts_init(struct managed_scripts *scripts, const struct managed_scripts_options *options);
/* Drops all generations, and the managed scripts. */
void managed_scripts_clear(struct managed_scripts *scripts);

/* Without a generation yet. */
struct managed_script *managed_script_add(struct managed_scripts *scripts, const char *path,
                                          const char *name);
/* NULL when there is none of that name. */
struct managed_script *managed_script_find(const struct managed_scripts *scripts, const char *name);
/* Returns the managed script whose incoming generation the script is; NULL: there is none. */
struct managed_script *managed_script_of_incoming(const struct managed_scripts *scripts,
                                                  const struct script *script);
/* Its generations have been dropped. */
void managed_script_remove(struct managed_script *managed);

/* Loads a generation; it is neither running nor incoming yet. `bundle` may be NULL. */
struct script *managed_script_load(struct managed_script *managed, struct bundle *bundle, struct err *err);
/* Frees a generation. */
void managed_script_drop(struct managed_scripts *scripts, struct script *script);
/* Drains a generation: frees it when its calls have ended, or by force after the grace period. */
void managed_script_drain(struct managed_script *managed, struct script *script);
/* Checks whether generations of the script have drained. */
void managed_script_on_drain(struct timer *timer);
size_t managed_script_draining_count(const struct managed_script *managed);

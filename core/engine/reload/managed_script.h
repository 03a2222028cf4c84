/* Managed scripts of an engine: one for each file, with its running, incoming and draining generations.
 * Owner: the engine, on its thread. Generations are `struct script`s; `generations` lists them all, and a
 * managed script tells their roles. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/series/series.h"
#include "engine/reload/reload_probation.h"
#include "engine/reload/script_files.h"
#include "net/loop.h"
#include "script/generation/handover.h"

struct bundle;
struct err;
struct reload_metrics;
struct script;
struct script_watch;
struct managed_script;
struct managed_scripts;

/* Functions of the engine that managed scripts need. Called on its thread; none of them adds or removes a
 * managed script. */
struct managed_scripts_hooks {
    /* Resolves the kinds of claims of incoming generations; does nothing before the first discovery. */
    void (*resolve_kinds)(void *ctx);
    /* Refreshes discovery. */
    void (*refresh_kinds)(void *ctx);
    /* Returns false and sets err if the incoming generation would leave a parameter without a script that the
     * running one declares, or, where only settings changed, was not given. */
    bool (*params_stay)(void *ctx, const struct managed_script *managed, struct err *err);
    /* Called when `now` replaces `before`; either may be NULL. `before` still exists. */
    void (*activated)(void *ctx, struct script *before, struct script *now);
    /* Called when the script has become the running generation. */
    void (*now_running)(void *ctx, const struct script *script);
    /* Called after a scan of all files: scripts may have gone. */
    void (*scanned)(void *ctx);
    void *ctx;
};

struct managed_scripts_options {
    struct loop *loop;
    const struct script_host *host;
    struct script_search search;            /* files and directories to scan again */
    const char *reload_name, *timeout_name; /* of a reload and of its timeout, in messages; borrowed */
    int64_t reload_timeout_ms, reload_probation_ms;
    bool is_counted; /* counts reloads in /metrics */
    struct managed_scripts_hooks hooks;
};

struct managed_scripts {
    struct managed_scripts_options options;
    struct managed_script **items; /* one for each file, in order */
    size_t count;
    struct script **generations; /* of all scripts */
    size_t generation_count;
    struct draining *draining;
    size_t draining_count;
    char **names; /* names of scripts; freed with the engine */
    size_t name_count;
    struct reload_metrics *metrics; /* NULL: not counted */
    struct script_watch *watch;     /* watch on the files; NULL: none */
    struct timer rescan;            /* scans again for files that may be about to be written */
    struct timer probation;         /* checks new generations; see reload_probation.h */
    int postponed;                  /* strongest mode (reload.h) of scans that wait for files being written */
    bool ending;                    /* no generation follows */
};

struct managed_script {
    struct managed_scripts *scripts;
    const char *name, *path; /* owned by `scripts` */
    struct script *running;  /* NULL: not yet, or no longer */
    struct script *incoming; /* NULL: none */
    struct script *loading;  /* will be it once its chunk has run; not among the generations; NULL: none */
    uint64_t made;           /* number of generations so far */
    uint64_t tried;          /* number of loads so far, failed ones included */
    bool main_started;       /* or there was none to be started */
    bool main_ran;           /* in any generation: k8s.main runs once in the life of a script */
    bool gone;               /* file was removed; goes when it has drained */
    bool lost;               /* file is missing; already logged */
    int64_t missing_ms, empty_ms; /* time since the file is missing, empty; 0: it is not */

    /* Incoming generation. */
    struct timer ready;         /* checks whether it can be activated */
    struct timer drain;         /* checks whether generations have drained */
    int64_t refuse_ms;          /* time at which it has waited too long */
    int64_t began_us;           /* wall time of its load */
    const char *why;            /* reason for its load: a literal */
    struct buf waits_for;       /* reason for waiting, as the status shows it */
    struct buf unknown;         /* kind that the server lacks, and where it is used */
    bool refreshed;             /* discovery was refreshed for it */
    bool builds;                /* builds indexes, a part in each turn */
    struct bundle *rollback_of; /* bundle that a rollback in progress replaces; NULL: none in progress */
    struct buf rollback_why;

    /* Previous generation. */
    struct bundle *previous;  /* sources of the previous generation; NULL: none */
    uint64_t previous_number; /* number of the previous generation */
    int64_t previous_us;      /* wall time of its activation; 0: with the engine */
    struct bundle *refused;   /* sources that do not run: refused or rolled back from; NULL: none */
    struct buf error;         /* reason of the refusal; empty: none */
    int64_t error_us;
    bool rolled_back;     /* the running one is a rollback */
    bool lacks_params;    /* refused for a name that no script declares: one that comes may declare it */
    int64_t activated_us; /* wall time of its activation; 0: with the engine */
    uint64_t pause_us;    /* pause of the engine thread for the activation */
    struct handover done; /* counts of its handover */

    struct probation probation;
    struct series *memory, *load, *generation, *is_refused; /* created when first shown */
};

/* An old generation that drains. */
struct draining {
    struct script *script;
    struct managed_script *managed;
    int64_t until_ms;
};

/* Initializes managed scripts; free them with managed_scripts_clear. */
void managed_scripts_init(struct managed_scripts *scripts, const struct managed_scripts_options *options);
/* Frees all generations and managed scripts. */
void managed_scripts_clear(struct managed_scripts *scripts);

/* Adds a managed script without a generation. */
struct managed_script *managed_script_add(struct managed_scripts *scripts, const char *path,
                                          const char *name);
/* Returns NULL if no script has the name. */
struct managed_script *managed_script_find(const struct managed_scripts *scripts, const char *name);
/* Returns the managed script whose incoming generation the script is; NULL: there is none. */
struct managed_script *managed_script_of_incoming(const struct managed_scripts *scripts,
                                                  const struct script *script);
/* Frees a managed script whose generations are gone. */
void managed_script_remove(struct managed_script *managed);

/* Loads a generation; it is neither running nor incoming yet. `bundle` may be NULL. */
struct script *managed_script_load(struct managed_script *managed, struct bundle *bundle, struct err *err);
/* Begins the same as script_prepare_in_parts does; managed_script_adopt once it is loaded. */
struct script *managed_script_begin_load(struct managed_script *managed, struct bundle *bundle,
                                         struct err *err);
/* Adds a loaded script to the generations. */
void managed_script_adopt(struct managed_scripts *scripts, struct script *script);
/* Frees a generation. */
void managed_script_drop(struct managed_scripts *scripts, struct script *script);
/* Drains a generation: frees it when its calls have ended, or by force after the grace period. */
void managed_script_drain(struct managed_script *managed, struct script *script);
/* Checks whether generations of the script have drained. */
void managed_script_on_drain(struct timer *timer);
size_t managed_script_draining_count(const struct managed_script *managed);

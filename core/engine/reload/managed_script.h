/* The places of an engine's scripts: one for each file, with the generation of it that runs, one that is
 * about to follow, and those that run out. Owner: the engine, on its thread. Generations are `struct
 * script`s; the list of all slots has all of them, a slot says which is which. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cli/flags.h"
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
struct slot;
struct slots;

/* Functions that managed scripts need of their engine. On its thread; none of them may add or remove a
 * managed script. */
struct slots_hooks {
    /* Claims of candidates are looked up in what is known of the server; nothing, when that is nothing yet.
     */
    void (*resolve_kinds)(void *ctx);
    /* The server is asked again which kinds it has. */
    void (*refresh_kinds)(void *ctx);
    /* False: the slot's candidate would leave a parameter of the operator's to no rule. */
    bool (*params_stay)(void *ctx, const struct slot *slot, struct err *err);
    /* The script runs where `before` did; either may be NULL. Before `before` is dropped. */
    void (*taken)(void *ctx, struct script *before, struct script *now);
    /* The script is the slot's current one from now on. */
    void (*begun)(void *ctx, const struct script *script);
    /* All files were looked at: scripts may have gone. */
    void (*looked)(void *ctx);
    void *ctx;
};

struct slots_options {
    struct loop *loop;
    const struct script_host *host;
    struct flag_list files; /* files and folders that are looked at again; borrowed */
    int64_t reload_timeout_ms, reload_probation_ms;
    struct slots_hooks hooks;
};

struct slots {
    struct slots_options options;
    struct slot **items; /* one for each file; in their order */
    size_t count;
    struct script **scripts; /* of all slots, all generations */
    size_t script_count;
    struct draining *draining;
    size_t draining_count;
    char **names; /* of slots, for as long as the engine lives */
    size_t name_count;
    struct reload_metrics *metrics; /* taken; NULL: nothing is counted */
    struct script_watch *watch;     /* of the scripts' files; NULL: nobody tells */
    struct timer rescan;            /* at files that may be on their way */
    struct timer probation;         /* judges new generations; see reload_probation.h */
    bool ending;                    /* no generation follows any more */
};

struct slot {
    struct slots *slots;
    const char *name, *path; /* kept by the slots as long as they live */
    struct script *current;  /* NULL: there is none yet, or none any more */
    struct script *incoming; /* NULL: none waits for its turn */
    uint64_t made;           /* generations so far */
    uint64_t tried;          /* candidates so far, and files that were no script */
    bool main_started;
    bool gone;                    /* its file is no more, and it is to go too */
    bool lost;                    /* file is missing; already logged */
    int64_t missing_ms, empty_ms; /* since when its file is; 0: it is not */

    /* Incoming generation. */
    struct timer ready;   /* looks whether the candidate may take over */
    struct timer drain;   /* checks whether generations have drained */
    int64_t refuse_ms;    /* then the candidate has waited too long */
    int64_t began_us;     /* wall time at which the candidate was loaded */
    const char *why;      /* the candidate was loaded: a literal */
    struct buf waits_for; /* as the status tells it */
    struct buf unknown;   /* a kind that the server does not have, and where it is asked for */
    bool asked;           /* the server for its kinds anew */
    bool builds;          /* indexes, a part in each turn */
    struct bundle *left;  /* bundle that a rollback in progress replaces; NULL: none in progress */
    struct buf left_why;

    /* Previous generation. */
    struct bundle *before;    /* of the generation before the current one; NULL: there was none */
    uint64_t previous_number; /* that generation */
    int64_t previous_us;      /* when it began; 0: with the engine */
    struct bundle *refused;   /* files that are not what runs: refused, or returned from; NULL: none */
    struct buf error;         /* why; empty: nothing is wrong */
    int64_t error_us;
    bool returned;         /* the one that runs is what was before that */
    int64_t taken_over_us; /* when the current one began; 0: with the engine */
    uint64_t pause_us;     /* how long the engine thread took for that */
    struct handover done;  /* what it took over */

    struct probation probation;
    struct series *memory, *load, *generation, *is_refused; /* made when they are first shown */
};

/* A generation that runs out. */
struct draining {
    struct script *script;
    struct slot *slot;
    int64_t until_ms;
};

/* The first of all; managed_scripts_clear is due. */
void slots_init(struct slots *slots, const struct slots_options *options);
/* Drops all scripts and slots. */
void managed_scripts_clear(struct slots *slots);

/* A slot without a script. */
struct slot *managed_script_add(struct slots *slots, const char *path, const char *name);
/* NULL when there is none of that name. */
struct slot *managed_script_find(const struct slots *slots, const char *name);
/* Returns the managed script whose incoming generation the script is; NULL: there is none. */
struct slot *managed_script_of_incoming(const struct slots *slots, const struct script *script);
/* Its generations have been dropped. */
void managed_script_remove(struct slot *slot);

/* Loads a generation; it is neither current nor candidate yet. `bundle` may be NULL. */
struct script *managed_script_load(struct slot *slot, struct bundle *bundle, struct err *err);
/* Frees a generation. */
void managed_script_drop(struct slots *slots, struct script *script);
/* Drains a generation: frees it when its calls have ended, or by force after the grace period. */
void managed_script_drain(struct slot *slot, struct script *script);
/* Checks whether generations of the script have drained. */
void managed_script_on_drain(struct timer *timer);
size_t managed_script_draining_count(const struct slot *slot);

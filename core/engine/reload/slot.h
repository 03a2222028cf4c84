/* The places of an engine's scripts: one for each file, with the generation of it that runs, one that is
 * about to follow, and those that run out. Owner: the engine, on its thread. Generations are `struct
 * script`s; the engine's list has all of them, a slot says which is which. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/series/series.h"
#include "engine/reload/reload_probation.h"

struct bundle;
struct engine;
struct err;
struct script;

struct slot {
    struct engine *engine;
    const char *name, *path;  /* kept by the engine as long as it lives */
    struct script *current;   /* NULL: there is none yet, or none any more */
    struct script *candidate; /* NULL: none waits for its turn */
    uint64_t made;            /* generations so far */
    uint64_t tried;           /* candidates so far, and files that were no script */
    bool main_started;
    bool gone;                    /* its file is no more, and it is to go too */
    bool lost;                    /* its file is no more, and it was said */
    int64_t missing_ms, empty_ms; /* since when its file is; 0: it is not */

    /* What is to come. */
    struct timer ready;   /* looks whether the candidate may take over */
    struct timer drain;   /* looks whether generations have run out */
    int64_t refuse_ms;    /* then the candidate has waited too long */
    int64_t began_us;     /* wall time at which the candidate was loaded */
    const char *why;      /* the candidate was loaded: a literal */
    struct buf waits_for; /* as the status tells it */
    struct buf unknown;   /* a kind that the server does not have, and where it is asked for */
    bool asked;           /* the server for its kinds anew */
    bool builds;          /* indexes, a part in each turn */
    struct bundle *left;  /* the candidate is to return from this; NULL: it is no return */
    struct buf left_why;

    /* What was. */
    struct bundle *before;  /* of the generation before the current one; NULL: there was none */
    uint64_t before_number; /* that generation */
    int64_t before_us;      /* when it began; 0: with the engine */
    struct bundle *refused; /* files that are not what runs: refused, or returned from; NULL: none */
    struct buf error;       /* why; empty: nothing is wrong */
    int64_t error_us;
    bool returned;         /* the one that runs is what was before that */
    int64_t taken_over_us; /* when the current one began; 0: with the engine */
    uint64_t pause_us;     /* how long the engine thread took for that */

    struct probation probation;
    struct series *memory, *load, *generation, *is_refused; /* made when they are first shown */
};

/* A generation that runs out. */
struct draining {
    struct script *script;
    struct slot *slot;
    int64_t until_ms;
};

/* A slot without a script. */
struct slot *slot_add(struct engine *engine, const char *path, const char *name);
/* NULL when there is none of that name. */
struct slot *slot_find(const struct engine *engine, const char *name);
/* Whose candidate the script is; NULL: nobody's. */
struct slot *slot_of_candidate(const struct engine *engine, const struct script *script);
/* Its generations have been dropped. */
void slot_remove(struct slot *slot);

/* Loads a generation; it is neither current nor candidate yet. `bundle` may be NULL. */
struct script *slot_load(struct slot *slot, struct bundle *bundle, struct err *err);
/* Frees a generation. */
void slot_drop(struct engine *engine, struct script *script);
/* It runs out: is freed when its calls have ended, or by force after a while. */
void slot_drain(struct slot *slot, struct script *script);
/* Looks whether generations of the slot have run out. */
void slot_on_drain(struct timer *timer);
size_t slot_draining_count(const struct slot *slot);
/* Drops all scripts and slots. */
void slots_clear(struct engine *engine);

/* The places of an engine's scripts: one for each file, with the generation of it that runs, one that is
 * about to follow, and those that run out. Owner: the engine, on its thread. Generations are `struct
 * script`s; the engine's list has all of them, a slot says which is which. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/series.h"

struct bundle;
struct engine;
struct err;
struct script;

struct slot {
    const char *name, *path;  /* kept by the engine as long as it lives */
    struct script *current;   /* NULL: the script was stopped, and runs out */
    struct script *candidate; /* NULL: none waits for its turn */
    uint64_t made;            /* generations so far */
    bool main_started;
    struct series *memory; /* made when it is first shown */
};

/* A slot without a script. */
struct slot *slot_add(struct engine *engine, const char *path, const char *name);
/* NULL when there is none of that name. */
struct slot *slot_find(const struct engine *engine, const char *name);
/* Of the script's name. */
struct slot *slot_of(const struct engine *engine, const struct script *script);
/* Its generations have been dropped. */
void slot_remove(struct engine *engine, struct slot *slot);

/* Loads a generation into the slot's list of the engine; neither current nor candidate. `bundle` may be NULL.
 */
struct script *slot_load(struct engine *engine, struct slot *slot, struct bundle *bundle, struct err *err);
/* Frees a generation. */
void slot_drop(struct engine *engine, struct script *script);
/* Drops all scripts and slots. */
void slots_clear(struct engine *engine);

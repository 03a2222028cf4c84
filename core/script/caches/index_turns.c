/* Index functions in turns of their script: for objects that changed while the script had used up its time,
 * and for indexes that are rebuilt; see index_function.h. A script rests until its indexes have what they had
 * put off when it began to rest, as its handlers and timers may read them. What was put off meanwhile waits
 * until all else of the script had a turn: index functions that cannot keep up must not stop it for good. A
 * lookup always finds all objects, since it first computes what is missing (S-5). */
#include <stdlib.h>

#include "base/mem.h"
#include "script/caches/index_function_internal.h"
#include "script/vm/feature.h"
#include "script/vm/turns.h"

/* --- rebuilt */

/* Objects that came meanwhile are under no value. */
void index_function_rebuild(struct quarantine *quarantine)
{
    struct index_function *f = container_of(quarantine, struct index_function, quarantine);
    const struct index_source source = index_function_source(f);
    free(f->failure);
    f->failure = NULL;
    claim_rebuild_index(f->claim, &source);
    if (!f->rebuilding) TAILQ_INSERT_TAIL(&f->script->own.index_functions->rebuilding, f, link);
    f->rebuilding = true;
    turns_schedule(f->script);
}

static void end_rebuilding(struct index_function *f)
{
    if (f->rebuilding) TAILQ_REMOVE(&f->script->own.index_functions->rebuilding, f, link);
    f->rebuilding = false;
}

static void rebuild_some(struct script *script)
{
    struct index_function *f;
    while ((f = TAILQ_FIRST(&script->own.index_functions->rebuilding))) {
        const struct index_source source = index_function_source(f);
        if (claim_build_index(f->claim, &source)) {
            end_rebuilding(f);
            index_function_notify(f);
        }
        if (turns_expired(script)) break;
    }
    if (f) turns_schedule(script);
}

/* --- late */

static void end_late(struct index_function *f)
{
    if (f->late) TAILQ_REMOVE(&f->script->own.index_functions->late, f, late_link);
    f->late = false;
}

bool index_function_puts_off(void *ctx)
{
    struct index_function *f = ctx;
    struct script *script = f->script;
    struct script_index_functions *all = script->own.index_functions;
    if (f->late) return true;
    /* Not when the script itself asks, with time of its own. */
    if (all->inside || !script->host->turns || !turns_are_owed(script)) return false;
    if (TAILQ_EMPTY(&all->late)) all->rests = true;
    TAILQ_INSERT_TAIL(&all->late, f, late_link);
    f->late = true;
    turns_schedule(script);
    return true;
}

/* Counts the objects that were put off; functions that lookups have caught up for are late no more. */
static size_t count_late(struct script *script)
{
    struct index_function *f, *next;
    size_t count = 0;
    for (f = TAILQ_FIRST(&script->own.index_functions->late); f; f = next) {
        const struct index_source source = index_function_source(f);
        size_t own = claim_late_count(f->claim, &source);
        next = TAILQ_NEXT(f, late_link);
        if (own == 0) end_late(f);
        count += own;
    }
    return count;
}

/* Functions take turns, object by object: none of them waits for more than it had when the rest began. */
static void catch_up_one(struct script *script)
{
    struct script_index_functions *all = script->own.index_functions;
    struct index_function *f = TAILQ_FIRST(&all->late);
    const struct index_source source = index_function_source(f);
    TAILQ_REMOVE(&all->late, f, late_link);
    TAILQ_INSERT_TAIL(&all->late, f, late_link);
    if (claim_catch_up_index(f->claim, &source) == 0) end_late(f);
}

static void end_rest(struct script *script)
{
    script->own.index_functions->round = 0;
    script->own.index_functions->rests = false;
    FEATURES_EACH(script, claims_changed);
    if (script->host->attached) script->host->attached(script->host->attached_ctx);
}

bool index_functions_first(struct script *script)
{
    struct script_index_functions *all = script->own.index_functions;
    /* At the end of a script its waiting calls come first: what they look up is computed then. */
    if (!all->rests || script->phase > SCRIPT_RUNNING) return true;
    if (all->round == 0) all->round = count_late(script);
    for (; all->round > 0 && !TAILQ_EMPTY(&all->late); all->round--) {
        if (script->host->turns->over) break;
        catch_up_one(script);
        turns_expired(script);
    }
    if (!TAILQ_EMPTY(&all->late)) turns_schedule(script);
    if (all->round > 0 && !TAILQ_EMPTY(&all->late)) return false;
    end_rest(script);
    return true;
}

bool index_functions_rest(const struct script *script)
{
    return script->own.index_functions->rests;
}

void index_functions_turn(struct script *script)
{
    struct script_index_functions *all = script->own.index_functions;
    rebuild_some(script);
    if (all->rests || count_late(script) == 0) return;
    all->rests = true;
    turns_schedule(script);
}

/* --- from the first to the last */

void index_functions_init(struct script *script)
{
    TAILQ_INIT(&script->own.index_functions->rebuilding);
    TAILQ_INIT(&script->own.index_functions->late);
}

void index_function_leave_turns(struct index_function *f)
{
    end_rebuilding(f);
    end_late(f);
}

/* Informers of a running script; see running_informer.h. */
#include "script/caches/running_informer.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "informer/shared/shared_factory.h"
#include "kube/kinds/kinds.h"
#include "script/vm/feature.h"
#include "script/vm/turns.h"

struct running_informer *running_informer_new(struct script *script, struct informer_claim *claim,
                                              const struct cluster_parts *cluster)
{
    struct running_informer *informer = NEW(struct running_informer);
    *informer = (struct running_informer){
        .script = script, .claim = claim, .cluster = cluster_hold(cluster), .refs = 1};
    TAILQ_INSERT_TAIL(&script->own.running->list, informer, link);
    *array_add(script->informers.claims, script->informers.count) = claim;
    script->informers.running++;
    turns_schedule(script);
    return informer;
}

struct running_informer *running_informer_ref(struct running_informer *informer)
{
    if (informer) informer->refs++;
    return informer;
}

void running_informer_unref(struct running_informer *informer)
{
    if (!informer || --informer->refs > 0) return;
    if (!informer->script->own.running->ended) turns_schedule(informer->script);
}

void running_informer_stop(struct running_informer *informer)
{
    struct script *script = informer->script;
    if (claim_is_stopped(informer->claim)) return;
    claim_stop(informer->claim);
    turns_schedule(script);
}

size_t running_informers_count(struct script *script)
{
    struct running_informers *all = script->own.running;
    int64_t now_ms = all->grace_count > 0 ? clock_now_ms(loop_clock(script->host->loop)) : 0;
    size_t left = 0;
    for (size_t i = 0; i < all->grace_count; i++)
        if (all->grace_ends_ms[i] > now_ms) all->grace_ends_ms[left++] = all->grace_ends_ms[i];
    all->grace_count = left;
    return script->informers.running + left;
}

/* --- turns */

/* Not in the call that made it: handlers may be attached, and the engine refreshes the kinds that it lacks.
 */
static void resolve(struct running_informer *informer)
{
    const struct kinds *kinds = informer->cluster->kinds;
    informer->resolved = true;
    if (kinds_known(kinds)) claim_resolve(informer->claim, kinds_catalogue(kinds));
}

static void forget_claim(struct script *script, const struct informer_claim *claim)
{
    size_t first = script->informers.count - script->informers.running;
    for (size_t i = first; i < script->informers.count; i++) {
        if (script->informers.claims[i] != claim) continue;
        memmove(script->informers.claims + i, script->informers.claims + i + 1,
                (script->informers.count - i - 1) * sizeof(struct informer_claim *));
        script->informers.count--;
        script->informers.running--;
        return;
    }
}

static void close_one(struct running_informer *informer)
{
    struct script *script = informer->script;
    struct running_informers *all = script->own.running;
    int64_t grace_ms = shared_factory_grace_ms(informer->cluster->factory);
    informer->closed = true;
    if (claim_resource(informer->claim) && grace_ms > 0)
        *array_add(all->grace_ends_ms, all->grace_count) =
            clock_now_ms(loop_clock(script->host->loop)) + grace_ms;
    forget_claim(script, informer->claim);
    claim_close(informer->claim);
    cluster_let_go(informer->cluster);
    informer->cluster = NULL;
}

static void free_one(struct running_informer *informer)
{
    TAILQ_REMOVE(&informer->script->own.running->list, informer, link);
    claim_release(informer->claim);
    cluster_let_go(informer->cluster);
    free(informer);
}

static void running_informers_turn(struct script *script)
{
    struct running_informer *informer, *next;
    for (informer = TAILQ_FIRST(&script->own.running->list); informer; informer = next) {
        next = TAILQ_NEXT(informer, link);
        bool is_over = claim_is_stopped(informer->claim) || informer->refs == 0;
        if (is_over && !informer->closed) close_one(informer);
        if (informer->refs == 0) {
            free_one(informer);
        } else if (!informer->resolved && !is_over) {
            resolve(informer);
        }
    }
}

static void open_running(struct script *script)
{
    TAILQ_INIT(&script->own.running->list);
}

static void end_running(struct script *script)
{
    script->own.running->ended = true;
}

/* Claims that are open were released with those of the load phase. */
static void close_running(struct script *script)
{
    struct running_informer *informer;
    while ((informer = TAILQ_FIRST(&script->own.running->list))) {
        TAILQ_REMOVE(&script->own.running->list, informer, link);
        if (informer->closed) claim_release(informer->claim);
        cluster_let_go(informer->cluster);
        free(informer);
    }
    free(script->own.running->grace_ends_ms);
}

const struct feature feature_running = {FEATURE_OWNS(running), .open = open_running,
                                        .turn = running_informers_turn, .end = end_running,
                                        .close = close_running};

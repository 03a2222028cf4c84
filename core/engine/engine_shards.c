/* Slots of this replica: caches and scripts are told at once; when nothing runs any more for slots that were
 * lost, the other replicas are told, which wait for that. See engine_internal.h. */
#include <stdlib.h>

#include "base/fence.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/engine_internal.h"
#include "script/handlers/handler.h"
#include "script/handlers/sharding.h"

FAMILY(family_members, 520, GAUGE, "kubelua_shard_members", "group", NULL,
       "Number of replicas that share objects.");
FAMILY(family_slots, 521, GAUGE, "kubelua_shard_slots", "group", NULL,
       "Number of slots, of 4096, that this replica owns.");
FAMILY(family_changes, 522, COUNTER, "kubelua_shard_slot_changes_total", "group,change", NULL,
       "Number of slots that this replica gained and lost.");
FAMILY(family_drain, 523, HISTOGRAM, "kubelua_shard_drain_seconds", "group", &buckets_of_calls,
       "Time from the loss of slots to the end of the last call for them.");

/* Poll period of calls that end. */
enum { CHECK_MS = 10 };

struct engine_shards {
    struct engine *engine;
    bool started;
    struct timer drain;    /* checks whether work for lost slots has ended */
    struct slot_set owned; /* that caches and scripts were told of */
    struct slot_set kept;  /* while the slots are in doubt: those that they have as before */
    bool in_doubt;
    struct fence *fence;       /* of the term of the Lease that they were told of, a reference; NULL: none */
    struct engine_moves moves; /* of what is left after a loss */
    int64_t lost_ns;           /* time of the first loss whose work has not ended; 0: none */
    struct series *members, *slots, *gained, *lost, *drains;
    bool kinds_checked;
};

bool engine_shares(const struct engine *engine)
{
    return engine->shards && engine->shards->started;
}

static struct shards *group_of(const struct engine_shards *own)
{
    return own->engine->cluster->parts.shards;
}

static bool is_drained(const struct engine *engine)
{
    if (shared_factory_is_losing(engine->cluster->parts.factory)) return false;
    for (size_t i = 0; i < engine->scripts.generation_count; i++) {
        const struct script *script = engine->scripts.generations[i];
        if (sharding_count_others(script) > 0 || handlers_have_lost(script)) return false;
    }
    return true;
}

static void on_drain(struct timer *timer)
{
    struct engine_shards *own = container_of(timer, struct engine_shards, drain);
    struct shards_status status;
    if (!is_drained(own->engine)) {
        timer_start(timer, loop_clock(own->engine->loop), CHECK_MS);
        return;
    }
    if (own->lost_ns) {
        series_observe(own->drains, (double)(clock_measure_ns() - own->lost_ns) / 1e9);
        engine_moves_start(&own->moves, own->engine);
    }
    own->lost_ns = 0;
    timer_cancel(timer);
    shards_get_status(group_of(own), &status);
    shards_applied(group_of(own), status.epoch);
}

/* Calls without a Lease can write no more; waiting for them would keep others waiting. */
static void cancel_calls(const struct engine *engine)
{
    for (size_t i = 0; i < engine->scripts.generation_count; i++)
        sharding_cancel(engine->scripts.generations[i]);
}

static void note(struct engine_shards *own, const struct slot_set *owned, const struct shards_status *status)
{
    const struct slot_set gained = slot_set_minus(owned, &own->owned),
                          lost = slot_set_minus(&own->owned, owned);
    const size_t gains = slot_set_count(&gained), losses = slot_set_count(&lost);
    series_set(own->members, (double)status->members);
    series_set(own->slots, (double)slot_set_count(owned));
    series_add(own->gained, (double)gains);
    series_add(own->lost, (double)losses);
    own->owned = *owned;
    for (size_t i = 0; losses && i < own->engine->scripts.generation_count; i++)
        handlers_lose(own->engine->scripts.generations[i], &lost);
    if (losses && !own->lost_ns) own->lost_ns = clock_measure_ns();
    if (gains || losses)
        log_info("The share of this replica changed", F("group", status->group), F("lease", status->lease),
                 FI("members", status->members), FI("slots", slot_set_count(owned)), FI("gained", gains),
                 FI("lost", losses), FI("epoch", status->epoch));
}

static struct shared_factory *factory_of(const struct engine_shards *own)
{
    return own->engine->cluster->parts.factory;
}

/* Another fence means that a term ended, and maybe a new one began, between two looks: events and keys were
 * dropped meanwhile, so that all slots are lost for scripts, also those that the new term has again. Caches
 * are in doubt: a Lease that a busy server renews late should cost it no lists. */
static void end_term(struct engine_shards *own, struct fence *fence, const struct shards_status *status)
{
    static const struct slot_set none = {0};
    if (fence == own->fence) return;
    if (own->fence) {
        own->kept = own->owned;
        own->in_doubt = true;
        note(own, &none, status);
        shared_factory_doubt_slots(factory_of(own));
        cancel_calls(own->engine);
    }
    fence_unref(own->fence);
    own->fence = fence ? fence_ref(fence) : NULL;
}

/* Ends the doubt once it is known what other replicas had meanwhile: with a new term, or when nothing is
 * left. */
static void resume(struct engine_shards *own, const struct shards_status *status)
{
    if (!own->in_doubt) return;
    for (size_t i = 0; i < ARRAY_LEN(own->kept.words); i++) own->kept.words[i] &= status->kept.words[i];
    if (!own->fence && !slot_set_is_empty(&own->kept)) return;
    own->in_doubt = false;
    shared_factory_set_slots(factory_of(own), &own->kept);
}

void engine_shards_changed(void *ctx)
{
    struct engine *engine = ctx;
    struct engine_shards *own = engine->shards;
    struct shards_status status;
    shards_get_status(group_of(own), &status);
    end_term(own, status.fence && fence_is_open(status.fence) ? status.fence : NULL, &status);
    resume(own, &status);
    if (own->fence) {
        note(own, &status.slots, &status);
        shared_factory_set_slots(factory_of(own), &status.slots);
    } else {
        cancel_calls(engine);
    }
    on_drain(&own->drain);
    const struct engine_watcher *watcher = &engine->options.watcher;
    if (watcher->touched) watcher->touched(watcher->ctx);
}

void engine_make_shards(struct engine *engine)
{
    struct shards_status status;
    if (!engine->cluster->parts.shards) return;
    struct engine_shards *own = engine->shards = NEW(struct engine_shards);
    shards_get_status(engine->cluster->parts.shards, &status);
    own->engine = engine;
    own->drain.fn = on_drain;
    own->members = SERIES(&family_members, status.group);
    own->slots = SERIES(&family_slots, status.group);
    own->gained = SERIES(&family_changes, status.group, "gained");
    own->lost = SERIES(&family_changes, status.group, "lost");
    own->drains = SERIES(&family_drain, status.group);
}

void engine_start_shards(struct engine *engine)
{
    if (!engine->shards) return;
    engine->shards->started = true;
    shards_start(engine->cluster->parts.shards);
}

void engine_check_shard_kinds(const struct engine *engine)
{
    const struct engine_settings *settings = engine->options.settings;
    if (!engine->shards || engine->shards->kinds_checked) return;
    engine->shards->kinds_checked = true;
    for (size_t i = 0; i < settings->shard_kind_count; i++) {
        struct str rest = str_of(settings->shard_kinds[i]), kind;
        struct resource resource;
        struct err err;
        str_cut(&rest, '=', &kind);
        if (kinds_resolve(engine->cluster->parts.kinds, kind, &resource, &err))
            resource_clear(&resource);
        else
            log_warn("Objects of an unknown kind are not shared", FS("kind", kind), F("err", err.text));
    }
}

void engine_end_shards(struct engine *engine)
{
    struct engine_shards *own = engine->shards;
    if (!own) return;
    timer_cancel(&own->drain); /* which starts moves */
    engine_moves_end(&own->moves);
}

void engine_free_shards(struct engine *engine)
{
    struct engine_shards *own = engine->shards;
    if (!own) return;
    engine_end_shards(engine);
    fence_unref(own->fence);
    series_free(own->members);
    series_free(own->slots);
    series_free(own->gained);
    series_free(own->lost);
    series_free(own->drains);
    free(own);
}

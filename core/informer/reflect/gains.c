/* Slots gained under a watch; see gains.h. Versions are compared (RV-1): all that the watch brought before
 * the gain was written before the list of the slots began, which is of the newest state. So events since then
 * are held, and of these the newer ones count; the watch may be behind the list, so that its floor stays
 * until an event is newer. */
#include "informer/reflect/gains.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "informer/reflect/held_events.h"
#include "kube/kinds/resource.h"

/* Slots that were listed alone: their events up to this version are known. */
struct gained_floor {
    struct slot_set slots;
    struct buf version;
};

struct gains {
    struct gains_options options;
    struct slot_set missing; /* that are being listed */
    int64_t generation;      /* of their list */
    void *list;              /* NULL: none */
    struct slot_set next;    /* that are listed after it */
    int64_t next_generation;
    struct slot_set listed;  /* since they were gained; the queue has, or had, their objects */
    struct held_events held; /* of these */
    struct gained_floor *floors;
    size_t floor_count;
    struct buf version; /* newest of a floor */
};

struct gains *gains_new(const struct gains_options *options)
{
    struct gains *g = NEW(struct gains);
    g->options = *options;
    return g;
}

static void end_list(struct gains *g)
{
    if (g->list) g->options.end_list(g->options.ctx, g->list);
    g->list = NULL;
    g->missing = (struct slot_set){0};
    held_events_clear(&g->held);
}

bool gains_reset(struct gains *g)
{
    bool was_listing = g->list != NULL;
    end_list(g);
    g->next = (struct slot_set){0};
    for (size_t i = 0; i < g->floor_count; i++) buf_clear(&g->floors[i].version);
    free(g->floors);
    g->floors = NULL;
    g->floor_count = 0;
    return was_listing;
}

void gains_free(struct gains *g)
{
    if (!g) return;
    gains_reset(g);
    buf_clear(&g->version);
    free(g);
}

static void start_next(struct gains *g)
{
    if (g->list || slot_set_is_empty(&g->next)) return;
    g->missing = g->next;
    g->generation = g->next_generation;
    g->next = (struct slot_set){0};
    g->list = g->options.start_list(g->options.ctx, &g->missing);
}

/* A list in progress goes on, as gains that come faster than lists end would keep all of them from ending. */
void gains_list(struct gains *g, const struct slot_set *owned, const struct slot_set *missing,
                int64_t generation)
{
    gains_keep(g, owned);
    g->next = slot_set_minus(missing, &g->listed);
    g->next = slot_set_minus(&g->next, &g->missing);
    g->next_generation = generation;
    start_next(g);
}

static void remove_lost(struct slot_set *slots, const struct slot_set *owned)
{
    const struct slot_set lost = slot_set_minus(slots, owned);
    *slots = slot_set_minus(slots, &lost);
}

void gains_keep(struct gains *g, const struct slot_set *owned)
{
    remove_lost(&g->listed, owned);
    remove_lost(&g->next, owned);
    remove_lost(&g->missing, owned);
    if (slot_set_is_empty(&g->missing)) end_list(g);
    start_next(g);
}

static void add_listed(struct gains *g, const struct slot_set *slots)
{
    for (size_t i = 0; i < ARRAY_LEN(slots->words); i++) g->listed.words[i] |= slots->words[i];
}

void gains_listed_all(struct gains *g, const struct slot_set *owned)
{
    add_listed(g, owned);
}

/* --- the end of the list */

static bool is_missing(const void *gains, const struct root *object)
{
    const struct gains *g = gains;
    return slot_set_has(&g->missing, shard_slot_of(g->options.by, object));
}

/* The list has no slots that were gained after it began. */
static void queue_list(struct gains *g, struct collection *merged)
{
    struct delta_fifo *fifo = g->options.fifo;
    int64_t newest = delta_fifo_generation(fifo);
    delta_fifo_set_generation(fifo, g->generation);
    collection_replace_part(merged, fifo, "", clock_wall_us(g->options.clock));
    delta_fifo_set_generation(fifo, newest);
}

static void add_floor(struct gains *g, struct str version)
{
    struct gained_floor *floor = array_add(g->floors, g->floor_count);
    *floor = (struct gained_floor){.slots = g->missing};
    buf_str(&floor->version, version);
    if (g->version.len && !version_may_be_newer(version, buf_slice(&g->version))) return;
    g->version.len = 0;
    buf_str(&g->version, version);
}

void gains_listed(struct gains *g, struct collection *listed, struct str version)
{
    struct collection merged = {0};
    if (!resource_version_check(version, NULL)) {
        /* Nothing tells which of the events the list has: one list of all is right in any case. */
        end_list(g);
        g->options.relist(g->options.ctx);
        return;
    }
    merged.refused = listed->refused;
    listed->refused = NULL;
    for (size_t i = 0; i < listed->used; i++)
        if (listed->objects[i] && is_missing(g, listed->objects[i]))
            collection_put(&merged, root_ref(listed->objects[i]));
    held_events_merge(&g->held, version, is_missing, g, &merged);
    log_v(2, "Listed gained slots", F("reflector", g->options.name), FI("slots", slot_set_count(&g->missing)),
          FI("objects", collection_count(&merged)), FI("held", held_events_count(&g->held)),
          FS("resourceVersion", version));
    queue_list(g, &merged);
    add_listed(g, &g->missing);
    add_floor(g, version);
    end_list(g);
    start_next(g);
}

/* --- of the reflector */

static void drop_floor(struct gains *g, size_t i)
{
    buf_clear(&g->floors[i].version);
    g->floors[i] = g->floors[--g->floor_count];
}

/* Versions of a watch ascend: once an event is newer than a floor, all later ones are. */
static bool is_known(struct gains *g, const struct root *object)
{
    struct text text;
    bool known = false;
    struct str version = root_resource_version(object, &text);
    size_t slot = g->floor_count ? shard_slot_of(g->options.by, object) : 0;
    for (size_t i = g->floor_count; i-- > 0;) {
        if (version_may_be_newer(version, buf_slice(&g->floors[i].version)))
            drop_floor(g, i);
        else
            known |= slot_set_has(&g->floors[i].slots, slot);
    }
    return known;
}

bool gains_take(struct gains *g, enum lw_event_type type, struct root *object)
{
    if (g->list && is_missing(g, object)) {
        held_events_add(&g->held, type, object);
        return true;
    }
    /* Their list will begin after this event was written. */
    bool is_next = g->list && slot_set_has(&g->next, shard_slot_of(g->options.by, object));
    if (!is_next && !is_known(g, object)) return false;
    root_unref(object);
    return true;
}

const char *gains_version(struct gains *g)
{
    return buf_text(&g->version);
}

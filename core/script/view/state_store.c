/* Operations on stored states, and the places of scripts; see state_store.h. */
#include "script/view/state_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"

struct state_claim {
    char *place, *script;
    size_t count; /* generations that have it */
};

/* --- places */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

void state_place_of(const char *script, char out[STATE_PLACE_MAX + 1])
{
    const char *slash = strrchr(script, '/');
    size_t n = 0;
    for (const char *p = slash ? slash + 1 : script; *p && n < STATE_PLACE_MAX; p++) {
        char c = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
        if (is_plain(c))
            out[n++] = c;
        else if (n > 0)
            out[n++] = '-';
    }
    while (n > 0 && out[n - 1] == '-') n--;
    out[n] = '\0';
    if (n == 0) memcpy(out, "script", sizeof "script");
}

static struct state_claim *find_claim(const struct state_store *store, const char *place)
{
    for (size_t i = 0; i < store->claim_count; i++)
        if (strcmp(store->claims[i].place, place) == 0) return &store->claims[i];
    return NULL;
}

bool state_store_claim(struct state_store *store, const char *script, struct err *err)
{
    char place[STATE_PLACE_MAX + 1];
    state_place_of(script, place);
    struct state_claim *claim = find_claim(store, place);
    if (claim && strcmp(claim->script, script) != 0)
        return err_set(err, ERR_INVALID,
                       "the script %s already keeps its states under the name \"%s\"; rename one of the two",
                       claim->script, place);
    if (!claim) {
        claim = array_add(store->claims, store->claim_count);
        *claim = (struct state_claim){.place = xstrdup(place), .script = xstrdup(script)};
    }
    claim->count++;
    return true;
}

static void free_claim(struct state_claim *claim)
{
    free(claim->place);
    free(claim->script);
}

void state_store_release(struct state_store *store, const char *script)
{
    char place[STATE_PLACE_MAX + 1];
    state_place_of(script, place);
    struct state_claim *claim = find_claim(store, place);
    if (!claim || strcmp(claim->script, script) != 0 || --claim->count > 0) return;
    free_claim(claim);
    *claim = store->claims[--store->claim_count];
}

struct state_slot *state_store_slot(struct state_store *store, const char *script, const char *state)
{
    char place[STATE_PLACE_MAX + 1];
    state_place_of(script, place);
    for (size_t i = 0; i < store->slot_count; i++)
        if (strcmp(store->slots[i]->place, place) == 0 && strcmp(store->slots[i]->state, state) == 0)
            return store->slots[i];
    struct state_slot *slot = NEW(struct state_slot);
    *slot = (struct state_slot){.place = xstrdup(place), .state = xstrdup(state)};
    *array_add(store->slots, store->slot_count) = slot;
    return slot;
}

/* --- operations */

static void run(struct state_op *op)
{
    memcpy(op->mark, op->slot->mark, sizeof op->mark);
    op->store->run(op->store, op);
}

static void free_op(struct state_op *op)
{
    TAILQ_REMOVE(&op->store->ops, op, link);
    fence_unref(op->fence);
    buf_clear(&op->bytes);
    free(op->where);
    free(op);
}

struct state_op *state_op_start(struct state_store *store, enum state_op_kind kind, struct state_slot *slot,
                                struct buf *bytes, struct fence *fence, state_op_done *done, void *ctx)
{
    if (state_op_reads(kind) && store->settle) store->settle(store);
    struct state_op *op = NEW(struct state_op);
    *op = (struct state_op){.store = store,
                            .slot = slot,
                            .kind = kind,
                            .fence = fence ? fence_ref(fence) : NULL,
                            .done = done,
                            .ctx = ctx};
    if (bytes) {
        op->bytes = *bytes;
        *bytes = (struct buf){0};
    }
    bool idle = TAILQ_EMPTY(&store->ops);
    TAILQ_INSERT_TAIL(&store->ops, op, link);
    if (idle) run(op);
    return op;
}

void state_op_leave(struct state_op *op, state_op_done *done)
{
    op->done = done;
    op->ctx = NULL;
}

bool state_op_refuse_fence(struct state_op *op)
{
    err_set(&op->err, ERR_CANCELLED, "not stored: leadership was lost");
    snprintf(op->err.reason, sizeof op->err.reason, "NotLeader");
    return false;
}

bool state_op_refuse_change(struct state_op *op, const char *where)
{
    err_set(&op->err, ERR_OUTDATED, "%s was changed by another process, and is not overwritten", where);
    snprintf(op->err.reason, sizeof op->err.reason, "Conflict");
    return false;
}

/* The figures of the record in a status. */
static void note_record(const struct state_op *op)
{
    struct state_slot *slot = op->slot;
    slot->bytes = *op->mark && op->kind != STATE_MOVE_ASIDE ? op->bytes.len : 0;
    if (op->kind == STATE_MOVE_ASIDE || !op->where) return;
    free(slot->where);
    slot->where = xstrdup(op->where);
}

/* State of the slot from now on. */
static void note_result(const struct state_op *op)
{
    struct state_slot *slot = op->slot;
    bool is_foreign = !op->ok && op->err.code == ERR_OUTDATED;
    slot->is_foreign = state_op_reads(op->kind) ? false : slot->is_foreign || is_foreign;
    if (op->ok || strcmp(slot->mark, op->mark) != 0) slot->sum[0] = '\0';
    memcpy(slot->mark, op->mark, sizeof slot->mark);
    if (op->ok) note_record(op);
    if (op->ok && op->kind != STATE_MOVE_ASIDE && *slot->mark) hash_lasting(buf_slice(&op->bytes), slot->sum);
}

void state_op_end(struct state_op *op)
{
    struct state_store *store = op->store;
    note_result(op);
    /* First: the callback may start another one, which then waits for its turn. */
    op->done(op->ctx, op);
    free_op(op);
    struct state_op *next = TAILQ_FIRST(&store->ops);
    if (next) run(next);
}

/* --- life */

void state_store_init(struct state_store *store)
{
    TAILQ_INIT(&store->ops);
}

void state_store_clear(struct state_store *store)
{
    struct state_op *op;
    while ((op = TAILQ_FIRST(&store->ops))) free_op(op);
    for (size_t i = 0; i < store->slot_count; i++) {
        free(store->slots[i]->place);
        free(store->slots[i]->state);
        free(store->slots[i]->where);
        free(store->slots[i]);
    }
    for (size_t i = 0; i < store->claim_count; i++) free_claim(&store->claims[i]);
    free(store->slots);
    free(store->claims);
}

void state_store_free(struct state_store *store)
{
    if (store) store->free(store);
}

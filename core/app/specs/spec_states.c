/* Kept states of scripts under test; see spec_states.h. */
#include "app/specs/spec_states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

enum { RECORD_MAX = 8 << 20 };

struct stored_state {
    const struct state_slot *slot;
    struct buf bytes;
    unsigned mark;
};

struct spec_states {
    struct state_store base;
    struct loop *loop;
    struct timer timer;
    struct stored_state *items;
    size_t count;
    unsigned marks;
    char *failure; /* NULL: none */
};

static struct spec_states *of(struct state_store *store)
{
    return container_of(store, struct spec_states, base);
}

static struct stored_state *find(struct spec_states *states, const struct state_slot *slot)
{
    for (size_t i = 0; i < states->count; i++)
        if (states->items[i].slot == slot) return &states->items[i];
    return NULL;
}

static void put(struct spec_states *states, const struct state_slot *slot, struct str bytes)
{
    struct stored_state *stored = find(states, slot);
    if (!stored) {
        stored = array_add(states->items, states->count);
        *stored = (struct stored_state){.slot = slot};
    }
    stored->bytes.len = 0;
    buf_str(&stored->bytes, bytes);
    stored->mark = ++states->marks;
}

static void get_mark(const struct stored_state *stored, char mark[STATE_MARK_MAX])
{
    mark[0] = '\0';
    if (stored && stored->mark) snprintf(mark, STATE_MARK_MAX, "%u", stored->mark);
}

static void drop(struct stored_state *stored)
{
    stored->bytes.len = 0;
    stored->mark = 0;
}

static bool change(struct spec_states *states, struct state_op *op)
{
    char mark[STATE_MARK_MAX];
    struct stored_state *stored = find(states, op->slot);
    get_mark(stored, mark);
    if (states->failure) return err_set(&op->err, ERR_IO, "%s", states->failure);
    if (op->fence && !fence_is_open(op->fence)) return state_op_refuse_fence(op);
    if (strcmp(mark, op->mark) != 0) return state_op_refuse_change(op, op->slot->state);
    if (op->kind == STATE_WRITE)
        put(states, op->slot, buf_slice(&op->bytes));
    else if (stored)
        drop(stored);
    get_mark(find(states, op->slot), op->mark);
    return true;
}

static void end_op(struct spec_states *states, struct state_op *op)
{
    const struct stored_state *stored = find(states, op->slot);
    if (state_op_reads(op->kind)) {
        get_mark(stored, op->mark);
        op->ok = true;
        op->found = *op->mark;
        if (op->found) buf_str(&op->bytes, buf_slice(&stored->bytes));
    } else {
        op->ok = change(states, op);
    }
    op->where = xasprintf("%s%s", op->slot->state, op->kind == STATE_MOVE_ASIDE ? ".aside" : "");
    state_op_end(op);
}

static void on_timer(struct timer *timer)
{
    struct spec_states *states = container_of(timer, struct spec_states, timer);
    end_op(states, TAILQ_FIRST(&states->base.ops));
}

static void run(struct state_store *store, struct state_op *op)
{
    if (state_op_reads(op->kind))
        end_op(of(store), op);
    else
        timer_start(&of(store)->timer, loop_clock(of(store)->loop), 0);
}

static void settle(struct state_store *store)
{
    struct state_op *op;
    while ((op = TAILQ_FIRST(&store->ops))) {
        timer_cancel(&of(store)->timer);
        end_op(of(store), op);
    }
}

static void free_states(struct state_store *store)
{
    struct spec_states *states = of(store);
    settle(store);
    state_store_clear(store);
    for (size_t i = 0; i < states->count; i++) buf_clear(&states->items[i].bytes);
    free(states->items);
    free(states->failure);
    free(states);
}

struct state_store *spec_states_new(struct loop *loop)
{
    struct spec_states *states = NEW(struct spec_states);
    *states = (struct spec_states){
        .base = {.keep = "file", .max = RECORD_MAX, .run = run, .settle = settle, .free = free_states},
        .loop = loop,
        .timer.fn = on_timer};
    state_store_init(&states->base);
    return &states->base;
}

struct str spec_states_get(struct state_store *store, const char *script, const char *state)
{
    const struct stored_state *stored = find(of(store), state_store_slot(store, script, state));
    return stored && stored->mark ? buf_slice(&stored->bytes) : (struct str){0};
}

void spec_states_put(struct state_store *store, const char *script, const char *state, struct str bytes)
{
    put(of(store), state_store_slot(store, script, state), bytes);
}

void spec_states_fail(struct state_store *store, const char *reason)
{
    free(of(store)->failure);
    of(store)->failure = reason ? xstrdup(reason) : NULL;
}

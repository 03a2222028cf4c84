#include "core/informer/support/changing_share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/array.h"
#include "core/informer/support/log_double.h"

enum { SETTLED_MS = 1000000 };

int64_t changing_dice(struct changing_share *share, int64_t from, int64_t to)
{
    return jitter_between(&share->jitter, from, to);
}

static void begin_server(struct changing_share *share)
{
    struct fake_server *server = &share->server;
    for (int64_t i = changing_dice(share, 1, 30); i > 0; i--) fake_server_change(server);
    server->fault_percent = (int)changing_dice(share, 0, 40);
    server->silent_percent = changing_dice(share, 0, 3) ? 0 : (int)changing_dice(share, 1, 30);
    server->ignores_initial_events = !changing_dice(share, 0, 6);
}

void changing_begin(struct changing_share *share, uint64_t seed)
{
    *share = (struct changing_share){.jitter = {seed}};
    virtual_clock_init(&share->clock);
    fake_server_init(&share->server, &share->clock.clock, seed ^ 0x5eed);
    share->informer = shared_informer_new("random", NULL, NULL);
    shared_informer_set_clock(share->informer, &share->clock.clock);
    begin_server(share);
    for (int i = 0; i < CHANGING_HANDLERS; i++) {
        share->handlers[i].returning = true;
        share->handlers[i].config = (struct replay_wish){.web_only = !changing_dice(share, 0, 3),
                                                         .split_recreated = changing_dice(share, 0, 2)};
    }
    share->slow = changing_dice(share, 0, 2) ? 1 : changing_dice(share, 5, 30);
    if (share->slow > 1)
        delta_fifo_set_mark(shared_informer_fifo(share->informer), (size_t)changing_dice(share, 1, 20));
    replay_start(&share->handlers[0], share->informer);
    share->page_size = changing_dice(share, 0, 2) ? 0 : (int)changing_dice(share, 1, 6);
}

struct reflector *changing_list(struct changing_share *share, struct reflector_options options)
{
    options.source = &share->server.base;
    options.clock = &share->clock.clock;
    options.seed = jitter_next(&share->jitter);
    options.tuning.page_size = share->page_size;
    struct reflector *list = reflector_new(&options);
    reflector_start(list);
    return list;
}

void changing_end_list(struct changing_share *share, struct reflector *list)
{
    reflector_stop(list);
    *array_add(share->finished, share->finished_count) = list;
}

static void toggle_handler(struct changing_share *share)
{
    struct replay *replay = &share->handlers[changing_dice(share, 1, CHANGING_HANDLERS)];
    if (replay->registration)
        replay_stop(replay);
    else
        replay_start(replay, share->informer);
}

/* Mostly so short that a list is under way. */
static int64_t choose_pause(struct changing_share *share)
{
    switch (changing_dice(share, 0, 10)) {
    case 0: return changing_dice(share, 1000, 700000);
    case 1:
    case 2: return changing_dice(share, 0, 1500);
    default: return changing_dice(share, 0, 80);
    }
}

static void step(struct changing_share *share, void (*toggle)(void *ctx), void (*check)(void *ctx), void *ctx)
{
    struct fake_server *server = &share->server;
    for (int64_t i = changing_dice(share, 0, 4); i > 0; i--) fake_server_change(server);
    if (!changing_dice(share, 0, 8)) fake_server_compact(server);
    if (!changing_dice(share, 0, 40)) fake_server_expire(server);
    if (!changing_dice(share, 0, 10))
        server->lag = changing_dice(share, 0, 2) ? 0 : changing_dice(share, 1, 10);
    if (!changing_dice(share, 0, 3)) toggle(ctx);
    virtual_clock_advance(&share->clock, choose_pause(share));
    if (!changing_dice(share, 0, 5)) toggle(ctx);
    if (!changing_dice(share, 0, share->slow))
        shared_informer_process(share->informer, (size_t)changing_dice(share, 1, 20));
    /* Once everything that was queued is processed, nothing is left of what is not owned. */
    if (!shared_informer_has_work(share->informer)) check(ctx);
    if (!changing_dice(share, 0, 20)) toggle_handler(share);
}

void changing_go_on(struct changing_share *share, void (*toggle)(void *ctx), void (*check)(void *ctx),
                    void *ctx)
{
    for (int64_t i = changing_dice(share, 10, 120); i > 0; i--) step(share, toggle, check, ctx);
}

void changing_settle(struct changing_share *share)
{
    struct reflector_status status;
    share->server.fault_percent = share->server.silent_percent = 0;
    share->server.lag = 0;
    virtual_clock_advance(&share->clock, SETTLED_MS);
    while (shared_informer_process(share->informer, 1000) > 0) {}
    reflector_get_status(share->reflector, &status);
    assert_int_equal(status.state, REFLECTOR_WATCHING);
    assert_true(shared_informer_has_synced(share->informer));
}

void changing_compare(struct changing_share *share,
                      bool (*owned)(void *ctx, int key, const struct root *object), void *ctx,
                      struct changing_totals *totals)
{
    struct root *state[FAKE_KEYS];
    struct indexer *store = shared_informer_indexer(share->informer);
    size_t count = 0;
    fake_server_state(&share->server, fake_server_version(&share->server), state);
    for (int key = 0; key < FAKE_KEYS; key++) {
        if (state[key] && !owned(ctx, key, state[key])) state[key] = NULL;
        if (!state[key]) continue;
        assert_ptr_equal(indexer_get_like(store, state[key]), state[key]);
        count++;
    }
    assert_int_equal(indexer_count(store), count);
    for (int i = 0; i < CHANGING_HANDLERS; i++)
        if (share->handlers[i].registration) replay_compare(&share->handlers[i], state);
    totals->compared += count;
}

void changing_end(struct changing_share *share, struct changing_totals *totals)
{
    for (size_t i = 0; i < share->finished_count; i++) reflector_free(share->finished[i]);
    free(share->finished);
    for (int i = 0; i < CHANGING_HANDLERS; i++) {
        totals->calls += share->handlers[i].calls;
        totals->coalesced += share->handlers[i].coalesced_calls;
        replay_stop(&share->handlers[i]);
    }
    totals->lists += share->server.lists;
    totals->watches += share->server.watches;
    shared_informer_free(share->informer);
    fake_server_clear(&share->server);
    assert_int_equal(clock_next_due_ms(&share->clock.clock), INT64_MAX);
    virtual_clock_clear(&share->clock);
    log_take();
}

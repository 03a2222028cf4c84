/* Replaying a handler's calls; see replay.h. */
#include "core/informer/support/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int64_t version_of(const struct root *object)
{
    struct text text;
    struct str version = root_resource_version(object, &text);
    uint64_t number = 0;
    assert_true(str_to_u64(version, &number));
    return (int64_t)number;
}

static void digest(struct replay *replay, uint64_t number)
{
    struct jitter mix = {replay->digest ^ number};
    replay->digest = jitter_next(&mix);
}

/* In order per key: what is told is never older than what was told before. */
static void note(struct replay *replay, const struct root *object, bool newer, char call,
                 const struct event_info *info)
{
    int key = fake_key(object);
    int64_t version = version_of(object);
    replay->calls++;
    digest(replay, (uint64_t)call << 56 | (uint64_t)key << 48 | (uint64_t)version);
    digest(replay, (uint64_t)info->initial << 1 | info->final_state_unknown);
    if (newer)
        assert_true(version > replay->version[key]);
    else
        assert_true(version >= replay->version[key]);
    replay->version[key] = version;
}

/* the store comes first. */
static void expect_stored(const struct replay *replay, const struct root *object, const struct root *expected)
{
    assert_ptr_equal(indexer_get_like(shared_informer_indexer(replay->informer), object), expected);
}

static void finish(struct replay *replay)
{
    if (replay->meddle) replay->meddle(replay->ctx);
}

static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    struct replay *replay = ctx;
    int key = fake_key(object);
    bool initial = replay->taking_it_in || !registration_has_synced(replay->registration);
    assert_null(replay->map[key]);                        /* no duplicate add */
    if (replay->taking_it_in) assert_true(info->initial); /* I-5 */
    if (!initial) assert_false(info->initial);            /* */
    note(replay, object, true, 'a', info);
    expect_stored(replay, object, object);
    replay->map[key] = root_ref(object);
    finish(replay);
}

static void on_update(void *ctx, struct root *before, struct root *after, const struct event_info *info)
{
    struct replay *replay = ctx;
    int key = fake_key(after);
    assert_non_null(before);
    assert_ptr_equal(replay->map[key], before); /* no update of a missing key, none skipped */
    note(replay, after, true, 'u', info);
    expect_stored(replay, after, after);
    replay->map[key] = root_ref(after);
    root_unref(before);
    finish(replay);
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    struct replay *replay = ctx;
    int key = fake_key(last);
    if (!replay->blind) assert_non_null(replay->map[key]);
    if (info->final_state_unknown) assert_ptr_equal(replay->map[key], last); /* B-5 */
    note(replay, last, !info->final_state_unknown, 'd', info);
    expect_stored(replay, last, NULL);
    root_unref(replay->map[key]);
    replay->map[key] = NULL;
    finish(replay);
}

static void forget(struct replay *replay)
{
    for (int i = 0; i < FAKE_KEYS; i++) {
        root_unref(replay->map[i]);
        replay->map[i] = NULL;
        replay->version[i] = 0;
    }
}

void replay_start(struct replay *replay, struct shared_informer *informer)
{
    struct event_handler handler = {
        .on_add = on_add, .on_update = on_update, .on_delete = on_delete, .ctx = replay};
    forget(replay);
    replay->informer = informer;
    replay->taking_it_in = true;
    shared_informer_add_handler(informer, &handler, &replay->registration);
    replay->taking_it_in = false;
}

void replay_stop(struct replay *replay)
{
    if (replay->registration) shared_informer_remove_handler(replay->informer, replay->registration);
    replay->registration = NULL;
    forget(replay);
}

void replay_compare(const struct replay *replay, struct root *const state[FAKE_KEYS])
{
    for (int key = 0; key < FAKE_KEYS; key++) assert_ptr_equal(replay->map[key], state[key]);
}

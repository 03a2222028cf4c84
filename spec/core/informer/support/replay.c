/* Replaying a handler's calls; see replay.h. */
#include "core/informer/support/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "informer/shared/registration.h"

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
    replay->coalesced_calls += info->coalesced;
    digest(replay, (uint64_t)call << 56 | (uint64_t)key << 48 | (uint64_t)version);
    digest(replay, (uint64_t)info->initial << 1 | info->final_state_unknown);
    if (newer && !(replay->returning && call == 'a'))
        assert_true(version > replay->version[key]);
    else
        assert_true(version >= replay->version[key]);
    replay->version[key] = version;
}

static const struct root *stored(const struct replay *replay, const struct root *object)
{
    return indexer_get_like(shared_informer_indexer(replay->informer), object);
}

/* It is shown the store that was there when it came (I-5). */
static bool is_taking_it_in(const struct replay *replay)
{
    return !registration_initial_done(replay->registration);
}

/* S-10. What was merged in the queue is newer than the version, which comes behind it. */
static void check_store_version(const struct replay *replay, const struct root *object,
                                const struct event_info *info)
{
    if (is_taking_it_in(replay) || info->coalesced || info->resync || replay->returning) return;
    uint64_t version = 0;
    assert_true(
        str_to_u64(str_of(indexer_resource_version(shared_informer_indexer(replay->informer))), &version));
    assert_true((int64_t)version >= version_of(object));
}

static void meddle(struct replay *replay)
{
    if (replay->meddle) replay->meddle(replay->ctx);
}

/* --- what it wants */

static bool is_web(const struct root *object)
{
    return value_str_is(value_field(root_labels(object), STR("tier")), STR("web"));
}

static bool is_wanted(const struct replay *replay, const struct root *object)
{
    if (replay->config.web_only && !is_web(object)) return false;
    return !replay->config.even_only || version_of(object) % 2 == 0;
}

static bool passes(void *ctx, struct root *object)
{
    struct replay *replay = ctx;
    bool wanted = !replay->config.even_only || version_of(object) % 2 == 0;
    meddle(replay);
    return wanted;
}

static bool same_uid(const struct root *a, const struct root *b)
{
    struct text text_a, text_b;
    return str_eq(root_uid(a, &text_a), root_uid(b, &text_b));
}

/* --- what it is told */

static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    struct replay *replay = ctx;
    int key = fake_key(object);
    bool initial = !registration_has_synced(replay->registration);
    assert_null(replay->map[key]); /* no duplicate add */
    assert_true(is_wanted(replay, object));
    if (is_taking_it_in(replay)) assert_true(info->initial);     /* I-5 */
    if (!initial || info->filtered) assert_false(info->initial); /* Q-13, I-18 */
    note(replay, object, true, 'a', info);
    assert_ptr_equal(stored(replay, object), object); /* the store comes first */
    check_store_version(replay, object, info);
    replay->map[key] = root_ref(object);
    replay->filtered_calls += info->filtered;
    meddle(replay);
}

/* B-4, I-17 */
static void note_same_version(struct replay *replay, const struct root *before, const struct root *after,
                              const struct event_info *info)
{
    assert_true(info->resync ? replay->config.resync_ms > 0 : replay->config.unchanged);
    if (info->resync) assert_ptr_equal(before, after);
    replay->resync_calls += info->resync;
    replay->unchanged_calls += !info->resync;
}

static void on_update(void *ctx, struct root *before, struct root *after, const struct event_info *info)
{
    struct replay *replay = ctx;
    int key = fake_key(after);
    bool same = before && version_of(before) == version_of(after);
    assert_non_null(before);
    assert_ptr_equal(replay->map[key], before); /* no update of a missing key, none skipped */
    assert_true(is_wanted(replay, after));
    if (replay->config.split_recreated) assert_true(same_uid(before, after)); /* */
    if (same) note_same_version(replay, before, after, info);
    if (info->resync) assert_true(same);
    note(replay, after, !same, 'u', info);
    assert_ptr_equal(stored(replay, after), after);
    check_store_version(replay, after, info);
    replay->map[key] = root_ref(after);
    root_unref(before);
    meddle(replay);
}

/* The key is gone from the store, but when the filter made the delete, or when something else came in its
 * place. */
static void check_delete(struct replay *replay, const struct root *last, const struct event_info *info)
{
    const struct root *now = stored(replay, last);
    if (info->filtered) {
        assert_non_null(now);
        assert_false(is_wanted(replay, now)); /* I-18 */
        assert_ptr_equal(replay->map[fake_key(last)], last);
    } else if (now) {
        assert_true(replay->config.split_recreated && info->final_state_unknown);
        assert_false(same_uid(now, last)); /* */
        replay->recreated_calls++;
    }
    replay->filtered_calls += info->filtered;
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    struct replay *replay = ctx;
    int key = fake_key(last);
    if (!replay->blind) assert_non_null(replay->map[key]);
    if (info->final_state_unknown) assert_ptr_equal(replay->map[key], last); /* Q-8, B-5 */
    check_delete(replay, last, info);
    note(replay, last, !info->final_state_unknown && !info->filtered && info->shard != SHARD_LOST, 'd', info);
    root_unref(replay->map[key]);
    replay->map[key] = NULL;
    meddle(replay);
}

/* --- coming and going */

static void forget(struct replay *replay)
{
    for (int i = 0; i < FAKE_KEYS; i++) {
        root_unref(replay->map[i]);
        replay->map[i] = NULL;
        replay->version[i] = 0;
    }
}

static struct handler_options *options_for(const struct replay_wish *config)
{
    struct handler_options *options = handler_options_new();
    struct err err;
    if (config->web_only)
        assert_true(filter_set_selector(handler_options_filter(options), STR("tier=web"), &err));
    options->unchanged = config->unchanged;
    options->split_recreated = config->split_recreated;
    if (config->resync_ms) handler_options_set_resync(options, config->resync_ms);
    return options;
}

void replay_start(struct replay *replay, struct shared_informer *informer)
{
    struct handler_options *options = options_for(&replay->config);
    struct event_handler handler = {.on_add = on_add,
                                    .on_update = on_update,
                                    .on_delete = on_delete,
                                    .ctx = replay,
                                    .passes = replay->config.even_only ? passes : NULL,
                                    .options = options};
    forget(replay);
    replay->informer = informer;
    shared_informer_add_handler(informer, &handler, &replay->registration);
    handler_options_unref(options);
}

void replay_stop(struct replay *replay)
{
    if (replay->registration) shared_informer_remove_handler(replay->informer, replay->registration);
    replay->registration = NULL;
    forget(replay);
}

void replay_compare(const struct replay *replay, struct root *const state[FAKE_KEYS])
{
    for (int key = 0; key < FAKE_KEYS; key++) {
        bool there = state[key] && is_wanted(replay, state[key]);
        assert_ptr_equal(replay->map[key], there ? state[key] : NULL);
    }
}

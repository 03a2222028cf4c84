/* core/script/handlers/pending_events.c: what waits for a handler (I-8, B-2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "core/script/support/fixture.h"
#include "script/handlers/pending_events.h"

enum { KEYS = 6, MARK = 4, STEPS = 400, ROUNDS = 300 };

static struct root *pack(struct fixture *f, int key, int uid, int version)
{
    char json[256];
    snprintf(json, sizeof json,
             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"n\",\"name\":\"k%d\","
             "\"uid\":\"u%d\","
             "\"resourceVersion\":\"%d\"}}",
             key, uid, version);
    return fixture_pack(f, json);
}

/* --- single joins: letters are puts of one key ("A" add, "U" update, "D" delete, "T" tombstone, "d" delete
 * of a key that was never seen), what comes out is told the same way, with the version that was told before
 * it and its own: "U1>3" */

static const char *outcome(struct fixture *f, const char *puts, enum pending_pairs pairs, bool new_uids)
{
    static char text[128];
    struct pending_events pending;
    struct root *objects[8] = {NULL};
    struct handler_event event;
    int uid = 1;
    bool known = *puts != 'd'; /* to the cache */
    pending_init(&pending, 0, pairs,
                 strlen(puts) % 2 == 0); /* always full; the order of one key is the same by key */
    objects[0] = pack(f, 0, uid, 0);
    for (int i = 0; puts[i]; i++) {
        if (puts[i] == 'A' && new_uids) uid++;
        objects[i + 1] = pack(f, 0, uid, i + 1);
        event = (struct handler_event){.type = puts[i] == 'A'   ? ON_ADD
                                               : puts[i] == 'U' ? ON_UPDATE
                                                                : ON_DELETE,
                                       .object = objects[i + 1],
                                       .info = {.final_state_unknown = puts[i] == 'T', .received_us = i + 1}};
        if (puts[i] != 'A' && known) event.old_object = objects[i];
        known = event.type != ON_DELETE;
        pending_put(&pending, &event);
    }
    char *out = text;
    *out = '\0';
    while (pending_take(&pending, &event)) {
        struct text buffer;
        struct str version = root_resource_version(event.object, &buffer);
        out += sprintf(out, "%s%c", out == text ? "" : " ",
                       event.info.final_state_unknown ? 'T' : "AUD"[event.type]);
        if (event.old_object) {
            struct text old;
            out += sprintf(out, "%.*s>", STR_ARG(root_resource_version(event.old_object, &old)));
        }
        out += sprintf(out, "%.*s%s", STR_ARG(version), event.info.coalesced ? "" : "!");
        event_let_go(&event);
    }
    for (int i = 0; i < 8; i++) root_unref(objects[i]);
    return text;
}

static void test_events_of_a_key_join_when_the_list_is_full(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *puts, *joined, *kept; /* `kept`: with PENDING_KEEP_PAIRS */
    } cases[] = {
        {"A", "A1!", "A1!"},         {"AU", "A2", "A2"},           {"AD", "", ""},
        {"ADA", "A3", "A3"},         {"ADAU", "A4", "A4"},         {"UU", "U0>2", "U0>2"},
        {"UUU", "U0>3", "U0>3"},     {"D", "D0>1!", "D0>1!"},      {"UD", "D0>2", "D0>2"},
        {"UUD", "D0>3", "D0>3"},     {"DA", "U0>2", "D0>1! A2!"},  {"DAU", "U0>3", "D0>1! A3"},
        {"DAD", "D0>3", "D0>1!"},    {"UDA", "U0>3", "D0>2 A3!"},  {"TD", "D0>2", "D0>2"},
        {"DT", "D0>1", "D0>1"},      {"TT", "T0>2", "T0>2"},       {"ADD", "", ""},
        {"UDAU", "U0>4", "D0>2 A4"}, {"DADA", "U0>4", "D0>1! A4"}, {"ADU", "A3", "A3"},
        {"UT", "T0>2", "T0>2"},      {"UDAD", "D0>4", "D0>2"},     {"ADDA", "A4", "A4"},
        {"d", "D1!", "D1!"},         {"dA", "A2", "D1! A2!"},      {"dAU", "A3", "D1! A3"},
        {"dAD", "", "D1!"},          {"dD", "D1", "D1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(outcome(f, cases[i].puts, PENDING_JOIN_ALL, false), cases[i].joined);
        assert_string_equal(outcome(f, cases[i].puts, PENDING_KEEP_PAIRS, false), cases[i].kept);
        assert_string_equal(outcome(f, cases[i].puts, PENDING_SPLIT_RECREATED, false), cases[i].joined);
        assert_string_equal(outcome(f, cases[i].puts, PENDING_SPLIT_RECREATED, true),
                            cases[i].kept); /* */
    }
}

static void test_flags_report_what_became_of_the_event(void **state)
{
    struct fixture *f = *state;
    struct pending_events pending;
    struct handler_event event;
    struct root *a = pack(f, 0, 1, 1), *b = pack(f, 0, 1, 2);
    pending_init(&pending, 0, PENDING_JOIN_ALL, false);
    pending_put(&pending, &(struct handler_event){
                              .type = ON_ADD, .object = a, .info = {.initial = true, .received_us = 1}});
    pending_put(&pending, &(struct handler_event){.type = ON_UPDATE,
                                                  .old_object = a,
                                                  .object = a,
                                                  .info = {.resync = true, .received_us = 2}});
    assert_true(pending_take(&pending, &event));
    assert_true(event.info.initial && event.info.coalesced && !event.info.resync);
    event_let_go(&event);
    pending_put(&pending, &(struct handler_event){.type = ON_UPDATE,
                                                  .old_object = a,
                                                  .object = a,
                                                  .info = {.resync = true, .received_us = 2}});
    pending_put(&pending, &(struct handler_event){.type = ON_UPDATE,
                                                  .old_object = a,
                                                  .object = a,
                                                  .info = {.resync = true, .received_us = 3}});
    assert_true(pending_take(&pending, &event));
    assert_true(event.info.resync && event.info.received_us == 3);
    event_let_go(&event);
    pending_put(&pending, &(struct handler_event){
                              .type = ON_UPDATE, .old_object = a, .object = b, .info = {.received_us = 2}});
    pending_put(&pending, &(struct handler_event){.type = ON_UPDATE,
                                                  .old_object = b,
                                                  .object = b,
                                                  .info = {.resync = true, .received_us = 3}});
    assert_true(pending_take(&pending, &event));
    assert_true(!event.info.resync && event.old_object == a && event.object == b);
    event_let_go(&event);
    pending_put(&pending, &(struct handler_event){.type = ON_ADD, .object = a, .info = {.filtered = true}});
    pending_put(&pending, &(struct handler_event){
                              .type = ON_UPDATE, .old_object = a, .object = b, .info = {.received_us = 2}});
    assert_true(pending_take(&pending, &event));
    assert_true(event.type == ON_ADD && event.info.filtered);
    event_let_go(&event);
    pending_put(&pending, &(struct handler_event){
                              .type = ON_DELETE, .old_object = a, .object = a, .info = {.filtered = true}});
    pending_put(&pending, &(struct handler_event){.type = ON_ADD, .object = b, .info = {.filtered = true}});
    assert_true(pending_take(&pending, &event));
    assert_true(event.type == ON_UPDATE && !event.info.filtered); /* it passed before and does now */
    event_let_go(&event);
    root_unref(a);
    root_unref(b);
}

static void test_what_is_left_is_let_go(void **state)
{
    struct fixture *f = *state;
    struct pending_events pending;
    pending_init(&pending, 2, PENDING_JOIN_ALL, false);
    for (int i = 0; i < 5; i++) {
        struct root *object = pack(f, i % 3, 1, i);
        pending_put(&pending, &(struct handler_event){.type = ON_ADD, .object = object});
        root_unref(object);
    }
    assert_int_equal(pending.count, 3);
    pending_clear(&pending);
    assert_int_equal(pending.count, 0);
} /* the fixture looks for what leaked */

static void put_add(struct fixture *f, struct pending_events *pending, int key, int version, bool initial)
{
    struct root *object = pack(f, key, 1, version);
    pending_put(pending,
                &(struct handler_event){.type = ON_ADD, .object = object, .info = {.initial = initial}});
    root_unref(object);
}

static int key_of(const struct root *object)
{
    struct text text;
    return root_name(object, &text).p[1] - '0';
}

/* "0.1 2.3": keys and versions, of all that may be taken. */
static const char *taken(struct pending_events *pending)
{
    static char text[128];
    char *out = text;
    struct handler_event event;
    *out = '\0';
    while (pending_has_next(pending) && pending_take(pending, &event)) {
        struct text buffer;
        out += sprintf(out, "%s%d.%.*s", out == text ? "" : " ", key_of(event.object),
                       STR_ARG(root_resource_version(event.object, &buffer)));
        event_let_go(&event);
    }
    return text;
}

static void test_keys_take_turns_and_a_locked_one_waits(void **state)
{
    struct fixture *f = *state;
    struct pending_events pending;
    struct root *zero = pack(f, 0, 1, 0), *five = pack(f, 5, 1, 0);
    pending_init(&pending, 1000, PENDING_JOIN_ALL, true);
    struct pending_key *held = pending_lock(&pending, zero), *other = pending_lock(&pending, five);
    for (int i = 1; i <= 8; i++) put_add(f, &pending, i % 2 ? 0 : 1 + i % 4, i, false);
    assert_true(pending_is_locked(&pending, zero));
    assert_string_equal(taken(&pending), "3.2 1.4 3.6 1.8");
    assert_int_equal(pending.count, 4);
    assert_ptr_equal(pending_lock(&pending, zero), held); /* twice */
    pending_unlock(&pending, held);
    assert_false(pending_has_next(&pending));
    put_add(f, &pending, 2, 9, false);
    pending_unlock(&pending, held);
    assert_false(pending_is_locked(&pending, zero));
    assert_string_equal(taken(&pending), "2.9 0.1 0.3 0.5 0.7");
    put_add(f, &pending, 5, 10, false);
    pending_clear(&pending); /* what is held stays held */
    assert_true(pending_is_locked(&pending, five));
    pending_unlock(&pending, other);
    assert_null(pending.keys);
    root_unref(zero);
    root_unref(five);
}

static void test_it_counts_what_is_left_of_the_first_list(void **state)
{
    struct fixture *f = *state;
    struct pending_events pending;
    struct handler_event event;
    struct root *object = pack(f, 1, 1, 5);
    pending_init(&pending, 0, PENDING_JOIN_ALL, true);
    put_add(f, &pending, 0, 1, true);
    put_add(f, &pending, 1, 2, true);
    put_add(f, &pending, 0, 3, false); /* still new to the handler */
    put_add(f, &pending, 2, 4, false);
    assert_int_equal(pending.initial, 2);
    pending_put(&pending,
                &(struct handler_event){.type = ON_DELETE, .object = object}); /* nothing is left of it */
    assert_int_equal(pending.initial, 1);
    assert_true(pending_take(&pending, &event));
    event_let_go(&event);
    assert_int_equal(pending.initial, 0);
    pending_clear(&pending);
    root_unref(object);
}

/* --- any order of puts and takes: the handler always sees a possible history, and its end is the truth */

struct world {
    struct root *truth[KEYS], *seen[KEYS];
    struct pending_events pending;
    struct pending_key *held[KEYS]; /* by key: some are, now and then */
    int version, uid;
    size_t most;
    bool joined;
};

static void change(struct fixture *f, struct world *w)
{
    int key = rand() % KEYS;
    struct root *before = w->truth[key], *after;
    if (before && rand() % 3 == 0) { /* the last state may be newer than any update */
        after = pack(f, key, w->uid, ++w->version);
        w->joined |= pending_put(
            &w->pending, &(struct handler_event){.type = ON_DELETE, .old_object = before, .object = after});
        root_unref(after);
        after = NULL;
    } else {
        if (!before) w->uid++;
        after = pack(f, key, w->uid, ++w->version);
        w->joined |= pending_put(&w->pending, &(struct handler_event){.type = before ? ON_UPDATE : ON_ADD,
                                                                      .old_object = before,
                                                                      .object = after});
    }
    root_unref(before);
    w->truth[key] = after;
    if (w->pending.count > w->most) w->most = w->pending.count;
}

static bool take(struct world *w)
{
    struct handler_event event;
    if (!pending_take(&w->pending, &event)) return false;
    int key = key_of(event.object);
    assert_null(w->held[key]);
    struct root *before = w->seen[key];
    assert_int_equal(event.type == ON_ADD, before == NULL);
    assert_ptr_equal(event.old_object, before); /* what the handler saw last */
    w->seen[key] = event.type == ON_DELETE ? NULL : root_ref(event.object);
    root_unref(before);
    event_let_go(&event);
    return true;
}

/* Another call begins to wait, or one has ended. */
static void hold(struct fixture *f, struct world *w, int key)
{
    if (w->held[key]) {
        pending_unlock(&w->pending, w->held[key]);
        w->held[key] = NULL;
        return;
    }
    struct root *object = pack(f, key, 1, 1);
    w->held[key] = pending_lock(&w->pending, object);
    root_unref(object);
}

static void test_a_random_history_is_delivered_in_order_and_to_its_end(void **state)
{
    struct fixture *f = *state;
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    printf("SEED=%u\n", seed);
    srand(seed);
    for (int round = 0; round < ROUNDS; round++) {
        struct world w = {0};
        bool slow = round % 2; /* else the handler keeps up and nothing may join */
        bool by_key = slow && round % 4 == 1;
        pending_init(&w.pending, MARK, (enum pending_pairs)(round % 3), by_key);
        for (int i = 0; i < STEPS / 10; i++) {
            change(f, &w);
            if (by_key && rand() % 3 == 0) hold(f, &w, rand() % KEYS);
            if (slow ? rand() % 4 == 0 : true) take(&w);
        }
        for (int key = 0; key < KEYS; key++)
            if (w.held[key]) hold(f, &w, key);
        while (take(&w)) {}
        assert_true(w.joined == slow || (slow && w.most < MARK));
        assert_true(w.most <= MARK + 2 * KEYS);
        assert_int_equal(w.pending.count, 0);
        assert_null(w.pending.keys);
        for (int key = 0; key < KEYS; key++) {
            assert_ptr_equal(w.seen[key], w.truth[key]);
            root_unref(w.seen[key]);
            root_unref(w.truth[key]);
        }
        pending_clear(&w.pending);
    }
}

static void test_the_memory_of_a_long_list_is_given_back_once_it_is_empty(void **state)
{
    enum { MANY = 40000 };
    struct fixture *f = *state;
    struct pending_events pending;
    struct handler_event event;
    struct root *object = pack(f, 0, 1, 1);
    pending_init(&pending, MANY, PENDING_JOIN_ALL, false);
    for (int i = 0; i < MANY; i++)
        pending_append(&pending, &(struct handler_event){.type = ON_UPDATE, .object = object});
    while (pending.count > 1) {
        pending_take(&pending, &event);
        event_let_go(&event);
    }
    assert_false(mem_give_back() || mem_give_back()); /* it may get long again */
    pending_clear(&pending);
    assert_false(mem_give_back()); /* just now */
    assert_true(mem_give_back());
    root_unref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        T(test_events_of_a_key_join_when_the_list_is_full),
        T(test_flags_report_what_became_of_the_event),
        T(test_what_is_left_is_let_go),
        T(test_keys_take_turns_and_a_locked_one_waits),
        T(test_it_counts_what_is_left_of_the_first_list),
        T(test_the_memory_of_a_long_list_is_given_back_once_it_is_empty),
        T(test_a_random_history_is_delivered_in_order_and_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tables and plans: texts, new members, deaths, confirmed moves; and at random, that no plan moves more than
 * it must and gives away what was not given up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/time/backoff.h"
#include "core/informer/support/runs.h"
#include "informer/shard/plan.h"

enum { START = 1000 };

static struct shard_table table;

static int open_table(void **state)
{
    shard_table_init(&table);
    return 0;
}

static int close_table(void **state)
{
    shard_table_clear(&table);
    return runs_failed() ? 1 : 0;
}

static bool plan(const struct shard_fact *facts, size_t count)
{
    return shard_plan(&table, facts, count, START, false);
}

static void assert_table(const char *expected)
{
    struct buf out = {0};
    shard_table_write(&table, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
}

static void test_a_new_table_gives_nothing_before_all_have_seen_it(void **state)
{
    struct shard_fact facts[] = {{.name = STR("a")}, {.name = STR("b")}};
    assert_true(plan(facts, 2));
    assert_table("kubelua-shards 1\nepoch 1001\nbarrier 1001\nmember a \nmember b \n");
    assert_false(plan(facts, 2));
    facts[0].seen = 1001;
    assert_false(plan(facts, 2));
    facts[1].seen = 1001;
    assert_true(plan(facts, 2));
    assert_table("kubelua-shards 1\nepoch 1002\nmember a 0-2047\nmember b 2048-4095\n");
    assert_false(plan(facts, 2));
}

static void test_a_table_that_replaces_another_waits_for_deleted_leases(void **state)
{
    struct shard_fact facts[] = {{.name = STR("a"), .seen = 7}};
    assert_true(plan(facts, 1));
    assert_table("kubelua-shards 1\nepoch 1001\nbarrier 1001 replaces\nmember a \n");
    facts[0].seen = 1001;
    assert_false(plan(facts, 1));
    assert_true(shard_plan(&table, facts, 1, START, true));
    assert_table("kubelua-shards 1\nepoch 1002\nmember a 0-4095\n");
}

static void test_a_member_that_joins_gets_what_others_gave_up(void **state)
{
    struct shard_fact facts[] = {{.name = STR("a")}, {.name = STR("b")}};
    plan(facts, 1);
    facts[0].seen = facts[1].seen = 1001;
    plan(facts, 1);
    assert_true(plan(facts, 2));
    assert_table("kubelua-shards 1\nepoch 1003\nmember a 0-2047\nmember b \nleaving a 1003 2048-4095\n");
    assert_false(plan(facts, 2));
    facts[0].seen = 1003;
    assert_true(plan(facts, 2));
    assert_table("kubelua-shards 1\nepoch 1004\nmember a 0-2047\nmember b 2048-4095\n");
}

static void test_what_a_dead_member_had_is_given_at_once(void **state)
{
    struct shard_fact facts[] = {{.name = STR("a")}, {.name = STR("b")}};
    plan(facts, 2);
    facts[0].seen = facts[1].seen = 1001;
    plan(facts, 2);
    facts[0].gone = true;
    assert_true(plan(facts, 2));
    assert_table("kubelua-shards 1\nepoch 1003\nmember b 0-4095\n");
    /* One without a fact is not known to be gone. */
    assert_false(plan(facts, 0));
}

static void test_one_without_a_lease_is_not_a_new_member(void **state)
{
    struct shard_fact facts[] = {{.name = STR("a")}, {.name = STR("b"), .seen = 1001, .missing = true}};
    plan(facts, 2);
    assert_table("kubelua-shards 1\nepoch 1002\nbarrier 1002 replaces\nmember a \n");
}

static void test_epochs_stay_above_what_was_applied(void **state)
{
    struct shard_fact facts[] = {{.name = STR("a"), .seen = 5000}};
    assert_true(plan(facts, 1));
    assert_int_equal(table.epoch, 5001);
    assert_int_equal(table.barrier, 5001);
}

static void test_malformed_tables_are_refused_with_their_line(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "line 1: not a table"},
        {"nonsense\n", "line 1: not a table"},
        {"kubelua-shards 1\n", "the epoch is missing"},
        {"kubelua-shards 1\nepoch x\n", "line 2: not an epoch"},
        {"kubelua-shards 1\nepoch 1\nmember a 0\nmember a 1\n", "line 4: not another member"},
        {"kubelua-shards 1\nepoch 1\nmember a 0\nmember b 0\n", "line 4: slots of two members"},
        {"kubelua-shards 1\nepoch 1\nmember a 9999\n", "line 3: slots of two members"},
        {"kubelua-shards 1\nepoch 1\nleaving a 1 0\n", "line 3: not a member"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err;
        shard_table_clear(&table);
        assert_false(shard_table_read(str_of(cases[i].text), &table, &err));
        if (!strstr(err.text, cases[i].error)) fail_msg("%s is not in %s", cases[i].error, err.text);
    }
}

static void test_a_view_is_one_members_part(void **state)
{
    struct shard_view view;
    struct err err;
    struct slot_set expected = {0};
    slot_set_add_run(&expected, 7, 10);
    assert_true(shard_view_read(STR("kubelua-shards 1\nepoch 9\nmember a 0-6\nmember b 7-9\nlater x y\n"
                                    "leaving b 8 10-11\nleaving a 9 12\n"),
                                STR("b"), &view, &err));
    assert_int_equal(view.epoch, 9);
    assert_int_equal(view.confirm, 8);
    assert_int_equal(view.rank, 1);
    assert_int_equal(view.members, 2);
    assert_string_equal(view.first, "a");
    assert_true(slot_set_equal(&view.slots, &expected));
    assert_true(shard_view_read(STR("kubelua-shards 1\nepoch 9\nbarrier 9\n"), STR("b"), &view, &err));
    assert_int_equal(view.confirm, 9);
    assert_int_equal(view.rank, SHARD_NOBODY);
    assert_string_equal(view.first, "");
}

/* --- at random */

enum { MOST = 40, STEPS = 60 };

struct crowd {
    struct jitter chance;
    struct shard_fact facts[MOST + STEPS];
    char names[MOST + STEPS][16];
    size_t count, joined;
};

static void join(struct crowd *c)
{
    char *name = c->names[c->joined];
    snprintf(name, sizeof c->names[0], "m%03zu", c->joined);
    c->facts[c->count++] = (struct shard_fact){.name = str_of(name), .seen = table.epoch};
    c->joined++;
}

static void assert_balanced(void)
{
    for (size_t i = 0; i < table.count; i++) {
        struct slot_set set = shard_table_slots(&table, i);
        assert_in_range(slot_set_count(&set), SHARD_SLOTS / table.count,
                        (SHARD_SLOTS + table.count - 1) / table.count);
    }
}

/* Plans until nothing changes, and everybody confirms; what one owned and did not give up stays its. */
static void settle(struct crowd *c)
{
    table.replaces = false;
    do {
        for (size_t i = 0; i < c->count; i++)
            if (!c->facts[i].gone) c->facts[i].seen = table.epoch;
    } while (plan(c->facts, c->count));
    assert_balanced();
}

static size_t moved(char owners[SHARD_SLOTS][SHARD_NAME_MAX])
{
    size_t moves = 0;
    for (size_t slot = 0; slot < SHARD_SLOTS; slot++) {
        const char *now = table.members[table.owner[slot]].name;
        moves += strcmp(owners[slot], now) != 0;
        snprintf(owners[slot], SHARD_NAME_MAX, "%s", now);
    }
    return moves;
}

static void assert_text_is_exact(void)
{
    struct buf out = {0}, again = {0};
    struct shard_table copy;
    struct err err;
    shard_table_init(&copy);
    shard_table_write(&table, &out);
    assert_true(shard_table_read(buf_slice(&out), &copy, &err));
    shard_table_write(&copy, &again);
    assert_true(str_eq(buf_slice(&out), buf_slice(&again)));
    shard_table_clear(&copy);
    buf_clear(&out);
    buf_clear(&again);
}

static char owners[SHARD_SLOTS][SHARD_NAME_MAX];

static void play(uint64_t seed)
{
    struct crowd *c = NEW(struct crowd);
    c->chance.state = seed;
    shard_table_clear(&table);
    join(c);
    settle(c);
    moved(owners);
    for (int step = 0; step < STEPS; step++) {
        bool grows = table.count < 2 || (table.count < MOST && jitter_between(&c->chance, 0, 2) == 0);
        size_t before = table.count, least = SHARD_SLOTS / (before + 1);
        if (grows) {
            join(c);
        } else {
            if (!c->count) return;
            size_t at = (size_t)(jitter_next(&c->chance) % c->count);
            while (c->facts[at].gone) at = (at + 1) % c->count;
            size_t member = shard_table_find(&table, c->facts[at].name);
            struct slot_set set = shard_table_slots(&table, member);
            c->facts[at].gone = true;
            least = slot_set_count(&set);
        }
        plan(c->facts, c->count);
        assert_text_is_exact();
        settle(c);
        assert_int_equal(table.count, grows ? before + 1 : before - 1);
        assert_int_equal(moved(owners), least);
    }
    free(c);
}

static void test_no_more_moves_than_needed(void **state)
{
    runs_play(play, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_new_table_gives_nothing_before_all_have_seen_it, open_table,
                                        close_table),
        cmocka_unit_test_setup_teardown(test_a_table_that_replaces_another_waits_for_deleted_leases,
                                        open_table, close_table),
        cmocka_unit_test_setup_teardown(test_a_member_that_joins_gets_what_others_gave_up, open_table,
                                        close_table),
        cmocka_unit_test_setup_teardown(test_what_a_dead_member_had_is_given_at_once, open_table,
                                        close_table),
        cmocka_unit_test_setup_teardown(test_one_without_a_lease_is_not_a_new_member, open_table,
                                        close_table),
        cmocka_unit_test_setup_teardown(test_epochs_stay_above_what_was_applied, open_table, close_table),
        cmocka_unit_test_setup_teardown(test_malformed_tables_are_refused_with_their_line, open_table,
                                        close_table),
        cmocka_unit_test_setup_teardown(test_a_view_is_one_members_part, open_table, close_table),
        cmocka_unit_test_setup_teardown(test_no_more_moves_than_needed, open_table, close_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* core/script/handlers/delivery.c: any order of events, waits, ends and hand-overs, beside a simple model of
 * what a handler may be told. SEED repeats a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/script/support/feed.h"
#include "script/handlers/delivery.h"

enum { KEYS = 6, STEPS = 400, ROUNDS = 60, VERSIONS = STEPS + 1, MARK = 5 };

struct key {
    struct root *truth;
    int latest;             /* its version */
    int seen, was_seen;     /* version that the handler knows, 0 for none; that of what it was told last */
    int calls;              /* that have begun and not ended */
    int64_t quiet_since_ms; /* the last event of it */
    int64_t restless_since_ms;
};

struct world {
    struct cluster *c;
    struct script *script, *old; /* the one before it, whose calls may still wait */
    int concurrency, quiet_ms;
    bool joins; /* the list is short enough for that */
    int version, busy, begun, fed, most_busy;
    int64_t made_ms[VERSIONS]; /* when each version came */
    int order[VERSIONS], told; /* versions in the order in which they came, and in which they were told */
    struct key keys[KEYS];
};

/* A call says that it begins and ends, and sleeps as many milliseconds between as its object's uid says, or
 * does not wait at all. */
static struct script *load(struct world *w)
{
    char text[1024];
    snprintf(text, sizeof text,
             "k8s = require 'k8s' said = ''\n"
             "function take() local text = said said = '' return text end\n"
             "local function work(what, o, old)\n"
             "  local ms = tonumber(o:uid())\n"
             "  said = said .. ('%%s %%s %%s %%s\\n'):format(what, o:name(), o:resource_version(), old)\n"
             "  if ms > 0 then k8s.sleep(ms / 1000) end\n"
             "  said = said .. ('. %%s %%s 0\\n'):format(o:name(), o:resource_version()) end\n"
             "k8s.informer('pods'):add_event_handler { id = 'it', concurrency = %d, %s\n"
             "  OnAdd = function(o) work('+', o, '0') end,\n"
             "  OnUpdate = function(a, o) work('=', o, a:resource_version()) end,\n"
             "  OnDelete = function(o, ev) work('-', o, ev.previous:resource_version()) end }\n",
             w->concurrency, w->quiet_ms ? "debounce = '20ms'," : "");
    struct script *script = cluster_load(w->c, "random", text);
    if (w->joins) feed_handler(script)->pending.mark = MARK;
    return script;
}

/* --- what happens */

static void change(struct world *w)
{
    int k = rand() % KEYS, sleeps = rand() % 3 ? rand() % 30 : 0;
    struct key *key = &w->keys[k];
    char name[8];
    bool ends = key->truth && rand() % 4 == 0;
    const struct event_info info = {0};
    snprintf(name, sizeof name, "%d", k);
    struct root *after = feed_pod(w->c, name, ++w->version, sleeps), *before = key->truth;
    if (!before || w->c->clock.now - key->quiet_since_ms >= w->quiet_ms)
        key->restless_since_ms = w->c->clock.now;
    key->quiet_since_ms = w->made_ms[w->version] = w->c->clock.now;
    w->order[w->fed++] = w->version;
    feed(feed_handler(w->script), ends ? '-' : before ? '=' : '+', before, after, &info);
    root_unref(before);
    key->truth = ends ? NULL : root_ref(after);
    key->latest = ends ? 0 : w->version;
    root_unref(after);
}

/* --- what is told */

static int64_t now_ms(const struct world *w)
{
    return w->c->clock.now;
}

static void check_debounce(const struct world *w, const struct key *key, char what, int version)
{
    int64_t waited_ms = now_ms(w) - w->made_ms[version];
    if (!w->quiet_ms || what == '-') return;
    assert_true(waited_ms >= w->quiet_ms ||
                now_ms(w) - key->restless_since_ms >= (int64_t)DEBOUNCE_MOST * w->quiet_ms);
}

static void check_begin(struct world *w, char what, int k, int version, int old)
{
    struct key *key = &w->keys[k];
    assert_int_equal(key->calls++, 0); /* no key twice at once */
    w->busy++;
    w->begun++;
    assert_true(version > key->was_seen);
    assert_int_equal(what == '+', key->seen == 0);
    assert_int_equal(old, key->seen); /* what it was told last, also where events were joined */
    check_debounce(w, key, what, version);
    key->was_seen = version;
    key->seen = what == '-' ? 0 : version;
    if (w->concurrency == 1 && !w->quiet_ms && !w->joins) assert_int_equal(version, w->order[w->told]);
    w->told++;
}

static void check_end(struct world *w, int k, int version)
{
    assert_int_equal(w->keys[k].calls--, 1);
    assert_int_equal(w->keys[k].was_seen, version);
    w->busy--;
}

static int number(const char **at)
{
    char *end;
    long n = strtol(*at, &end, 10);
    assert_true(end > *at);
    *at = end;
    return (int)n;
}

/* Reads what one of the scripts has said. */
static void hear(struct world *w, struct script *script)
{
    if (!script) return;
    for (const char *said = cluster_ask(w->c, script, "return take()"); *said; said++) {
        char what = *said++;
        int k = number(&said), version = number(&said), old = number(&said);
        if (what == '.')
            check_end(w, k, version);
        else
            check_begin(w, what, k, version, old);
        if (w->busy > w->most_busy) w->most_busy = w->busy;
    }
    assert_true(w->busy <= w->concurrency);
}

/* By the millisecond, so that the model knows when what was said. Old calls end before new ones begin. */
static void advance(struct world *w, int ms)
{
    for (int i = 0; i <= ms; i++) {
        virtual_clock_advance(&w->c->clock, i > 0);
        hear(w, w->old);
        hear(w, w->script);
    }
}

/* As a reload does; the one before the last must have drained. */
static void replace(struct world *w)
{
    if (w->old && script_waiting_calls(w->old) > 0) return;
    advance(w, 0); /* what it has said goes with it */
    script_free(w->old);
    w->old = w->script;
    w->script = load(w);
    delivery_handover(feed_handler(w->old), feed_handler(w->script));
}

/* --- rounds */

static void settle(struct world *w)
{
    advance(w, 0);
    while (script_pending_events(w->script) > 0 || (w->old && script_pending_events(w->old) > 0))
        advance(w, 20);
    const struct script_handler *h = feed_handler(w->script);
    assert_int_equal(h->busy_count + h->pending.count + h->pending.initial, 0);
    assert_null(h->pending.keys);
    assert_int_equal(w->busy, 0);
    if (!w->quiet_ms && !w->joins) assert_int_equal(w->begun, w->fed); /* nothing lost */
    assert_true(w->begun <= w->fed);
    for (int k = 0; k < KEYS; k++) {
        assert_int_equal(w->keys[k].seen, w->keys[k].latest);
        root_unref(w->keys[k].truth);
    }
}

/* Gives how many calls waited at once. */
static int play(struct cluster *c, int round)
{
    struct world w = {.c = c,
                      .concurrency = (int[]){1, 2, 4}[round % 3],
                      .quiet_ms = round / 3 % 2 ? 20 : 0,
                      .joins = round / 6 % 2};
    int pace = 1 + rand() % 12;
    w.script = load(&w);
    for (int i = 0; i < STEPS; i++) {
        change(&w);
        if (rand() % 2) advance(&w, rand() % pace);
        if (rand() % 40 == 0) replace(&w);
    }
    settle(&w);
    script_free(w.old);
    script_free(w.script);
    return w.most_busy;
}

static void test_any_history_is_delivered_in_order_for_each_key_and_to_its_end(void **state)
{
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    printf("SEED=%u\n", seed);
    srand(seed);
    int most = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int busy = play(*state, round);
        if (busy > most) most = busy;
    }
    assert_int_equal(most, 4); /* else it has shown nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_any_history_is_delivered_in_order_for_each_key_and_to_its_end,
                                        cluster_setup_by_hand, cluster_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

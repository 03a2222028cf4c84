/* core/audit/continuous*.c: after whatever comes, what is known is what rules would say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/audit/support/live/live.h"

/* Says which nodes each way of looking finds, so that a look that was missed is another text. */
#define LOOKS                                                                                             \
    "local function names(list) local t = {} for i, o in ipairs(list) do t[i] = o:name() .. '=' ..\n"     \
    "  (o:label 'v' or '') end table.sort(t) return table.concat(t, ' ') end\n"                           \
    "k8s.rule { id = 'own', kinds = { 'pods' }, severity = 'high', check = function(o, r)\n"              \
    "  if o:label 'bad' then r:fail('bad ' .. o:label 'bad', { path = 'metadata.labels' }) end end }\n"   \
    "k8s.rule { id = 'key', kinds = { 'pods' }, uses = { node = { kind = 'nodes', index = 'key' } },\n"   \
    "  check = function(o, r, use) r:warn(names(use.node(o:label 'on' or 'n0'))) end }\n"                 \
    "k8s.rule { id = 'path', kinds = { 'pods' },\n"                                                       \
    "  uses = { zone = { kind = 'nodes', index = 'metadata.labels.zone' } },\n"                           \
    "  check = function(o, r, use) r:fail(names(use.zone(o:label 'zone' or 'a'))) end }\n"                \
    "k8s.rule { id = 'fn', kinds = { 'pods' }, uses = { nodes = { kind = 'nodes',\n"                      \
    "  index = function(o, emit) emit(o:label 'zone') emit(o:label 'v') end } },\n"                       \
    "  check = function(o, r, use) r:fail(names(use.nodes(o:label 'zone' or 'b'))) end }\n"               \
    "k8s.rule { id = 'near', kinds = { 'pods' }, uses = { pods = { kind = 'pods', index = 'namespace' } " \
    "},\n"                                                                                                \
    "  check = function(o, r, use) if #use.pods(o:namespace()) > 3 then r:skip 'crowded' end end }\n"     \
    "k8s.rule { id = 'all', kinds = { 'nodes' }, uses = { pods = { kind = 'pods' } },\n"                  \
    "  check = function(o, r, use) if #use.pods() % 2 == 1 then error 'odd' end end }\n"

/* --- whatever comes */

static unsigned seed;

static unsigned pick(unsigned n)
{
    return (unsigned)rand_r(&seed) % n;
}

static void put_labels(struct buf *out)
{
    static const char *const labels[] = {" zone=a", " zone=b", " v=a", " v=1", " bad=1", " on=n1"};
    for (size_t i = 0; i < ARRAY_LEN(labels); i++)
        if (pick(3) == 0 && !(i == 1 && strstr(buf_text(out), "zone")) &&
            !(i == 3 && strstr(buf_text(out), "v=")))
            buf_puts(out, labels[i]);
}

enum { PODS = 12, NODES = 5 };

struct world {
    bool pods[PODS], nodes[NODES];
};

static void change_something(struct fixture *f, struct world *w)
{
    struct buf text = {0};
    bool of_pods = pick(2) == 0;
    unsigned i = pick(of_pods ? PODS : NODES);
    bool *there = of_pods ? &w->pods[i] : &w->nodes[i];
    enum lw_event_type type = !*there ? LW_ADDED : pick(4) == 0 ? LW_DELETED : LW_MODIFIED;
    if (of_pods)
        buf_printf(&text, "%s/p%u", i % 2 ? "shop" : "bar", i);
    else
        buf_printf(&text, "n%u", i);
    put_labels(&text);
    *there = type != LW_DELETED;
    cluster_event(f->c, of_pods ? 0 : 1, type, buf_text(&text));
    buf_clear(&text);
}

static void run_world(struct cluster *c, size_t max_dependencies)
{
    struct world w = {{false}, {false}};
    struct fixture f = live_begin_with(c, HEAD LOOKS, max_dependencies, CONTINUOUS_FINDING_BYTES_MAX);
    cluster_list(c, 0, "");
    cluster_list(c, 1, "");
    for (int i = 0; i < 800; i++) {
        change_something(&f, &w);
        if (pick(3) == 0) virtual_clock_advance(&c->clock, pick(4)); /* some slices */
        if (pick(60) == 0) live_reload(&f, pick(2) ? HEAD LOOKS : HEAD "local x\n" LOOKS);
        if (pick(80) == 0) {
            continuous_set_active(f.audit, false);
            change_something(&f, &w);
            continuous_set_active(f.audit, true);
        }
        if (pick(15) != 0) continue;
        live_settle(&f);
        if (max_dependencies < 100) {
            virtual_clock_advance(&c->clock, CONTINUOUS_UNTRACKED_MS);
            live_settle(&f);
        }
        live_assert_true(&f);
    }
    live_end(&f);
}

static void test_stored_results_are_what_all_rules_would_report_now(void **state)
{
    const char *given = getenv("SEED");
    seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)clock_measure_ns();
    printf("SEED=%u\n", seed);
    run_world(*state, CONTINUOUS_DEPENDENCIES_MAX);
}

static void test_results_are_the_same_with_too_many_dependencies(void **state)
{
    const char *given = getenv("SEED");
    seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)clock_measure_ns();
    printf("SEED=%u\n", seed);
    run_world(*state, 20);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup, cluster_teardown)
    const struct CMUnitTest tests[] = {
        T(test_stored_results_are_what_all_rules_would_report_now),
        T(test_results_are_the_same_with_too_many_dependencies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

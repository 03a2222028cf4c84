/* core/audit/continuous*.c: rules that are asked again when what they looked at has changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "audit/continuous.h"
#include "audit/findings.h"
#include "base/mem.h"
#include "core/script/support/cluster.h"
#include "informer/shared_factory.h"
#include "object/value.h"

#define HEAD "local k8s = require 'k8s'\n"
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
    "k8s.rule { id = 'like', kinds = { 'pods' },\n"                                                       \
    "  uses = { zone = { kind = 'nodes', index = 'metadata.labels.zone' } },\n"                           \
    "  check = function(o, r, use) r:fail(names(use.zone(o))) end }\n"                                    \
    "k8s.rule { id = 'fn', kinds = { 'pods' }, uses = { nodes = { kind = 'nodes',\n"                      \
    "  index = function(o, emit) emit(o:label 'zone') emit(o:label 'v') end } },\n"                       \
    "  check = function(o, r, use) if o:label 'like' then r:fail(names(use.nodes(o)))\n"                  \
    "  else r:fail(names(use.nodes(o:label 'zone' or 'b'))) end end }\n"                                  \
    "k8s.rule { id = 'near', kinds = { 'pods' }, uses = { pods = { kind = 'pods', index = 'namespace' } " \
    "},\n"                                                                                                \
    "  check = function(o, r, use) if #use.pods(o:namespace()) > 3 then r:skip 'crowded' end end }\n"     \
    "k8s.rule { id = 'all', kinds = { 'nodes' }, uses = { pods = { kind = 'pods' } },\n"                  \
    "  check = function(o, r, use) if #use.pods() % 2 == 1 then error 'odd' end end }\n"

struct fixture {
    struct cluster *c;
    struct continuous *audit;
    struct script *script;
};

static int64_t spent_ns;

/* Each look at the time takes a third of a millisecond: some ten calls are a slice. */
static int64_t slow_ns(void)
{
    return spent_ns += 300000;
}

static struct fixture begin_with(struct cluster *c, const char *lua, size_t max_lookups, size_t max_bytes)
{
    struct fixture f = {.c = c};
    c->host.runs_rules = true;
    f.audit = continuous_new(&(const struct continuous_options){.clock = &c->clock.clock,
                                                                .max_lookups = max_lookups,
                                                                .max_finding_bytes = max_bytes,
                                                                .now_ns = slow_ns});
    f.script = cluster_load(c, "rules", lua);
    continuous_take(f.audit, NULL, f.script);
    cluster_resolve(c);
    return f;
}

static struct fixture begin(struct cluster *c, const char *lua)
{
    return begin_with(c, lua, CONTINUOUS_LOOKUPS_MAX, CONTINUOUS_FINDING_BYTES_MAX);
}

static void end(struct fixture *f)
{
    continuous_free(f->audit);
    script_free(f->script);
}

static void settle(struct fixture *f)
{
    cluster_settle(f->c);
    virtual_clock_advance(&f->c->clock, 200);
    for (int i = 0; i < 1000 && continuous_status(f->audit).pending; i++)
        virtual_clock_advance(&f->c->clock, 10);
    assert_int_equal(continuous_status(f->audit).pending, 0);
}

/* --- what is known, and what a rule says now */

static struct buf line;
static char **lines;
static size_t line_count;

static void add_line(void)
{
    lines = xrealloc(lines, (line_count + 1) * sizeof *lines);
    lines[line_count++] = xstrdup(buf_text(&line));
}

static void put_finding(const struct rule_finding *finding)
{
    buf_printf(&line, "; %s %.*s %.*s", verdict_name(finding->verdict), STR_ARG(finding->message),
               STR_ARG(finding->path));
}

static void put_head(const struct script_rule *rule, const struct root *object, enum verdict verdict)
{
    buf_printf(&line, " <- %s ", rule->id);
    root_key(object, &line);
    buf_printf(&line, " %s", verdict_name(verdict));
}

static void put_known(void *ctx, const struct continuous_result *result)
{
    struct rule_finding finding;
    bool accepted;
    size_t at = 0;
    (void)ctx;
    line.len = 0;
    while (findings_next(result->findings, &at, &finding, &accepted)) put_finding(&finding);
    put_head(result->asked->rule, result->object, result->verdict);
    add_line();
}

static void on_found(void *ctx, const struct rule_finding *finding)
{
    (void)ctx;
    put_finding(finding);
}

struct question {
    struct script *script;
    size_t rule;
};

static bool ask_one(void *ctx, struct root *object)
{
    const struct question *q = ctx;
    static const struct rule_sink sink = {.found = on_found};
    line.len = 0;
    enum verdict verdict = script_ask_rule(q->script, q->rule, object, &sink);
    put_head(script_rule(q->script, q->rule), object, verdict);
    add_line();
    return true;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *all_lines(void)
{
    struct buf out = {0};
    if (line_count) qsort(lines, line_count, sizeof *lines, compare);
    for (size_t i = 0; i < line_count; i++) {
        buf_printf(&out, "%s\n", lines[i]);
        free(lines[i]);
    }
    free(lines);
    lines = NULL;
    line_count = 0;
    buf_clear(&line);
    return buf_take(&out);
}

static char *known(struct fixture *f)
{
    static const char *const namespaces[] = {"", "shop", "bar", "x"};
    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++)
        continuous_each_in(f->audit, str_of(namespaces[i]), put_known, NULL);
    return all_lines();
}

static char *from_scratch(struct fixture *f)
{
    for (size_t i = 0; i < script_rule_count(f->script); i++) {
        struct question q = {f->script, i};
        const struct script_rule *rule = script_rule(f->script, i);
        for (size_t k = 0; k < rule->kind_count; k++)
            indexer_each(claim_indexer(rule->kinds[k]), ask_one, &q);
    }
    return all_lines();
}

/* Names the first line that differs. */
static void assert_true_of(struct fixture *f)
{
    char *is = known(f), *should = from_scratch(f);
    struct str left = str_of(is), right = str_of(should), a = STR(""), b = STR("");
    while (left.n && right.n && str_eq(a, b)) {
        str_cut(&left, '\n', &a);
        str_cut(&right, '\n', &b);
    }
    if (strcmp(is, should) != 0) fail_msg("known: %.*s; now: %.*s", STR_ARG(a), STR_ARG(b));
    free(is);
    free(should);
}

#define assert_knows(f, text)          \
    do {                               \
        char *is = known(f);           \
        assert_string_equal(is, text); \
        free(is);                      \
    } while (0)

/* --- one thing at a time */

#define OWN                                                                    \
    HEAD "asked = 0\n"                                                         \
         "k8s.rule { id = 'own', kinds = { 'pods' }, check = function(o, r)\n" \
         "  asked = asked + 1 if o:label 'bad' then r:fail 'bad' end end }\n"

static void test_an_object_that_changes_is_asked_about_again(void **state)
{
    struct cluster *c = *state;
    struct fixture f = begin(c, OWN);
    cluster_list(c, 0, "shop/a;shop/b bad=1");
    settle(&f);
    assert_knows(&f, " <- own shop/a pass\n; fail bad  <- own shop/b fail\n");
    cluster_event(c, 0, LW_MODIFIED, "shop/a bad=1");
    settle(&f);
    assert_knows(&f, "; fail bad  <- own shop/a fail\n; fail bad  <- own shop/b fail\n");
    assert_ask(c, f.script, "return asked", "3");
    cluster_event(c, 0, LW_DELETED, "shop/b");
    cluster_event(c, 0, LW_ADDED, "bar/c");
    settle(&f);
    assert_knows(&f, " <- own bar/c pass\n; fail bad  <- own shop/a fail\n");
    struct continuous_status status = continuous_status(f.audit);
    assert_int_equal(status.objects, 2);
    assert_int_equal(status.verdicts[VERDICT_PASS], 1);
    assert_int_equal(status.verdicts[VERDICT_FAIL], 1);
    end(&f);
}

/* However often it changed while it waited. */
static void test_changes_in_a_row_are_one_question(void **state)
{
    struct cluster *c = *state;
    struct fixture f = begin(c, OWN);
    cluster_list(c, 0, "shop/a");
    settle(&f);
    for (int i = 0; i < 50; i++) cluster_event(c, 0, LW_MODIFIED, "shop/a bad=1");
    settle(&f);
    assert_ask(c, f.script, "return asked", "2");
    cluster_event(c, 0, LW_DELETED, "shop/a");
    cluster_event(c, 0, LW_ADDED, "shop/a");
    settle(&f);
    assert_knows(&f, " <- own shop/a pass\n");
    assert_ask(c, f.script, "return asked", "3");
    end(&f);
}

#define USES                                                                         \
    HEAD "asked = {}\n"                                                              \
         "k8s.rule { id = 'u', kinds = { 'pods' },\n"                                \
         "  uses = { node = { kind = 'nodes', index = 'metadata.labels.zone' } },\n" \
         "  check = function(o, r, use) asked[#asked + 1] = o:name()\n"              \
         "  if #use.node(o:label 'zone') == 0 then r:fail 'no node' end end }\n"

static void test_only_those_are_asked_again_who_looked_at_what_changed(void **state)
{
    struct cluster *c = *state;
    struct fixture f = begin(c, USES);
    cluster_list(c, 0, "shop/a zone=x;shop/b zone=y;shop/c zone=x");
    cluster_list(c, 1, "n1 zone=y");
    settle(&f);
    assert_int_equal(continuous_status(f.audit).lookups, 3);
    assert_ask(c, f.script, "local n = #asked asked = {} return n", "3");
    cluster_event(c, 1, LW_ADDED, "n2 zone=x"); /* appears where nothing was */
    settle(&f);
    assert_ask(c, f.script, "local t = table.concat(asked, ' ') asked = {} return t", "a c");
    cluster_event(c, 1, LW_MODIFIED, "n2 zone=z"); /* leaves */
    settle(&f);
    assert_ask(c, f.script, "local t = table.concat(asked, ' ') asked = {} return t", "a c");
    cluster_event(c, 1, LW_DELETED, "n1 zone=y");
    settle(&f);
    assert_ask(c, f.script, "local t = table.concat(asked, ' ') asked = {} return t", "b");
    cluster_event(c, 1, LW_ADDED, "n3 zone=w");
    settle(&f);
    assert_ask(c, f.script, "return #asked", "0");
    assert_true_of(&f);
    end(&f);
}

static void test_nothing_is_asked_before_all_caches_are_there(void **state)
{
    struct cluster *c = *state;
    struct fixture f = begin(c, USES);
    cluster_list(c, 0, "shop/a zone=x");
    settle(&f);
    assert_int_equal(continuous_status(f.audit).waiting_rules, 1);
    assert_knows(&f, "");
    cluster_list(c, 1, "n1 zone=x");
    settle(&f);
    assert_int_equal(continuous_status(f.audit).waiting_rules, 0);
    assert_knows(&f, " <- u shop/a pass\n");
    end(&f);
}

static void test_a_slice_is_short_and_the_rest_comes_later(void **state)
{
    struct cluster *c = *state;
    struct buf list = {0};
    struct fixture f = begin(c, OWN);
    for (int i = 0; i < 100; i++) buf_printf(&list, "%sshop/p%d", i ? ";" : "", i);
    cluster_list(c, 0, buf_text(&list));
    virtual_clock_advance(&c->clock, 100); /* the caches are found to be there, and a slice */
    size_t pending = continuous_status(f.audit).pending;
    assert_in_range(pending, 85, 99);
    virtual_clock_advance(&c->clock, 1);
    assert_in_range(continuous_status(f.audit).pending, pending - 15, pending - 1);
    settle(&f);
    assert_int_equal(continuous_status(f.audit).verdicts[VERDICT_PASS], 100);
    buf_clear(&list);
    end(&f);
}

/* --- limits */

static void test_a_rule_with_too_many_looks_is_asked_about_everything(void **state)
{
    struct cluster *c = *state;
    struct fixture f = begin_with(c, USES, 2, CONTINUOUS_FINDING_BYTES_MAX);
    cluster_list(c, 0, "shop/a zone=x;shop/b zone=y;shop/c zone=z");
    cluster_list(c, 1, "n1 zone=y");
    settle(&f);
    assert_int_equal(continuous_status(f.audit).coarse_rules, 1);
    assert_int_equal(continuous_status(f.audit).lookups, 0);
    assert_true_of(&f);
    cluster_event(c, 1, LW_ADDED, "n2 zone=x");
    cluster_event(c, 1, LW_MODIFIED, "n1 zone=z");
    settle(&f);
    virtual_clock_advance(&c->clock, CONTINUOUS_COARSE_MS);
    settle(&f);
    assert_true_of(&f);
    end(&f);
}

static void test_findings_without_room_are_verdicts_alone(void **state)
{
    struct cluster *c = *state;
    struct fixture f = begin_with(c, OWN, CONTINUOUS_LOOKUPS_MAX, 40);
    cluster_list(c, 0, "shop/a bad=1;shop/b bad=1");
    settle(&f);
    assert_knows(&f, " <- own shop/b fail\n; fail bad  <- own shop/a fail\n");
    assert_int_equal(continuous_status(f.audit).left_out, 1);
    cluster_event(c, 0, LW_DELETED, "shop/a");
    cluster_event(c, 0, LW_MODIFIED, "shop/b bad=2");
    settle(&f);
    assert_knows(&f, "; fail bad  <- own shop/b fail\n");
    assert_int_equal(continuous_status(f.audit).left_out, 0);
    end(&f);
}

/* --- generations */

/* As a reload does it. */
static void reload(struct fixture *f, const char *lua)
{
    struct script *before = f->script;
    f->script = cluster_load(f->c, "rules", lua);
    cluster_resolve(f->c);
    continuous_take(f->audit, before, f->script);
    script_free(before);
}

static void test_a_reload_asks_the_rules_that_are_others(void **state)
{
    struct cluster *c = *state;
    static const char
        one[] =
            HEAD "local max = 1\nlocal function over(o) asked = (asked or '') .. o:name() return max end\n"
                 "k8s.rule { id = 'a', kinds = { 'pods' }, check = function(o, r) over(o) end }\n"
                 "k8s.rule { id = 'b', kinds = { 'pods' }, check = function(o, r) r:warn 'b' end }\n",
        two[] =
            HEAD "local max = 2\nlocal function over(o) asked = (asked or '') .. o:name() return max end\n"
                 "k8s.rule { id = 'a', kinds = { 'pods' }, check = function(o, r) over(o) end }\n"
                 "k8s.rule { id = 'b', kinds = { 'pods' }, check = function(o, r) r:warn 'b' end }\n"
                 "k8s.rule { id = 'c', kinds = { 'pods' }, check = function(o, r) r:fail 'c' end }\n";
    struct fixture f = begin(c, one);
    cluster_list(c, 0, "shop/p;shop/q");
    settle(&f);
    size_t sources = c->source_count;
    reload(&f, one); /* the same again */
    settle(&f);
    assert_ask(c, f.script, "return asked", "nil");
    reload(&f, two); /* what `over` reaches is another */
    struct continuous_status status = continuous_status(f.audit);
    assert_int_equal(status.verdicts[VERDICT_WARN], 2); /* b goes on */
    assert_int_equal(status.verdicts[VERDICT_PASS], 0);
    settle(&f);
    assert_ask(c, f.script, "return asked", "pq");
    assert_true_of(&f);
    reload(&f, HEAD "k8s.rule { id = 'b', kinds = { 'pods' }, check = function(o, r) r:warn 'b' end }");
    status = continuous_status(f.audit);
    assert_int_equal(status.rules, 1);
    assert_int_equal(status.verdicts[VERDICT_WARN], 2);
    assert_int_equal(c->source_count, sources); /* nothing was listed again */
    cluster_event(c, 0, LW_ADDED, "shop/r");
    settle(&f);
    assert_true_of(&f);
    end(&f);
}

static void test_who_does_not_lead_knows_nothing(void **state)
{
    struct cluster *c = *state;
    struct fixture f = begin(c, USES);
    continuous_set_active(f.audit, false);
    cluster_list(c, 0, "shop/a zone=x");
    cluster_list(c, 1, "n1 zone=x");
    settle(&f);
    assert_knows(&f, "");
    continuous_set_active(f.audit, true);
    settle(&f);
    assert_knows(&f, " <- u shop/a pass\n");
    continuous_set_active(f.audit, false);
    assert_knows(&f, "");
    cluster_event(c, 1, LW_DELETED, "n1 zone=x");
    continuous_set_active(f.audit, true);
    settle(&f);
    assert_knows(&f, "; fail no node  <- u shop/a fail\n");
    end(&f);
}

/* --- days */

static void put_pod(struct cluster *c, const char *annotation)
{
    struct buf text = {0};
    struct root *root;
    struct err err;
    buf_printf(&text,
               "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"shop\","
               "\"resourceVersion\":\"%llu\",\"labels\":{\"bad\":\"1\"},\"annotations\":{"
               "\"kubelua/ignore.own\":\"%s\"}}}",
               (unsigned long long)++c->version, annotation);
    memset(buf_reserve(&text, TAPE_PADDING), 0, TAPE_PADDING);
    if (!pack_text(c->packer, text.data, text.len, NULL, &root, &err)) fail_msg("%s", err.text);
    c->sources[0].sink.event(c->sources[0].ctx, LW_ADDED, root, 1700000000500000);
    buf_clear(&text);
}

/* The virtual clock begins on 2026-01-01. */
static void test_what_was_accepted_until_today_counts_after_midnight(void **state)
{
    struct cluster *c = *state;
    struct fixture f = begin(c, OWN);
    cluster_list(c, 0, "");
    put_pod(c, "until=2026-01-01 soon");
    settle(&f);
    assert_knows(&f, "; skip accepted until 2026-01-01: soon  <- own shop/a skip\n");
    virtual_clock_advance(&c->clock, 23LL * 3600 * 1000 + 59 * 60 * 1000);
    settle(&f);
    assert_int_equal(continuous_status(f.audit).verdicts[VERDICT_SKIP], 1);
    virtual_clock_advance(&c->clock, 120 * 1000);
    settle(&f);
    assert_knows(&f, "; fail bad (accepted until 2026-01-01, which is over: soon)  <- own shop/a fail\n");
    assert_ask(c, f.script, "return asked", "2");
    end(&f);
}

/* --- whatever comes */

static unsigned seed;

static unsigned pick(unsigned n)
{
    return (unsigned)rand_r(&seed) % n;
}

static void put_labels(struct buf *out)
{
    static const char *const labels[] = {" zone=a", " zone=b", " v=a", " v=1", " bad=1", " on=n1", " like=1"};
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

static void run_world(struct cluster *c, size_t max_lookups)
{
    struct world w = {{false}, {false}};
    struct fixture f = begin_with(c, HEAD LOOKS, max_lookups, CONTINUOUS_FINDING_BYTES_MAX);
    cluster_list(c, 0, "");
    cluster_list(c, 1, "");
    for (int i = 0; i < 800; i++) {
        change_something(&f, &w);
        if (pick(3) == 0) virtual_clock_advance(&c->clock, pick(4)); /* some slices */
        if (pick(60) == 0) reload(&f, pick(2) ? HEAD LOOKS : HEAD "local x\n" LOOKS);
        if (pick(80) == 0) {
            continuous_set_active(f.audit, false);
            change_something(&f, &w);
            continuous_set_active(f.audit, true);
        }
        if (pick(15) != 0) continue;
        settle(&f);
        if (max_lookups < 100) {
            virtual_clock_advance(&c->clock, CONTINUOUS_COARSE_MS);
            settle(&f);
        }
        assert_true_of(&f);
    }
    end(&f);
}

static void test_what_is_known_is_what_all_rules_would_say_now(void **state)
{
    const char *given = getenv("SEED");
    seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)clock_measure_ns();
    printf("SEED=%u\n", seed);
    run_world(*state, CONTINUOUS_LOOKUPS_MAX);
}

static void test_the_same_when_looks_are_too_many(void **state)
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
        T(test_an_object_that_changes_is_asked_about_again),
        T(test_changes_in_a_row_are_one_question),
        T(test_only_those_are_asked_again_who_looked_at_what_changed),
        T(test_nothing_is_asked_before_all_caches_are_there),
        T(test_a_slice_is_short_and_the_rest_comes_later),
        T(test_a_rule_with_too_many_looks_is_asked_about_everything),
        T(test_findings_without_room_are_verdicts_alone),
        T(test_a_reload_asks_the_rules_that_are_others),
        T(test_who_does_not_lead_knows_nothing),
        T(test_what_was_accepted_until_today_counts_after_midnight),
        T(test_what_is_known_is_what_all_rules_would_say_now),
        T(test_the_same_when_looks_are_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

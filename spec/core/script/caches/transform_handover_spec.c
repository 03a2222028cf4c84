/* core/script/caches/transform.c, lua/k8s/closure.lua: which transforms are the same in the next generation,
 * and that the informer of one goes on with the new function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/script/support/cluster.h"
#include "script/generation/handover.h"
#include "script/inventory/inventory.h"

static void write(const struct cluster *c, const char *name, const char *text)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%s", c->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* One that is to take over from `before`; NULL: a first one. */
static struct script *prepare(struct cluster *c, struct script *before, const char *lua)
{
    char path[96];
    struct err err;
    write(c, "script.lua", lua);
    snprintf(path, sizeof path, "%s/script.lua", c->folder);
    const struct script_source source = {
        .path = path, .name = "unit", .generation = before ? 2 : 1, .before = before};
    struct script *script = script_prepare(&c->host, &source, &err);
    if (!script) fail_msg("%s", err.text);
    cluster_note_claims(c, script);
    return script;
}

static struct script *start(struct cluster *c, const char *lua)
{
    struct err err;
    struct script *script = prepare(c, NULL, lua);
    if (!script_start(script, &err)) fail_msg("%s", err.text);
    cluster_resolve(c);
    return script;
}

static void take_over(struct cluster *c, struct script *from, struct script *to)
{
    struct handover done;
    struct err err;
    cluster_resolve(c);
    assert_int_equal(script_lagging_claims(from, to, NULL), 0);
    if (!script_handover(from, to, &done, &err)) fail_msg("%s", err.text);
}

static const struct informer_claim *last_claim(const struct script *script)
{
    return script_claim(script, script_claim_count(script) - 1);
}

/* Whether the second one's last informer is that of the first. */
static bool is_shared(const char *before, const char *after)
{
    void *state;
    cluster_setup(&state);
    struct cluster *c = state;
    struct script *old = start(c, before), *next;
    cluster_settle(c);
    size_t sources = c->source_count;
    next = prepare(c, old, after);
    cluster_resolve(c);
    bool shared = claims_share(last_claim(old), last_claim(next));
    assert_int_equal(c->source_count == sources, shared); /* a list and a watch more, or none */
    script_free(next);
    script_free(old);
    cluster_settle(c);
    cluster_teardown(&state);
    return shared;
}

#define HEAD     "local k8s = require 'k8s'\n"
#define PODS(fn) "pods = k8s.informer('pods', { transform = " fn " })\n"
#define KEEP     PODS("function(pod) pod.kept = mark return pod end")

static void test_the_same_function_needs_no_list(void **state)
{
    static const struct {
        const char *before, *after;
    } pairs[] = {
        {HEAD "local mark = 1 " KEEP, HEAD "-- a comment\n\nlocal other = 2 local mark = 1 " KEEP},
        {HEAD "local mark = { 1, a = { b = 'x' }, [true] = 2 } " KEEP,
         HEAD "local mark = { [true] = 2, 1, a = { b = 'x' } } " KEEP},
        {HEAD "local mark mark = function() return mark end " KEEP,
         HEAD "local mark mark = function() return mark end " KEEP},
        {HEAD "mark = 1 unused = 2 " KEEP, HEAD "mark = 1 unused = 3 " KEEP},
        {HEAD "local mark = string.format " KEEP, HEAD "local mark = string.format " KEEP},
        {HEAD "local mark = { k8s.now, k8s.json, k8s.null, pairs, k8s } " KEEP,
         HEAD "local mark = { k8s.now, k8s.json, k8s.null, pairs, k8s } " KEEP},
        {HEAD "local mark = { k8s.informer, k8s.writes, k8s.leader } " KEEP,
         HEAD "local mark = { k8s.informer, k8s.writes, k8s.leader } " KEEP},
        {HEAD "local mark = setmetatable({}, { __index = { a = 1 } }) " KEEP,
         HEAD "local mark = setmetatable({}, { __index = { a = 1 } }) " KEEP},
        {HEAD
         "pods = k8s.informer('pods', { namespaces = { 'a', 'b' }, transform = function(o) return o end })",
         HEAD
         "pods = k8s.informer('pods', { namespaces = { 'a', 'b' }, transform = function(p) return p end })"},
    };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (!is_shared(pairs[i].before, pairs[i].after)) fail_msg("%s", pairs[i].before);
}

/* Functions that share a variable see what the others write to it. */
#define APART                                                                      \
    "local add, twice do local a = 1 add = function() a = a + 1 return a end end " \
    "do local a = 1 twice = function() a = a * 2 return a end end "
#define TOGETHER                                                               \
    "local add, twice do local a = 1 add = function() a = a + 1 return a end " \
    "twice = function() a = a * 2 return a end end "
#define BOTH PODS("function(pod) pod.n = { add, twice } return pod end")

static void test_a_variable_of_two_functions_is_another_than_two_variables(void **state)
{
    assert_true(is_shared(HEAD TOGETHER BOTH, HEAD TOGETHER BOTH));
    assert_true(is_shared(HEAD APART BOTH, HEAD APART BOTH));
    assert_false(is_shared(HEAD TOGETHER BOTH, HEAD APART BOTH));
    assert_false(is_shared(HEAD APART BOTH, HEAD TOGETHER BOTH));
}

static void test_another_value_anywhere_is_another_transform(void **state)
{
    static const struct {
        const char *before, *after;
    } pairs[] = {
        {HEAD KEEP, HEAD PODS("function(pod) pod.kept = mark or 1 return pod end")},
        {HEAD "local mark = 1 " KEEP, HEAD "local mark = 2 " KEEP},
        {HEAD "local mark = 1 " KEEP, HEAD "local mark = '1' " KEEP},
        {HEAD "local mark = { { 1 } } " KEEP, HEAD "local mark = { { 1, 2 } } " KEEP},
        {HEAD "mark = 1 " KEEP, HEAD "mark = 2 " KEEP},
        {HEAD "mark = 1 " KEEP, HEAD KEEP},
        {HEAD "local m = 1 local mark = function() return m end " KEEP,
         HEAD "local m = 2 local mark = function() return m end " KEEP},
        {HEAD "local mark = math.max " KEEP, HEAD "local mark = math.min " KEEP},
        {HEAD "local mark = setmetatable({}, { __index = { a = 1 } }) " KEEP,
         HEAD "local mark = setmetatable({}, { __index = { a = 2 } }) " KEEP},
        {HEAD KEEP, HEAD "function string.upper(s) return s end " KEEP}, /* a method of all texts */
        {HEAD KEEP "mark = 1 ", HEAD KEEP "mark = 2 "},                  /* what is set later counts too */
        {HEAD "local mark = 1 " KEEP,
         HEAD "local mark = 1 pods = k8s.informer('pods', { namespace = 'a', transform = "
              "function(pod) pod.kept = mark return pod end })"},
    };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (is_shared(pairs[i].before, pairs[i].after)) fail_msg("%s", pairs[i].after);
}

static void test_what_cannot_be_compared_is_never_the_same(void **state)
{
    static const struct {
        const char *lua, *why;
    } cases[] = {
        {HEAD "local nodes = k8s.informer 'nodes' local mark = nodes " KEEP, "?`mark` is a userdata, "},
        {HEAD "local mark = k8s.state('s', { version = 1 }) " KEEP, "?`mark` is a userdata, "},
        {HEAD "local mark = coroutine.create(function() end) " KEEP, "?`mark` is a thread, "},
        /* Settings of the library, which are in C, change what it does. */
        {HEAD "local mark = require('cjson').encode " KEEP, "?`mark` is a function of the engine"},
        {HEAD "local mark = { [{}] = 1 } " KEEP, "?`mark` is a table with a table as a key, "},
        {HEAD "mark = k8s.informer 'nodes' " KEEP, "?the global mark is a userdata, "},
        {HEAD "local mark = {} for i = 1, 20000 do mark[i] = i end " KEEP,
         "?`mark` is more than 20000 values"},
        {HEAD "setmetatable(_G, { __index = function() return k8s.now() end }) " KEEP,
         "?the function is code whose globals have a metatable"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (is_shared(cases[i].lua, cases[i].lua)) fail_msg("%s", cases[i].lua);
        void *other;
        cluster_setup(&other);
        struct script *script = prepare(other, NULL, cases[i].lua);
        const struct inventory_entry *entry =
            inventory_find(script_inventory(script), INVENTORY_TRANSFORM, STR("pods"));
        assert_non_null(entry);
        if (strncmp(entry->detail, cases[i].why, strlen(cases[i].why)) != 0) fail_msg("%s", entry->detail);
        script_free(script);
        cluster_teardown(&other);
    }
}

/* Nothing that a script can make holds the engine up, or has code of its own run. */
static void test_what_is_made_to_be_slow_is_never_the_same(void **state)
{
    static const char *const scripts[] = {
        HEAD "local text = string.rep('x', 1e7) local mark = {} for i = 1, 19000 do mark[i] = text end " KEEP,
        HEAD
        "local mark = {} local at = mark for i = 1, 19000 do at.next = {} at = at.next end at.next = k8s.now "
        "at.me = coroutine.create(k8s.now) " KEEP,
        HEAD "local text = string.rep('return ', 1000) local mark = {} "
             "for i = 1, 5000 do mark[i] = load('return function() return ' .. i .. ' end')() end "
             "mark[0] = coroutine.create(k8s.now) " KEEP,
    };
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
        if (is_shared(scripts[i], scripts[i])) fail_msg("%s", scripts[i]);
    /* __eq and __index of what it reaches are not called. */
    static const char watched[] =
        HEAD "local function fail() error 'called' end "
             "local meta = { __eq = fail, __index = fail, __newindex = fail, __lt = fail } "
             "local mark = setmetatable({ setmetatable({}, meta), [2] = 1 }, meta) "
             "local f = load('return mark', 'x', 't', setmetatable({ mark = 1 }, meta)) "
             "local both = { f, mark } " PODS("function(pod) pod.n = both return pod end");
    assert_true(is_shared(watched, watched));
}

/* What it gathered is in what the cache holds. */
static void test_one_that_keeps_something_is_not_the_same(void **state)
{
    struct cluster *c = *state;
    static const char lua[] = HEAD "local n = 0 " PODS("function(pod) n = n + 1 pod.n = n return pod end");
    struct script *old = start(c, lua);
    struct script *early = prepare(c, old, lua);
    cluster_resolve(c);
    assert_true(claims_share(script_claim(old, 0), script_claim(early, 0)));
    script_free(early);
    cluster_list(c, c->source_count - 1, "shop/a");
    cluster_settle(c);
    struct script *late = prepare(c, old, lua);
    cluster_resolve(c);
    assert_false(claims_share(script_claim(old, 0), script_claim(late, 0)));
    script_free(late);
    script_free(old);
}

/* The old function runs on while the new generation waits for its informers and indexes. */
static void test_one_that_keeps_something_meanwhile_is_not_taken_over(void **state)
{
    struct cluster *c = *state;
    struct handover done;
    struct err err;
    static const char lua[] = HEAD "local n = 0 " PODS("function(pod) n = n + 1 pod.n = n return pod end");
    struct script *old = start(c, lua), *next = prepare(c, old, lua);
    cluster_resolve(c);
    cluster_list(c, c->source_count - 1, "shop/a");
    cluster_settle(c);
    assert_false(script_handover(old, next, &done, &err));
    assert_int_equal(err.code, ERR_OUTDATED);
    assert_string_equal(err.text,
                        "the transform of pods changed its state since the new generation was loaded");
    script_free(next);
    assert_ask(c, old, "return pods:lister():count()", "1"); /* and the old one runs on */
    script_free(old);
}

/* The comparison takes its time, of which a take-over has little. */
static void test_nothing_is_compared_again_when_nothing_has_run(void **state)
{
    struct cluster *c = *state;
    struct handover done;
    struct err err;
    static const char lua[] = HEAD PODS("function(pod) return pod end");
    struct script *old = start(c, lua), *next = prepare(c, old, lua);
    cluster_resolve(c);
    uint64_t calls = script_tally(old).calls;
    assert_true(script_handover(old, next, &done, &err));
    assert_int_equal(script_tally(old).calls, calls);
    script_free(old);
    script_free(next);
}

/* The next generation may have another limit, and objects that failed are to be there then. */
static void test_one_that_a_limit_cut_short_is_not_the_same(void **state)
{
    struct cluster *c = *state;
    static const char lua[] =
        HEAD PODS("function(pod) if pod.metadata.name == 'b' then while true do end end return pod end");
    struct script *old = start(c, lua), *next;
    size_t source = c->source_count - 1;
    old->limits.values[LIMIT_FILTER_CPU] = 20;
    cluster_list(c, source, "shop/a");
    cluster_settle(c);
    next = prepare(c, old, lua);
    cluster_resolve(c);
    assert_true(claims_share(script_claim(old, 0), script_claim(next, 0)));
    script_free(next);
    cluster_event(c, source, LW_ADDED, "shop/b");
    next = prepare(c, old, lua);
    cluster_resolve(c);
    assert_false(claims_share(script_claim(old, 0), script_claim(next, 0)));
    script_free(next);
    script_free(old);
}

static void test_a_module_counts_as_the_script_does(void **state)
{
    struct cluster *c = *state;
    static const char lua[] =
        HEAD "local lib = require 'lib' " PODS("function(pod) pod.n = lib.mark return pod end");
    write(c, "lib.lua", "return { mark = 1, f = function() end }");
    struct script *old = start(c, lua);
    struct script *same = prepare(c, old, lua);
    cluster_resolve(c);
    assert_true(claims_share(script_claim(old, 0), script_claim(same, 0)));
    script_free(same);
    write(c, "lib.lua", "return { mark = 2, f = function() end }");
    struct script *other = prepare(c, old, lua);
    cluster_resolve(c);
    assert_false(claims_share(script_claim(old, 0), script_claim(other, 0)));
    script_free(other);
    script_free(old);
}

#define TOLD                                                                    \
    HEAD "called, said = 0, ''\n"                                               \
         "local function note() end\n"                                          \
         "pods = k8s.informer('pods', { transform = function(pod)\n"            \
         "  pod.spec = { from = pod.metadata.name } note() return pod end })\n" \
         "pods:on_add(function(o) said = said .. o:name() .. o.spec.from .. ' ' end)\n"

static void test_the_new_function_is_called_once_it_has_taken_over(void **state)
{
    struct cluster *c = *state;
    struct script *old = start(c, TOLD);
    size_t source = c->source_count - 1;
    cluster_list(c, source, "shop/a");
    cluster_settle(c);
    assert_ask(c, old, "return said", "aa ");
    struct script *next = prepare(c, old, TOLD "-- another text\n");
    take_over(c, old, next);
    script_free(old);
    assert_int_equal(c->source_count, source + 1); /* no list, no watch */
    cluster_list(c, source, "shop/a;shop/b");      /* a relist of the server's */
    cluster_settle(c);
    assert_ask(c, next, "return said", "bb ");
    assert_false(c->sources[source].freed);
    struct script *third = prepare(c, next, TOLD);
    take_over(c, next, third);
    script_free(third); /* the one that drains is left with the informer */
    cluster_list(c, source, "shop/a;shop/b;shop/c");
    cluster_settle(c);
    assert_ask(c, next, "return pods:lister():count()", "3");
    script_free(next);
    cluster_settle(c);
    assert_true(c->sources[source].freed);
}

static void test_two_with_one_function_have_a_seat_each(void **state)
{
    struct cluster *c = *state;
    static const char lua[] = HEAD "local f = function(pod) return pod end "
                                   "a = k8s.informer('pods', { transform = f }) "
                                   "b = k8s.informer('pods', { transform = f })";
    struct script *old = start(c, lua);
    struct script *next = prepare(c, old, lua);
    cluster_resolve(c);
    assert_true(claims_share(script_claim(old, 0), script_claim(next, 0)));
    assert_true(claims_share(script_claim(old, 1), script_claim(next, 1)));
    assert_false(claims_share(script_claim(next, 0), script_claim(next, 1)));
    script_free(next);
    script_free(old);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, cluster_setup, cluster_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_function_needs_no_list),
        cmocka_unit_test(test_a_variable_of_two_functions_is_another_than_two_variables),
        cmocka_unit_test(test_another_value_anywhere_is_another_transform),
        cmocka_unit_test(test_what_cannot_be_compared_is_never_the_same),
        cmocka_unit_test(test_what_is_made_to_be_slow_is_never_the_same),
        TEST(test_one_that_keeps_something_is_not_the_same),
        TEST(test_one_that_keeps_something_meanwhile_is_not_taken_over),
        TEST(test_nothing_is_compared_again_when_nothing_has_run),
        TEST(test_one_that_a_limit_cut_short_is_not_the_same),
        TEST(test_a_module_counts_as_the_script_does),
        TEST(test_the_new_function_is_called_once_it_has_taken_over),
        TEST(test_two_with_one_function_have_a_seat_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

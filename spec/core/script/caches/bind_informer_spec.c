/* core/script/caches/bind_informer.c: what a script may ask of an informer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "core/script/support/cluster.h"

static int setup(void **state)
{
    cluster_setup(state);
    struct cluster *c = *state;
    c->script = cluster_load(c, "watcher", "k8s = require 'k8s'\npods = k8s.informer('pods')\n");
    return 0;
}

/* B-7 */
static void test_b7_status_is_a_table_with_the_state(void **state)
{
    struct cluster *c = *state;
    assert_ask(c, c->script, "local s = pods:status() return s.state .. tostring(s.synced) .. s.objects",
               "pendingfalse0");
    assert_ask(c, c->script, "return tostring(pods:status().last_error)", "nil");
    cluster_resolve(c);
    assert_ask(c, c->script, "return pods:status().state", "listing");
    cluster_list(c, 0, "shop/a;shop/b");
    assert_ask(c, c->script, "local s = pods:status() return s.state .. tostring(s.synced) .. s.objects",
               "syncedtrue2");
    assert_ask(c, c->script, "local s = pods:status() return s.resource_version .. ' ' .. type(s.bytes)",
               "3 number");
    assert_ask(c, c->script,
               "local s = pods:status() return s.age >= 0 and s.age < 60 and s.since > 1e9 and s.bytes > 100",
               "true");
}

/* Why a script of this text does not load, without the place. */
static const char *load_error(struct cluster *c, const char *lua)
{
    static const char place[] = "x.lua:1: ";
    char text[400];
    snprintf(text, sizeof text, "k8s = require 'k8s' %s", lua);
    const char *error = cluster_load_error(c, "x", text), *at = strstr(error, place);
    return at ? at + strlen(place) : error;
}

static void test_what_is_kept_is_part_of_the_informer(void **state)
{
    struct cluster *c = *state;
    struct script *more = cluster_load(c, "more",
                                       "k8s = require 'k8s'\n"
                                       "k8s.informer('pods', { prune = { 'b', 'a' } })\n"
                                       "k8s.informer('pods', { prune = { 'a', 'b', 'a' } })\n"
                                       "k8s.informer('pods', { fields = { 'a', 'b' } })\n"
                                       "k8s.informer('pods', { metadata_only = true })\n"
                                       "k8s.informer('pods', { metadata_only = false })\n");
    cluster_resolve(c);
    assert_int_equal(c->source_count, 4);
    script_free(more);
}

static void test_a_script_has_a_hundred_informers_at_most(void **state)
{
    assert_string_equal(load_error(*state, "for i = 1, 101 do k8s.informer('pods') end"),
                        "k8s.informer: over the limit informers (100)");
}

/* F-3 */
static void test_bad_options_raise_with_the_line(void **state)
{
    struct cluster *c = *state;
    assert_string_equal(load_error(c, "k8s.informer('pods', { prune = { 'a..b' } })"),
                        "k8s.informer: prune: path \"a..b\": empty name at 3");
    assert_string_equal(load_error(c, "k8s.informer('pods', { prune = { 'spec', 7 } })"),
                        "k8s.informer: prune: [2] must be a string, not number");
    assert_string_equal(load_error(c, "k8s.informer('pods', { fields = {} })"),
                        "k8s.informer: fields must be a non-empty array of strings");
    assert_string_equal(load_error(c, "k8s.informer('pods', { fields = { 'a' }, metadata_only = true })"),
                        "k8s.informer: metadata_only cannot be combined with fields");
    assert_string_equal(load_error(c, "k8s.informer('pods', { namespaces = { 'a', '' } })"),
                        "k8s.informer: namespaces: [2] is empty");
    assert_string_equal(
        load_error(c, "k8s.informer('pods', { namespaces = { 'a', 'team-*' } })"),
        "k8s.informer: namespaces: [2]: \"team-*\" is not a valid namespace name: lower-case letters, digits "
        "and '-', at most 63 characters; patterns are only supported in namespaces of handlers");
    assert_string_equal(load_error(c, "k8s.informer('pods', { namespace = 'a/b' })"),
                        "k8s.informer: namespace: \"a/b\" is not a valid namespace name: lower-case letters, "
                        "digits and '-', at most 63 characters");
    assert_string_equal(load_error(c, "k8s.factory({ namespace = '-a' }):informer 'pods'"),
                        "k8s.informer: namespace: \"-a\" is not a valid namespace name: lower-case letters, "
                        "digits and '-', at most 63 characters");
    assert_string_equal(load_error(c, "k8s.informer('')"), "k8s.informer: the kind is empty");
    assert_string_equal(
        load_error(c, "k8s.informer('pods', { selector = 'a=b=c' })"),
        "k8s.informer: selector: selector \"a=b=c\": character 4: found '=', expected: ',' or 'end of "
        "string'");
}

/* B-6, B-7 */
static void test_b7_several_namespaces_have_a_status_each(void **state)
{
    struct cluster *c = *state;
    struct script *set = cluster_load(c, "set",
                                      "k8s = require 'k8s'\n"
                                      "pods = k8s.informer('pods', { namespaces = { 'a', 'b', 'a' } })\n"
                                      "nodes = k8s.informer('nodes', { namespaces = { 'a', 'b' } })\n");
    assert_ask(c, set, "return pods:status().namespaces", "nil");
    cluster_resolve(c);
    assert_int_equal(c->source_count, 4); /* the two namespaces, nodes, and those of the other script */
    cluster_list(c, 1, "a/x;a/y");
    assert_ask(
        c, set,
        "local s = pods:status() return s.state .. ' ' .. s.objects .. ' ' .. s.namespaces.a.state .. ' ' "
        ".. s.namespaces.a.objects .. ' ' .. s.namespaces.b.state",
        "listing 2 synced 2 listing");
    cluster_list(c, 2, "b/z");
    assert_ask(c, set, "local s = pods:status() return s.state .. ' ' .. s.objects", "synced 3");
    assert_ask(c, set, "return pods:lister():count() .. pods:lister():namespace('b'):count()", "31");
    script_free(set);
}

/* transforms run on the engine thread, into a pool of its own. */
static void test_q4_a_transform_makes_what_is_stored(void **state)
{
    struct cluster *c = *state;
    struct script *s = cluster_load(c, "transformer",
                                    "k8s = require 'k8s' log = {}\n"
                                    "pods = k8s.informer('pods', { transform = function(pod)\n"
                                    "  if pod.metadata.name == 'unwanted' then return nil end\n"
                                    "  if pod.metadata.name == 'fails' then error 'cannot' end\n"
                                    "  if pod.metadata.name == 'renamed' then pod.metadata.name = 'x' end\n"
                                    "  if pod.metadata.name == 'text' then return 'pod' end\n"
                                    "  if pod.metadata.name == 'forgets' then return end\n"
                                    "  if pod.metadata.name == 'waits' then k8s.sleep(1) end\n"
                                    "  return { metadata = pod.metadata, spec = { many = k8s.json.array {}, "
                                    "big = k8s.int64 '9007199254740993' } }\n"
                                    "end })\n"
                                    "pods:on_add(function(pod) log[#log + 1] = pod:json() end)\n");
    cluster_resolve(c);
    assert_int_equal(c->source_count, 2); /* shared with nobody */
    cluster_list(c, 1,
                 "shop/unwanted;shop/fails;shop/renamed;shop/text;shop/waits;shop/forgets;shop/a app=web");
    assert_ask(c, s, "return table.concat(log, ' ')",
               "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"labels\":{\"app\":\"web\"},\"name\":"
               "\"a\",\"namespace\":\"shop\",\"resourceVersion\":\"7\"},\"spec\":{\"big\":9007199254740993,"
               "\"many\":[]}}");
    assert_ask(c, s, "return pods:lister():count()", "1");
    assert_int_equal(script_counters(s).errors, 5);
    script_free(s);
    cluster_settle(c);
    assert_true(c->sources[1].freed);
}

static void test_status_is_a_method(void **state)
{
    struct cluster *c = *state;
    assert_ask(c, c->script, "pods.status()",
               "raised: question.lua:1: informer:status: called on nil, not on an informer (methods are "
               "called with ':')");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, cluster_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_b7_status_is_a_table_with_the_state),
        TEST(test_what_is_kept_is_part_of_the_informer),
        TEST(test_bad_options_raise_with_the_line),
        TEST(test_b7_several_namespaces_have_a_status_each),
        TEST(test_q4_a_transform_makes_what_is_stored),
        TEST(test_a_script_has_a_hundred_informers_at_most),
        TEST(test_status_is_a_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* lua/k8s/repl_kinds.lua, by core/script/prompt/repl.c: a prompt that hides Secrets does so whatever is known
 * of the server's kinds just then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/script/support/cluster.h"
#include "informer/live/live_client.h"
#include "kube/kinds/catalogue.h"
#include "kube/kinds/kinds.h"
#include "script/prompt/repl.h"

static const char hidden[] = "repl:1: secrets are hidden; --show-secrets shows them";

static struct cluster *c;
static struct kinds *kinds;
static struct catalogue *without; /* secrets */
static struct repl *repl;
static struct buf answer;
static int ends;
static char asked[64]; /* what the server was asked for; "": nothing */

/* --- the server, which never answers */

struct object_call {
    int unused;
};

static struct object_call *start_get(void *ctx, const struct object_request *request, object_done *done,
                                     void *done_ctx)
{
    snprintf(asked, sizeof asked, "%s %s/%s", request->place.resource->plural, request->place.namespace_,
             request->place.name);
    return NEW(struct object_call);
}

static void cancel_get(struct object_call *call)
{
    free(call);
}

/* --- the bench */

static void on_print(void *ctx, struct str line) {}

static void on_end(void *ctx, enum repl_end end, struct str text)
{
    ends++;
    answer.len = 0;
    buf_str(&answer, text);
}

static void on_ask_kinds(void *ctx) {}

/* A script has a cache of Secrets, and no response of discovery is known since. */
static int setup(void **state)
{
    struct err err;
    const struct repl_ops ops = {.printed = on_print, .ended = on_end};
    cluster_setup(state);
    c = *state;
    without = catalogue_new();
    for (size_t i = 0; i < c->catalogue->count; i++) catalogue_add_copy(without, &c->catalogue->entries[i]);
    catalogue_finish(without);
    catalogue_add_guess(c->catalogue, STR("v1"), STR("Secret"), true);
    kinds = kinds_new(loop_clock(c->loop), on_ask_kinds, NULL);
    c->parts.kinds = kinds;
    c->parts.live = live_new(&(struct live_options){.engine_loop = c->loop,
                                                    .io_loop = c->loop,
                                                    .new_source = cluster_new_source,
                                                    .ctx = c,
                                                    .caller = {start_get, cancel_get, NULL}});
    c->script = cluster_load(c, "watcher", "require 'k8s'.informer 'secrets'");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
    repl = repl_new(&c->host, REPL_SHARED_CACHES, &ops, &err);
    if (!repl) fail_msg("%s", err.text);
    ends = 0;
    *asked = '\0';
    return 0;
}

static int teardown(void **state)
{
    repl_free(repl);
    script_free(c->script);
    c->script = NULL;
    cluster_settle(c);
    live_free(c->parts.live);
    kinds_free(kinds);
    catalogue_free(without);
    buf_clear(&answer);
    return cluster_teardown(state);
}

static void eval(const char *text, bool hides_secrets)
{
    repl_eval(repl, str_of(text), &(struct repl_style){.hides_secrets = hides_secrets});
    cluster_settle(c);
}

static void assert_gives(const char *text, bool hides_secrets, const char *expected)
{
    int before = ends;
    eval(text, hides_secrets);
    assert_int_equal(ends, before + 1);
    assert_string_equal(buf_text(&answer), expected);
}

/* --- tests */

static void test_a_cache_is_hidden_whether_its_kind_resolves_or_not(void **state)
{
    struct catalogue *const known[] = {NULL, without, c->catalogue};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (known[i]) kinds_set(kinds, known[i]);
        assert_gives("secrets:count()", true, hidden);
        assert_gives("kind 'secrets':list()", true, hidden);
        assert_gives("secrets:count()", false, "1");
    }
}

/* The name is one of nothing when the read begins. */
static void test_a_read_is_refused_once_its_kind_is_known(void **state)
{
    static const char *const reads[] = {"k8s.get('secret', 'shop/a')", "k8s.list 'v1/Secret'",
                                        "for page in k8s.pages 'secrets' do print(#page) end"};
    for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
        teardown(state);
        setup(state);
        eval(reads[i], true);
        assert_true(repl_is_busy(repl));
        kinds_set(kinds, c->catalogue);
        cluster_settle(c);
        assert_false(repl_is_busy(repl));
        assert_string_equal(buf_text(&answer), hidden);
        assert_string_equal(asked, "");
        assert_int_equal(c->source_count, 1);
    }
}

static void test_a_read_of_another_kind_goes_on_once_it_is_known(void **state)
{
    eval("k8s.get('pod', 'shop/a')", true);
    kinds_set(kinds, c->catalogue);
    cluster_settle(c);
    assert_string_equal(asked, "pods shop/a");
    repl_cancel(repl);
}

static void test_history_of_a_kind_that_means_nothing_now_is_refused(void **state)
{
    static const char of_secret[] = "k8s.history { kind = 'secret', namespace = 'shop', name = 'a' }";
    assert_gives(of_secret, true, "repl:1: k8s.history: secret: the kinds of the server are not known yet");
    kinds_set(kinds, without);
    assert_gives(of_secret, true, "repl:1: k8s.history: the server doesn't have a resource type \"secret\"");
    kinds_set(kinds, c->catalogue);
    assert_gives(of_secret, true, hidden);
}

/* A table whose fields are another kind's when they are read again. */
static void test_a_table_says_once_what_history_is_of(void **state)
{
    kinds_set(kinds, c->catalogue);
    assert_gives("reads = 0 k8s.history(setmetatable({ metadata = { name = 'a' }, apiVersion = 'v1' }, "
                 "{ __index = function(_, key) if key ~= 'kind' then return end "
                 "reads = reads + 1 return reads > 2 and 'Secret' or 'Pod' end }))",
                 true, "");
    assert_gives("reads", true, "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(test_a_cache_is_hidden_whether_its_kind_resolves_or_not),
        T(test_a_read_is_refused_once_its_kind_is_known),
        T(test_a_read_of_another_kind_goes_on_once_it_is_known),
        T(test_history_of_a_kind_that_means_nothing_now_is_refused),
        T(test_a_table_says_once_what_history_is_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

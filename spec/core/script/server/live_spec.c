/* core/script/server/bind_live.c, bind_reader.c, reader.c, reads.c: live reads of a script, on a server
 * played by hand. */
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
#include "kube/kinds/kinds.h"
#include "script/server/declared.h"
#include "script/vm/memory.h"

static struct cluster cluster;
static struct script *script;

/* --- gets, which end by hand */

struct object_call {
    char name[64];
    object_done *done;
    void *ctx;
};

static struct object_call *get;

static struct object_call *start_get(void *ctx, const struct object_request *request, object_done *done,
                                     void *done_ctx)
{
    assert_null(get);
    get = NEW(struct object_call);
    snprintf(get->name, sizeof get->name, "%s/%s", request->place.namespace_, request->place.name);
    get->done = done;
    get->ctx = done_ctx;
    return get;
}

static void cancel_get(struct object_call *cancelled)
{
    assert_ptr_equal(cancelled, get);
    free(get);
    get = NULL;
}

static void fail_get(int status, const char *text)
{
    struct object_call *ended = get;
    struct err err;
    err_set(&err, ERR_HTTP, "%s", text);
    err.http_status = status;
    err.retry_after_ms = 1500;
    get = NULL;
    ended->done(ended->ctx, &(struct object_response){.http_status = status, .err = &err});
    free(ended);
    cluster_settle(&cluster);
}

/* Of 8 KiB and more, which it shares with no other. */
static void give_get(int number)
{
    enum { LABELS = 120 };
    struct object_call *ended = get;
    struct buf json = {0};
    struct root *object;
    struct err err;
    buf_puts(&json, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"labels\":{");
    for (int i = 0; i < LABELS; i++)
        buf_printf(&json, "%s\"l%d\":\"%d-%060d\"", i > 0 ? "," : "", i, i, number);
    buf_puts(&json, "}}}");
    memset(buf_reserve(&json, TAPE_PADDING), 0, TAPE_PADDING);
    if (!pack_text(cluster.packer, json.data, json.len, NULL, &object, &err)) fail_msg("%s", err.text);
    buf_clear(&json);
    get = NULL;
    ended->done(ended->ctx, &(struct object_response){.object = object, .http_status = 200});
    free(ended);
    cluster_settle(&cluster);
}

/* --- the bench */

static int asked;

static void ask(void *ctx)
{
    asked++;
}

static int setup(void **state)
{
    cluster_init(&cluster);
    asked = 0;
    cluster.parts.kinds = kinds_new(loop_clock(cluster.loop), ask, NULL);
    cluster.parts.live = live_new(&(struct live_options){.engine_loop = cluster.loop,
                                                         .io_loop = cluster.loop,
                                                         .new_source = cluster_new_source,
                                                         .ctx = &cluster,
                                                         .caller = {start_get, cancel_get, NULL}});
    script = NULL;
    return 0;
}

static int teardown(void **state)
{
    if (script) script_free(script);
    cluster_settle(&cluster);
    live_free(cluster.parts.live);
    kinds_free(cluster.parts.kinds);
    assert_null(get);
    cluster_clear(&cluster);
    return 0;
}

static void on_main_done(void *ctx, enum script_result result, int exit_code)
{
    assert_int_equal(result, SCRIPT_OK);
    *(bool *)ctx = true;
}

static bool done;

/* Starts a main; what it tells is `told`. */
static void start_main(const char *body)
{
    struct buf lua = {0};
    buf_printf(&lua,
               "local k8s = require 'k8s'\n"
               "k8s.reads { 'pods:*', 'nodes:list', 'PODS:*' }\n"
               "local said = {}\n"
               "local function tell(...) for i = 1, select('#', ...) do\n"
               "said[#said + 1] = tostring((select(i, ...))) end end\n"
               "function told() local text = table.concat(said, ' ') said = {} return text end\n"
               "k8s.main(function() %s end)\n",
               body);
    done = false;
    script = cluster_load(&cluster, "live", buf_text(&lua));
    buf_clear(&lua);
    script_run_main(script, on_main_done, &done);
    cluster_settle(&cluster);
}

static void discover(void)
{
    kinds_set(cluster.parts.kinds, cluster.catalogue);
    cluster_settle(&cluster);
}

#define assert_told(expected) assert_ask(&cluster, script, "return told()", expected)

static void test_a_read_waits_until_the_kinds_are_known(void **state)
{
    start_main("tell(#k8s.list 'pods')");
    assert_int_equal(cluster.source_count, 0);
    discover();
    assert_int_equal(cluster.source_count, 1);
    assert_string_equal(cluster.sources[0].plural, "pods");
    cluster_list(&cluster, 0, "shop/a;shop/b");
    assert_true(done);
    assert_told("2");
    assert_true(cluster.sources[0].freed);
}

static void test_a_server_that_cannot_be_reached_is_an_error(void **state)
{
    struct err err;
    start_main("local list, err = k8s.list 'pods' tell(list, err.reason, err)");
    err_set(&err, ERR_CONNECT, "nobody there");
    kinds_fail(cluster.parts.kinds, &err);
    cluster_settle(&cluster);
    assert_true(done);
    assert_told("nil NotConnected nobody there");
}

static void test_the_declared_reads_are_part_of_the_plan(void **state)
{
    start_main("");
    const struct declarations *declared = script_declared_reads(script);
    assert_int_equal(declared->count, 2); /* the same in capitals is the same */
    assert_string_equal(declared->items[0].text, "pods:*");
    assert_string_equal(declared->items[1].text, "nodes:list");
}

static void test_an_error_has_all_that_the_server_sent(void **state)
{
    discover();
    start_main("local _, err = k8s.get('pods', 'shop/a') tell(err.code, err.message, err.retry_after)");
    assert_string_equal(get->name, "shop/a");
    fail_get(503, "busy");
    assert_told("503 busy 1.5");
}

static void test_events_come_one_by_one_and_a_close_ends_them(void **state)
{
    discover();
    start_main("local pods = k8s.watch('pods', { resource_version = '5' })\n"
               "for ev in pods do\n"
               "tell(ev.type, ev.object:name()) if ev.type == 'DELETED' then pods:close() end end\n"
               "tell 'end'");
    cluster_event(&cluster, 0, LW_ADDED, "shop/a");
    cluster_event(&cluster, 0, LW_MODIFIED, "shop/a");
    assert_told("ADDED a MODIFIED a");
    cluster_event(&cluster, 0, LW_DELETED, "shop/a");
    assert_told("DELETED a end");
    cluster_settle(&cluster);
    assert_true(done && cluster.sources[0].freed);
}

static void test_a_watch_without_references_is_collected(void **state)
{
    discover();
    start_main("for ev in k8s.watch('pods', { resource_version = '5' }) do tell(ev.type) break end");
    cluster_event(&cluster, 0, LW_ADDED, "shop/a");
    assert_true(done);
    assert_told("ADDED");
    assert_non_null(cluster.sources[0].call);
    for (int i = 0; i < 2; i++) lua_gc(script->L, LUA_GCCOLLECT, 0);
    cluster_settle(&cluster);
    assert_true(cluster.sources[0].freed);
    assert_int_equal(script->own.reads->open_watches, 0);
}

static void test_a_page_that_was_read_is_let_go_of(void **state)
{
    discover();
    start_main("for page in k8s.pages 'nodes' do tell(#page) page = nil end");
    cluster_list(&cluster, 0, "a;b;c");
    assert_true(done);
    assert_told("3");
    lua_gc(script->L, LUA_GCCOLLECT, 0);
    pool_drain(cluster.pool);
    assert_int_equal(pool_stats(cluster.pool).roots, 0);
    assert_int_equal(script->own.reads->open_lists, 0);
}

static void test_a_get_has_no_options(void **state)
{
    start_main("tell((select(2, pcall(k8s.get, 'pods', 'shop/a', { timeout = '4s' })):match 'k8s.*'))");
    assert_told("k8s.get: takes a kind and a key, and no options");
}

/* In each of the things that it may wait for, and with events that were not taken. */
static void test_a_script_may_be_freed_while_it_waits(void **state)
{
    start_main("k8s.list 'pods'");
    script_free(script);
    discover();
    static const char *const bodies[] = {
        "k8s.list 'pods'",
        "k8s.get('pods', 'shop/a')",
        "for _ in k8s.pages 'pods' do end",
        "for _ in k8s.watch('pods', { resource_version = '5', timeout = '1h' }) do end",
    };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        start_main(bodies[i]);
        assert_false(done);
        script_free(script);
        cluster_settle(&cluster);
    }
    start_main("keep = k8s.watch('pods', { resource_version = '5' }) keep() k8s.sleep '1h'");
    for (int i = 0; i < 3; i++) cluster_event(&cluster, cluster.source_count - 1, LW_ADDED, "shop/a");
}

/* No cache lets go of them, which is what a script's memory is looked at for else. */
static void test_objects_that_were_read_count_without_a_collection(void **state)
{
    discover();
    start_main("kept = {} while true do kept[#kept + 1] = k8s.get('pods', 'shop/a') end");
    script->limits.values[LIMIT_SCRIPT_MEMORY] = 8 << 20;
    memory_set_limit(script);
    for (int i = 0; i < 400; i++) give_get(i);
    assert_in_range(script->retained.bytes, 2 << 20, 8 << 20);
}

static void test_an_unknown_kind_starts_discovery(void **state)
{
    discover();
    start_main("local list, err = k8s.list 'nodes' tell(#list)");
    cluster_list(&cluster, 0, "a");
    assert_told("1");
    script_free(script);
    assert_int_equal(asked, 0);
    start_main("tell(pcall(k8s.list, 'nodez'))");
    assert_int_equal(asked, 0); /* not for what is not declared */
    assert_true(done);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_read_waits_until_the_kinds_are_known),
        T(test_a_server_that_cannot_be_reached_is_an_error),
        T(test_the_declared_reads_are_part_of_the_plan),
        T(test_an_error_has_all_that_the_server_sent),
        T(test_events_come_one_by_one_and_a_close_ends_them),
        T(test_a_watch_without_references_is_collected),
        T(test_a_page_that_was_read_is_let_go_of),
        T(test_a_get_has_no_options),
        T(test_a_script_may_be_freed_while_it_waits),
        T(test_objects_that_were_read_count_without_a_collection),
        T(test_an_unknown_kind_starts_discovery),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

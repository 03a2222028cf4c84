/* Scripts that write; see writes.h. */
#include "core/script/support/writes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "informer/live/live_client.h"
#include "kube/kinds/kinds.h"

struct writes_bench bench;

/* Mails on the loop, turns of tasks on the clock. */
void writes_advance(int64_t ms)
{
    virtual_clock_advance(&bench.clock, ms);
    for (int i = 0; i < 4; i++) {
        cluster_settle(&bench.cluster);
        virtual_clock_advance(&bench.clock, 0);
    }
}

void writes_settle(void)
{
    writes_advance(0);
}

/* --- requests, which end by hand */

static struct object_call *start_call(void *ctx, const struct object_request *r, object_done *done,
                                      void *done_ctx)
{
    if (bench.is_mute) return NEW(struct object_call);
    assert_null(bench.call);
    bench.call = NEW(struct object_call);
    bench.call->done = done;
    bench.call->ctx = done_ctx;
    bench.timeout_ms = r->timeout_ms;
    bench.sent.len = 0;
    const struct object_place *place = &r->place;
    struct buf query = {0};
    bool is_new = r->verb == OBJECT_CREATE && !*place->subresource;
    object_request_query(r, &query);
    buf_printf(&bench.sent, "%s %s %s/%s", object_request_method(r), place->resource->plural,
               place->namespace_, is_new ? "" : place->name);
    if (*place->subresource) buf_printf(&bench.sent, "/%s", place->subresource);
    if (query.len) buf_printf(&bench.sent, "?%s", buf_text(&query));
    buf_printf(&bench.sent, " %s: %.*s", object_request_type(r), STR_ARG(r->body));
    buf_clear(&query);
    return bench.call;
}

static void cancel_call(struct object_call *cancelled)
{
    if (!bench.is_mute) {
        assert_ptr_equal(cancelled, bench.call);
        bench.call = NULL;
    }
    free(cancelled);
}

void writes_answer(const char *json)
{
    struct object_call *ended = bench.call;
    struct root *object = NULL;
    struct err err;
    if (json) {
        struct buf text = {0};
        buf_puts(&text, json);
        size_t len = text.len;
        buf_reserve(&text, TAPE_PADDING);
        assert_true(pack_text(bench.cluster.packer, text.data, len, &(struct pack_type){.nameless = true},
                              &object, &err));
        buf_clear(&text);
    }
    bench.call = NULL;
    ended->done(ended->ctx, &(struct object_response){.object = object, .http_status = 200});
    free(ended);
    writes_settle();
}

void writes_refuse(int status, const char *reason)
{
    struct object_call *ended = bench.call;
    struct err err;
    err_set(&err, ERR_HTTP, "no");
    err.http_status = status;
    snprintf(err.reason, sizeof err.reason, "%s", reason);
    bench.call = NULL;
    ended->done(ended->ctx, &(struct object_response){.http_status = status, .err = &err});
    free(ended);
    writes_settle();
}

/* --- the bench */

static void ask(void *ctx)
{
    ++*(int *)ctx;
}

int writes_setup(void **state)
{
    cluster_init(&bench.cluster);
    virtual_clock_init(&bench.clock);
    bench.cluster.host.clock = &bench.clock.clock;
    bench.asked = 0;
    bench.is_mute = false;
    bench.cluster.parts.kinds = kinds_new(&bench.clock.clock, ask, &bench.asked);
    bench.cluster.parts.live = live_new(&(struct live_options){.engine_loop = bench.cluster.loop,
                                                               .io_loop = bench.cluster.loop,
                                                               .new_source = cluster_new_source,
                                                               .ctx = &bench.cluster,
                                                               .caller = {start_call, cancel_call, NULL}});
    bench.script = NULL;
    return 0;
}

int writes_teardown(void **state)
{
    if (bench.script) script_free(bench.script);
    writes_settle();
    live_free(bench.cluster.parts.live);
    write_log_free(bench.cluster.host.audit);
    kinds_free(bench.cluster.parts.kinds);
    assert_null(bench.call);
    buf_clear(&bench.sent);
    cluster_clear(&bench.cluster);
    virtual_clock_clear(&bench.clock);
    return 0;
}

static void on_main_done(void *ctx, enum script_result result, int exit_code)
{
    assert_int_equal(result, SCRIPT_OK);
}

void writes_run_main(struct script *script)
{
    script_run_main(script, on_main_done, NULL);
    writes_settle();
}

void writes_discover(void)
{
    kinds_set(bench.cluster.parts.kinds, bench.cluster.catalogue);
    writes_settle();
}

void writes_start(const char *body)
{
    struct buf lua = {0};
    buf_printf(&lua,
               "local k8s = require 'k8s'\n"
               "k8s.writes { 'pods:*', 'pods/status:patch', 'pods/eviction:create', '*:create' }\n"
               "local said = {}\n"
               "local pod = { apiVersion = 'v1', kind = 'Pod',\n"
               "  metadata = { name = 'web', namespace = 'shop', resourceVersion = '7' } }\n"
               "local function tell(...) for i = 1, select('#', ...) do\n"
               "said[#said + 1] = tostring((select(i, ...))) end end\n"
               "function told() local text = table.concat(said, ' ') said = {} return text end\n"
               "k8s.main(function() %s end)\n",
               body);
    if (bench.script) script_free(bench.script);
    bench.script = cluster_load(&bench.cluster, "writes", buf_text(&lua));
    buf_clear(&lua);
    writes_run_main(bench.script);
}

void assert_sends(const char *body, const char *expected)
{
    writes_start(body);
    assert_non_null(bench.call);
    assert_string_equal(buf_text(&bench.sent), expected);
    writes_answer(NULL);
}

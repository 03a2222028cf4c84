/* Streams for units; see stream_bench.h. */
#include "core/kube/support/stream_bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/value/json.h"
#include "object/value/value.h"

static void said(struct stream_bench *bench)
{
    if (bench->stop_after >= 0 && bench->stop_after-- == 0) stream_stop(bench->stream);
}

static void take(struct stream_bench *bench, const char *what, struct root *object)
{
    buf_printf(&bench->log, "%s ", what);
    root_key(object, &bench->log);
    buf_putc(&bench->log, '\n');
    buf_clear(&bench->last);
    json_write(&bench->last, root_value(object));
    root_unref(object);
    said(bench);
}

static void on_item(void *ctx, struct root *object)
{
    take(ctx, "item", object);
}

static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us)
{
    static const char *const names[] = {"added", "modified", "deleted"};
    assert_int_equal(received_us, 77);
    take(ctx, names[type], object);
}

static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark)
{
    struct stream_bench *bench = ctx;
    buf_printf(&bench->log, "bookmark %.*s%s\n", STR_ARG(bookmark->resource_version),
               bookmark->initial_events_end ? " end" : "");
    said(bench);
}

static void on_list_end(void *ctx, const struct lw_list_meta *meta)
{
    struct stream_bench *bench = ctx;
    buf_printf(&bench->log, "end rv=%.*s continue=%.*s remaining=%lld\n", STR_ARG(meta->resource_version),
               STR_ARG(meta->continue_token), (long long)meta->remaining);
    said(bench);
}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    struct stream_bench *bench = ctx;
    bench->refused = *refusal->err;
    buf_puts(&bench->log, "refused");
    if (refusal->name.n) buf_printf(&bench->log, " %.*s/%.*s", STR_ARG(refusal->ns), STR_ARG(refusal->name));
    if (refusal->keyless) buf_puts(&bench->log, " keyless");
    if (refusal->deleted) buf_puts(&bench->log, " deleted");
    buf_puts(&bench->log, "\n");
    said(bench);
}

static const struct lw_sink sink = {.item = on_item,
                                    .list_end = on_list_end,
                                    .event = on_event,
                                    .bookmark = on_bookmark,
                                    .refused = on_refused};

int stream_setup(void **state)
{
    struct stream_bench *bench = NEW(struct stream_bench);
    bench->pool = pool_new(NULL);
    bench->packer = packer_new(bench->pool);
    bench->parser = tape_parser_new();
    bench->stop_after = -1;
    *state = bench;
    return 0;
}

int stream_setup_dealt(void **state)
{
    stream_setup(state);
    struct stream_bench *bench = *state;
    bench->loop = loop_new();
    bench->packers = packers_new(bench->loop, 2, NULL);
    packers_start(bench->packers);
    return 0;
}

int stream_teardown(void **state)
{
    struct stream_bench *bench = *state;
    stream_free(bench->stream);
    packer_free(bench->packer);
    tape_parser_free(bench->parser);
    pool_free(bench->pool);
    packers_stop(bench->packers);
    packers_free(bench->packers);
    loop_free(bench->loop);
    buf_clear(&bench->log);
    buf_clear(&bench->last);
    free(bench);
    return 0;
}

static void on_packed(void *ctx)
{
    struct stream_bench *bench = ctx;
    bench->ended = !stream_deliver(bench->stream, &bench->err);
}

/* Waits for what the packers have. Returns false if the stream ended. */
static bool settle(struct stream_bench *bench)
{
    while (bench->packers && !bench->ended && bench->stream->jobs.count > 0) loop_once(bench->loop, true);
    return !bench->ended;
}

void open_stream(struct stream_bench *bench, bool watch, size_t max)
{
    const struct stream_options options = {.packer = bench->packer,
                                           .parser = bench->parser,
                                           .max_object_size = max,
                                           .type = {STR("v1"), STR("Pod")},
                                           .sink = &sink,
                                           .ctx = bench,
                                           .packers = bench->packers,
                                           .ready = on_packed,
                                           .ready_ctx = bench,
                                           .is_odd = &bench->is_odd};
    stream_free(bench->stream);
    bench->stream = watch ? watch_stream_new(&options) : list_stream_new(&options);
    bench->log.len = 0;
    bench->ended = false;
}

bool feed_stream(struct stream_bench *bench, const char *text, size_t step)
{
    size_t len = strlen(text);
    for (size_t at = 0; at < len; at += step) {
        size_t n = len - at < step ? len - at : step;
        char *exact = xmalloc(n);
        memcpy(exact, text + at, n);
        bool ok = stream_feed(bench->stream, exact, n, 77, &bench->err);
        free(exact);
        if (!ok || !settle(bench)) return false;
    }
    return true;
}

bool run_stream(struct stream_bench *bench, bool watch, const char *text, size_t step)
{
    open_stream(bench, watch, 8 << 20);
    return feed_stream(bench, text, step) && stream_end(bench->stream, &bench->err);
}

void expect_log(struct stream_bench *bench, const char *expected)
{
    assert_string_equal(buf_text(&bench->log), expected);
}

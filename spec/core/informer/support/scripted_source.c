/* A list/watch source that the spec plays by hand; see scripted_source.h. */
#include "core/informer/support/scripted_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/objects.h"
#include "net/transport.h"

struct lw_call {
    struct scripted_source *source;
    struct lw_sink sink;
    void *ctx;
};

static void put_option(struct buf *out, const char *name, const char *value)
{
    if (value && *value) buf_printf(out, " %s=%s", name, value);
}

static void describe(const struct lw_options *o, struct buf *out)
{
    out->len = 0;
    buf_puts(out, o->verb == LW_LIST ? "list" : "watch");
    if (o->allow_watch_bookmarks) buf_puts(out, " bookmarks");
    if (o->send_initial_events) buf_puts(out, " initial");
    put_option(out, "continue", o->continue_token);
    if (o->limit) buf_printf(out, " limit=%d", o->limit);
    put_option(out, "rv", o->resource_version);
    put_option(out, "match", o->resource_version_match);
    if (o->own_connection) buf_puts(out, " own");
}

static struct lw_call *start(struct list_watch *base, const struct lw_options *options,
                             const struct lw_sink *sink, void *ctx)
{
    struct scripted_source *source = container_of(base, struct scripted_source, base);
    assert_null(source->call);
    describe(options, &source->request);
    source->timeout_seconds = options->timeout_seconds;
    source->started++;
    source->paused = false;
    source->call = NEW(struct lw_call);
    *source->call = (struct lw_call){source, *sink, ctx};
    return source->call;
}

static void cancel(struct lw_call *call)
{
    call->source->call = NULL;
    call->source->cancelled++;
    free(call);
}

static void pause_call(struct lw_call *call, bool paused)
{
    call->source->paused = paused;
}

static void free_source(struct list_watch *base)
{
    container_of(base, struct scripted_source, base)->freed = true;
}

struct list_watch *scripted_source_init(struct scripted_source *source)
{
    static const struct list_watch_ops ops = {start, cancel, free_source, pause_call, NULL, NULL};
    *source = (struct scripted_source){.base.ops = &ops};
    return &source->base;
}

void scripted_source_clear(struct scripted_source *source)
{
    assert_true(source->freed);
    assert_null(source->call);
    buf_clear(&source->request);
}

const char *source_asked(struct scripted_source *source)
{
    static struct buf asked;
    asked.len = 0;
    buf_str(&asked, buf_slice(&source->request));
    source->request.len = 0;
    return buf_text(&asked);
}

static const struct lw_sink *sink_of(const struct scripted_source *source)
{
    assert_non_null(source->call);
    return &source->call->sink;
}

void source_open(struct scripted_source *source)
{
    if (sink_of(source)->opened) sink_of(source)->opened(source->call->ctx);
}

void source_items(struct scripted_source *source, const char *objects)
{
    size_t count;
    struct root **list = object_list(objects, &count);
    for (size_t i = 0; i < count; i++) sink_of(source)->item(source->call->ctx, list[i]);
    free(list);
}

void source_page(struct scripted_source *source, const char *objects, const char *version, const char *token)
{
    struct lw_list_meta meta = {.resource_version = str_of(version),
                                .continue_token = str_of(token),
                                .remaining = source->remaining ? source->remaining : -1};
    source_items(source, objects);
    sink_of(source)->list_end(source->call->ctx, &meta);
    source_end(source);
}

void source_list(struct scripted_source *source, const char *objects, const char *version)
{
    source_page(source, objects, version, "");
}

void source_event(struct scripted_source *source, enum lw_event_type type, const char *text)
{
    sink_of(source)->event(source->call->ctx, type, object(text), 1);
}

void source_end_mark(struct scripted_source *source, const char *version)
{
    struct lw_bookmark bookmark = {.resource_version = str_of(version), .initial_events_end = true};
    sink_of(source)->bookmark(source->call->ctx, &bookmark);
}

void source_bookmark(struct scripted_source *source, const char *version)
{
    struct lw_bookmark bookmark = {.resource_version = str_of(version)};
    sink_of(source)->bookmark(source->call->ctx, &bookmark);
}

void source_refuse(struct scripted_source *source, const char *text)
{
    struct err err;
    err_set(&err, ERR_LIMIT, "%s", text);
    sink_of(source)->refused(source->call->ctx, &(struct lw_refusal){.err = &err, .keyless = true});
}

void source_refuse_key(struct scripted_source *source, const char *name, bool deleted)
{
    struct err err;
    err_set(&err, ERR_LIMIT, "too large");
    sink_of(source)->refused(source->call->ctx,
                             &(struct lw_refusal){.err = &err, .name = str_of(name), .deleted = deleted});
}

void source_fail_with(struct scripted_source *source, const struct err *err)
{
    struct lw_call *call = source->call;
    assert_non_null(call);
    source->call = NULL;
    call->sink.done(call->ctx, err);
    free(call);
}

void source_end(struct scripted_source *source)
{
    source_fail_with(source, NULL);
}

void source_fail(struct scripted_source *source, enum err_code code)
{
    struct err err;
    err_set(&err, code, "scripted %s", err_code_name(code));
    source_fail_with(source, &err);
}

void source_fail_http(struct scripted_source *source, int status, const char *reason)
{
    struct err err;
    err_set(&err, ERR_HTTP, "scripted %d %s", status, reason);
    err.http_status = status;
    snprintf(err.reason, sizeof err.reason, "%s", reason);
    source_fail_with(source, &err);
}

static void fail_busy(struct scripted_source *source, int status, int64_t wait_ms, bool in_header)
{
    struct err err;
    err_set(&err, ERR_HTTP, "busy");
    err.http_status = status;
    err.retry_after_ms = wait_ms;
    err.has_retry_after = in_header;
    source_fail_with(source, &err);
}

void source_fail_busy(struct scripted_source *source, int status, int64_t wait_ms)
{
    fail_busy(source, status, wait_ms, wait_ms >= 0);
}

void source_fail_busy_in_body(struct scripted_source *source, int status, int64_t wait_ms)
{
    fail_busy(source, status, wait_ms, false);
}

void source_fail_too_large(struct scripted_source *source)
{
    struct err err;
    err_set(&err, ERR_HTTP, "Too large resource version");
    err.http_status = 504;
    err.retry_after_ms = 1000;
    err.has_retry_after = true;
    err.too_large_version = true;
    strcpy(err.reason, "Timeout");
    source_fail_with(source, &err);
}

void source_fail_refused(struct scripted_source *source)
{
    struct err err;
    err_set(&err, ERR_CONNECT, "connect to 127.0.0.1:1: Connection refused");
    strcpy(err.reason, HTTP_REASON_REFUSED);
    source_fail_with(source, &err);
}

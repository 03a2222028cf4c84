/* A server of one resource in memory; see fake_server.h. */
#include "core/informer/support/fake_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "core/informer/support/objects.h"
#include "net/transport.h"
#include "object/value.h"

struct lw_call {
    LIST_ENTRY(lw_call) link;
    struct fake_server *server;
    struct lw_options options;
    char version[32], token[32];
    struct lw_sink sink;
    void *ctx;
    struct timer timer;
    int64_t at;     /* of a watch: the last version sent; -1 while it is not open */
    int64_t end_ms; /* of a watch */
};

static int64_t dice(struct fake_server *server, int64_t from, int64_t to)
{
    return jitter_between(&server->jitter, from, to);
}

static bool fault(struct fake_server *server)
{
    return dice(server, 0, 100) < server->fault_percent;
}

/* --- history
 * ---------------------------------------------------------------------------------------------------- */

int64_t fake_server_version(const struct fake_server *server)
{
    return FAKE_FIRST + (int64_t)server->count - 1;
}

void fake_server_state(const struct fake_server *server, int64_t version, struct root *state[FAKE_KEYS])
{
    memset(state, 0, FAKE_KEYS * sizeof *state);
    for (int64_t v = FAKE_FIRST; v <= version; v++) {
        const struct fake_change *change = &server->log[v - FAKE_FIRST];
        state[change->key] = change->type == FAKE_REMOVED ? NULL : change->object;
    }
}

int fake_key(const struct root *object)
{
    struct text text;
    struct str name = root_name(object, &text);
    uint64_t key = 0;
    must(str_to_u64((struct str){name.p + 1, name.n - 1}, &key) && key < FAKE_KEYS);
    return (int)key;
}

static void append(struct fake_server *server, enum fake_change_type type, int key, const char *uid)
{
    char text[96];
    if (server->count == server->cap) {
        server->cap = server->cap ? 2 * server->cap : 64;
        server->log = xrealloc(server->log, server->cap * sizeof *server->log);
    }
    snprintf(text, sizeof text, "n%d/k%d@%zu#%s", key % 3, key, FAKE_FIRST + server->count, uid);
    server->log[server->count++] = (struct fake_change){type, key, object(text)};
}

void fake_server_change(struct fake_server *server)
{
    struct root *state[FAKE_KEYS];
    int key = (int)dice(server, 0, FAKE_KEYS);
    fake_server_state(server, fake_server_version(server), state);
    char uid[32];
    if (!state[key]) {
        snprintf(uid, sizeof uid, "u%d", ++server->incarnation);
        append(server, FAKE_CREATED, key, uid);
        return;
    }
    struct text text;
    struct str before = root_uid(state[key], &text);
    snprintf(uid, sizeof uid, "%.*s", STR_ARG(before));
    append(server, dice(server, 0, 3) ? FAKE_UPDATED : FAKE_REMOVED, key, uid);
}

void fake_server_compact(struct fake_server *server)
{
    server->compacted = dice(server, server->compacted, fake_server_version(server) + 1);
}

/* --- ends of calls
 * ---------------------------------------------------------------------------------------------- */

static void finish(struct lw_call *call, const struct err *err)
{
    LIST_REMOVE(call, link);
    timer_cancel(&call->timer);
    call->sink.done(call->ctx, err);
    free(call);
}

static void fail_http(struct lw_call *call, int status, const char *reason)
{
    struct err err;
    err_set(&err, ERR_HTTP, "fake %d", status);
    err.http_status = status;
    snprintf(err.reason, sizeof err.reason, "%s", reason);
    err.too_large_version = status == 504;
    if (status == 429 && dice(call->server, 0, 2)) err.retry_after_ms = 1000;
    finish(call, &err);
}

static void fail_local(struct lw_call *call, enum err_code code, const char *reason)
{
    struct err err;
    err_set(&err, code, "fake %s", err_code_name(code));
    snprintf(err.reason, sizeof err.reason, "%s", reason);
    finish(call, &err);
}

static void fail_somehow(struct lw_call *call)
{
    switch (dice(call->server, 0, 10)) {
    case 0: fail_http(call, 410, "Expired"); break;
    case 1: fail_http(call, 410, "Gone"); break;
    case 2: fail_http(call, 429, "TooManyRequests"); break;
    case 3: fail_http(call, 500, "InternalError"); break;
    case 4: fail_http(call, 403, "Forbidden"); break;
    case 5: fail_http(call, 504, "Timeout"); break;
    case 6: fail_local(call, ERR_CONNECT, HTTP_REASON_REFUSED); break;
    case 7: fail_local(call, ERR_CLOSED, ""); break;
    case 8: fail_local(call, ERR_PARSE, ""); break;
    case 9: fail_local(call, ERR_TIMEOUT, ""); break;
    }
}

/* --- lists
 * ------------------------------------------------------------------------------------------------------ */

/* The version that a list shows, or -1 for one that is gone, -2 for one that is not there yet. */
static int64_t version_to_show(struct lw_call *call)
{
    struct fake_server *server = call->server;
    int64_t now = fake_server_version(server), asked = strtoll(call->version, NULL, 10);
    if (!call->version[0]) return now;
    if (asked == 0) return dice(server, server->compacted, now + 1);
    if (asked > now) return -2;
    if (call->options.limit) return asked < server->compacted ? -1 : asked;
    return dice(server, asked > server->compacted ? asked : server->compacted, now + 1);
}

static void send_page(struct lw_call *call, int64_t version, int first)
{
    struct fake_server *server = call->server;
    struct root *state[FAKE_KEYS];
    char token[32] = "", text[32];
    int sent = 0, limit = call->options.limit, key = first;
    fake_server_state(server, version, state);
    for (; key < FAKE_KEYS; key++) {
        if (!state[key]) continue;
        if (limit && sent == limit) break;
        call->sink.item(call->ctx, root_ref(state[key]));
        sent++;
        if (fault(server)) {
            fail_somehow(call);
            return;
        }
    }
    if (key < FAKE_KEYS) snprintf(token, sizeof token, "%lld:%d", (long long)version, key);
    snprintf(text, sizeof text, "%lld", (long long)version);
    struct lw_list_meta meta = {str_of(text), str_of(token), -1};
    call->sink.list_end(call->ctx, &meta);
    if (fault(server))
        fail_somehow(call);
    else
        finish(call, NULL);
}

static void answer_list(struct timer *timer)
{
    struct lw_call *call = container_of(timer, struct lw_call, timer);
    if (fault(call->server)) {
        fail_somehow(call);
        return;
    }
    if (call->token[0]) {
        char *end;
        int64_t version = strtoll(call->token, &end, 10);
        if (version < call->server->compacted)
            fail_http(call, 410, "Expired");
        else
            send_page(call, version, (int)strtol(end + 1, NULL, 10));
        return;
    }
    int64_t version = version_to_show(call);
    if (version == -1)
        fail_http(call, 410, "Expired");
    else if (version == -2)
        fail_http(call, 504, "Timeout");
    else
        send_page(call, version, 0);
}

/* --- watches
 * ---------------------------------------------------------------------------------------------------- */

static void send_event(struct lw_call *call)
{
    static const enum lw_event_type types[] = {LW_ADDED, LW_MODIFIED, LW_DELETED};
    const struct fake_change *change = &call->server->log[++call->at - FAKE_FIRST];
    call->sink.event(call->ctx, types[change->type], root_ref(change->object), 1);
}

static void send_bookmark(struct lw_call *call)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)call->at);
    struct lw_bookmark bookmark = {.resource_version = str_of(text)};
    call->sink.bookmark(call->ctx, &bookmark);
}

static void look_at_watch(struct timer *timer)
{
    struct lw_call *call = container_of(timer, struct lw_call, timer);
    struct fake_server *server = call->server;
    int64_t burst = dice(server, 0, 6);
    while (burst-- > 0 && call->at < fake_server_version(server)) send_event(call);
    if (call->at == fake_server_version(server) && !dice(server, 0, 20)) send_bookmark(call);
    if (fault(server)) {
        if (dice(server, 0, 2))
            finish(call, NULL);
        else
            fail_somehow(call);
    } else if (clock_now_ms(server->clock) >= call->end_ms) {
        finish(call, NULL);
    } else {
        timer_start(timer, server->clock, dice(server, 1, 2000));
    }
}

static void open_watch(struct timer *timer)
{
    struct lw_call *call = container_of(timer, struct lw_call, timer);
    int64_t asked = strtoll(call->version, NULL, 10);
    must(asked >= FAKE_FIRST - 1);
    if (fault(call->server)) {
        fail_somehow(call);
    } else if (asked < call->server->compacted) {
        fail_http(call, 410, dice(call->server, 0, 2) ? "Expired" : "Gone");
    } else if (asked > fake_server_version(call->server)) {
        fail_http(call, 504, "Timeout");
    } else {
        call->at = asked;
        call->timer.fn = look_at_watch;
        timer_start(timer, call->server->clock, 0);
    }
}

/* --- the source
 * ------------------------------------------------------------------------------------------------- */

static struct lw_call *start(struct list_watch *base, const struct lw_options *options,
                             const struct lw_sink *sink, void *ctx)
{
    struct fake_server *server = container_of(base, struct fake_server, base);
    struct lw_call *call = NEW(struct lw_call);
    bool watch = options->verb == LW_WATCH;
    *call = (struct lw_call){.server = server, .options = *options, .sink = *sink, .ctx = ctx, .at = -1};
    snprintf(call->version, sizeof call->version, "%s", options->resource_version);
    snprintf(call->token, sizeof call->token, "%s", options->continue_token);
    call->end_ms = clock_now_ms(server->clock) + options->timeout_seconds * 1000LL;
    call->timer.fn = watch ? open_watch : answer_list;
    server->lists += !watch;
    server->watches += watch;
    LIST_INSERT_HEAD(&server->calls, call, link);
    timer_start(&call->timer, server->clock, dice(server, 0, 100));
    return call;
}

static void cancel(struct lw_call *call)
{
    LIST_REMOVE(call, link);
    timer_cancel(&call->timer);
    free(call);
}

static void free_source(struct list_watch *base) {}

struct list_watch *fake_server_init(struct fake_server *server, struct clock *clock, uint64_t seed)
{
    static const struct list_watch_ops ops = {start, cancel, free_source, NULL};
    *server =
        (struct fake_server){.base.ops = &ops, .clock = clock, .jitter = {seed}, .compacted = FAKE_FIRST - 1};
    LIST_INIT(&server->calls);
    return &server->base;
}

void fake_server_clear(struct fake_server *server)
{
    must(LIST_EMPTY(&server->calls));
    for (size_t i = 0; i < server->count; i++) root_unref(server->log[i].object);
    free(server->log);
}

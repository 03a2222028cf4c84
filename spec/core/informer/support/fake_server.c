/* The history of the fake server, and how its calls begin and end; see fake_server.h. */
#include "core/informer/support/fake_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "core/informer/support/fake_internal.h"
#include "core/informer/support/objects.h"
#include "net/transport.h"
#include "object/value/value.h"

int64_t fake_dice(struct fake_server *server, int64_t from, int64_t to)
{
    return jitter_between(&server->jitter, from, to);
}

static bool percent(struct fake_server *server, int percent)
{
    return fake_dice(server, 0, 100) < percent;
}

bool fake_fault(struct fake_server *server)
{
    return percent(server, server->fault_percent);
}

/* --- history */

int64_t fake_server_version(const struct fake_server *server)
{
    return FAKE_FIRST + (int64_t)server->count - 1;
}

int64_t fake_visible(const struct fake_server *server)
{
    int64_t version = fake_server_version(server) - server->lag;
    return version > server->compacted ? version : server->compacted;
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
    const char *labels = fake_dice(server, 0, 2) ? "{\"tier\":\"web\"}" : "{\"tier\":\"db\"}";
    server->log[server->count++] = (struct fake_change){type, key, object_with_labels(text, labels)};
}

static void append_to(struct fake_server *server, enum fake_change_type type, int key,
                      const struct root *before)
{
    struct text text;
    char uid[32];
    snprintf(uid, sizeof uid, "%.*s", STR_ARG(root_uid(before, &text)));
    append(server, type, key, uid);
}

void fake_server_change(struct fake_server *server)
{
    struct root *state[FAKE_KEYS];
    int key = (int)fake_dice(server, 0, FAKE_KEYS);
    fake_server_state(server, fake_server_version(server), state);
    if (state[key]) {
        append_to(server, fake_dice(server, 0, 3) ? FAKE_UPDATED : FAKE_REMOVED, key, state[key]);
        return;
    }
    char uid[32];
    snprintf(uid, sizeof uid, "u%d", ++server->incarnation);
    append(server, FAKE_CREATED, key, uid);
}

void fake_server_touch_all(struct fake_server *server)
{
    struct root *state[FAKE_KEYS];
    fake_server_state(server, fake_server_version(server), state);
    for (int key = 0; key < FAKE_KEYS; key++)
        if (state[key]) append_to(server, FAKE_UPDATED, key, state[key]);
}

void fake_server_compact(struct fake_server *server)
{
    server->compacted = fake_dice(server, server->compacted, fake_server_version(server) + 1);
}

/* The one change makes sure that nobody has seen the only version that is left. */
void fake_server_expire(struct fake_server *server)
{
    struct lw_call *call, *next;
    for (call = LIST_FIRST(&server->calls); call; call = next) {
        next = LIST_NEXT(call, link);
        if (call->options.verb == LW_WATCH) fake_fail_local(call, ERR_CLOSED, "");
    }
    fake_server_change(server);
    server->compacted = fake_server_version(server);
}

/* --- ends of calls */

void fake_finish(struct lw_call *call, const struct err *err)
{
    LIST_REMOVE(call, link);
    timer_cancel(&call->timer);
    call->sink.done(call->ctx, err);
    free(call);
}

void fake_fail_http(struct lw_call *call, int status, const char *reason)
{
    struct err err;
    err_set(&err, ERR_HTTP, "fake %d", status);
    err.http_status = status;
    snprintf(err.reason, sizeof err.reason, "%s", reason);
    err.too_large_version = status == 504;
    err.has_retry_after = status == 429 && fake_dice(call->server, 0, 2);
    if (err.has_retry_after) err.retry_after_ms = 1000;
    fake_finish(call, &err);
}

void fake_fail_local(struct lw_call *call, enum err_code code, const char *reason)
{
    struct err err;
    err_set(&err, code, "fake %s", err_code_name(code));
    snprintf(err.reason, sizeof err.reason, "%s", reason);
    fake_finish(call, &err);
}

/* An answer that is an error, an ERROR event, or a connection that ends: all look like this from here. */
void fake_fail_somehow(struct lw_call *call)
{
    switch (fake_dice(call->server, 0, 11)) {
    case 0: fake_fail_http(call, 410, "Expired"); break;
    case 1: fake_fail_http(call, 410, "Gone"); break;
    case 2: fake_fail_http(call, 429, "TooManyRequests"); break;
    case 3: fake_fail_http(call, 500, "InternalError"); break;
    case 4: fake_fail_http(call, 403, "Forbidden"); break;
    case 5: fake_fail_http(call, 504, "Timeout"); break;
    case 6: fake_fail_local(call, ERR_CONNECT, HTTP_REASON_REFUSED); break;
    case 7: fake_fail_local(call, ERR_CLOSED, ""); break;
    case 8: fake_fail_local(call, ERR_PARSE, ""); break;
    case 9: fake_fail_local(call, ERR_TIMEOUT, ""); break;
    case 10: fake_finish(call, NULL); break; /* of a list: before it is whole */
    }
}

/* --- the sink */

void fake_enter(struct lw_call *call)
{
    call->server->current = call;
}

bool fake_still_there(const struct fake_server *server)
{
    return server->current != NULL;
}

bool fake_refuse(struct lw_call *call, const struct root *object, bool deleted)
{
    struct text text_ns, text_name;
    struct err err;
    if (!percent(call->server, call->server->refuse_percent)) return false;
    err_set(&err, ERR_LIMIT, "fake limit");
    struct lw_refusal refusal = {.err = &err, .deleted = deleted};
    switch (fake_dice(call->server, call->server->refuse_nameless ? 0 : 1, 4)) {
    case 0: call->server->nameless++; break; /* its name is not known */
    case 1:                                  /* something beside the object, which has no name at all */
        refusal.keyless = true;
        call->sink.refused(call->ctx, &refusal);
        return false;
    default: refusal.ns = root_namespace(object, &text_ns); refusal.name = root_name(object, &text_name);
    }
    call->server->refusals++;
    call->sink.refused(call->ctx, &refusal);
    return true;
}

/* --- the source */

static struct lw_call *start(struct list_watch *base, const struct lw_options *options,
                             const struct lw_sink *sink, void *ctx)
{
    struct fake_server *server = container_of(base, struct fake_server, base);
    struct lw_call *call = NEW(struct lw_call);
    bool watch = options->verb == LW_WATCH;
    *call = (struct lw_call){.server = server, .options = *options, .sink = *sink, .ctx = ctx};
    snprintf(call->version, sizeof call->version, "%s", options->resource_version);
    snprintf(call->token, sizeof call->token, "%s", options->continue_token);
    call->end_ms = clock_now_ms(server->clock) + options->timeout_seconds * 1000LL;
    call->timer.fn = watch ? fake_open_watch : fake_answer_list;
    server->lists += !watch;
    server->watches += watch;
    server->watch_lists += options->send_initial_events;
    LIST_INSERT_HEAD(&server->calls, call, link);
    timer_start(&call->timer, server->clock, fake_dice(server, 0, 100));
    return call;
}

static void cancel(struct lw_call *call)
{
    if (call->server->current == call) call->server->current = NULL;
    LIST_REMOVE(call, link);
    timer_cancel(&call->timer);
    free(call);
}

static void free_source(struct list_watch *base) {}

struct list_watch *fake_server_init(struct fake_server *server, struct clock *clock, uint64_t seed)
{
    static const struct list_watch_ops ops = {start, cancel, free_source, NULL, NULL, NULL};
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

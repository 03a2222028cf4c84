/* One whole small answer; see client.h. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "kube/client.h"
#include "object/tape.h"

enum { IDLE_MS = 60000, ERROR_BODY_MAX = 64 << 10 };

struct kube_get {
    struct http_exchange *exchange; /* NULL while `late` is on its way */
    struct timer late;
    size_t limit;
    struct buf body;
    struct err err; /* what stopped it, ERR_NONE else */
    void (*done)(void *ctx, const char *body, size_t len, const struct err *err);
    void *ctx;
};

static void finish(struct kube_get *get, const struct err *err)
{
    get->exchange = NULL;
    buf_reserve(&get->body, TAPE_PADDING);
    get->done(get->ctx, err ? NULL : get->body.data, err ? 0 : get->body.len, err);
    buf_clear(&get->body);
    free(get);
}

static void fail_late(struct timer *timer)
{
    struct kube_get *get = container_of(timer, struct kube_get, late);
    finish(get, &get->err);
}

static void on_response(void *ctx, const struct http_response *response)
{
    struct kube_get *get = ctx;
    if (response->status != 200 && get->limit > ERROR_BODY_MAX) get->limit = ERROR_BODY_MAX;
}

static bool on_body(void *ctx, const char *data, size_t len)
{
    struct kube_get *get = ctx;
    if (get->body.len + len > get->limit)
        return err_set(&get->err, ERR_LIMIT, "the answer is larger than %zu bytes", get->limit);
    buf_append(&get->body, data, len);
    return true;
}

static void on_done(void *ctx, const struct http_response *response, const struct err *err)
{
    struct kube_get *get = ctx;
    if (get->err.code != ERR_NONE) err = &get->err;
    if (!err && response->status != 200) {
        kube_status_error(&get->err, "GET", response->status, response->retry_after_ms, get->body.data,
                          get->body.len);
        err = &get->err;
    }
    finish(get, err);
}

struct kube_get *kube_get_start(struct kube_client *client, const char *path, const char *accept,
                                size_t limit,
                                void (*done)(void *ctx, const char *body, size_t len, const struct err *err),
                                void *ctx)
{
    struct kube_get *get = NEW(struct kube_get);
    const struct http_request request = {.method = "GET", .url = path, .idle_timeout_ms = IDLE_MS};
    const struct http_callbacks callbacks = {
        .on_response = on_response, .on_body = on_body, .on_done = on_done, .ctx = get};
    get->limit = limit;
    get->done = done;
    get->ctx = ctx;
    get->late.fn = fail_late;
    err_clear(&get->err);
    get->exchange = kube_client_start(client, &request, accept, &callbacks, &get->err);
    if (!get->exchange) timer_start(&get->late, loop_clock(kube_client_loop(client)), 0);
    return get;
}

void kube_get_cancel(struct kube_get *get)
{
    if (!get) return;
    if (get->exchange) http_cancel(get->exchange);
    timer_cancel(&get->late);
    buf_clear(&get->body);
    free(get);
}

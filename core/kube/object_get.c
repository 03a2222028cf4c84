/* GET of one object; see object_get.h. */
#include "kube/object_get.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "kube/retry_after.h"

struct object_get {
    struct kube_client *client;
    struct buf path;
    struct kube_get *call;
    struct timer delay; /* until the next try, or to tell of a name that may not stand in a path */
    struct err err;     /* for that */
    unsigned tries;
    void (*done)(void *ctx, struct root *object, const struct err *err);
    void *ctx;
};

static void finish(struct object_get *get, struct root *object, const struct err *err)
{
    get->done(get->ctx, object, err);
    object_get_cancel(get);
}

static void on_answer(void *ctx, const char *body, size_t len, const struct err *err)
{
    struct object_get *get = ctx;
    struct root *object = NULL;
    struct err cause;
    int64_t wait_ms;
    get->call = NULL;
    if (err && kube_should_retry(err, get->tries, &wait_ms)) {
        get->tries++;
        timer_start(&get->delay, loop_clock(kube_client_loop(get->client)), wait_ms);
        return;
    }
    if (!err && !pack_text(kube_client_packer(get->client), body, len, NULL, &object, &cause)) {
        err_wrap(&cause, "%s", buf_text(&get->path));
        err = &cause;
    }
    finish(get, object, err);
}

static void on_delay(struct timer *timer)
{
    struct object_get *get = container_of(timer, struct object_get, delay);
    if (get->err.code != ERR_NONE)
        finish(get, NULL, &get->err);
    else
        get->call = kube_get_start(get->client, buf_text(&get->path), NULL,
                                   kube_client_max_object_size(get->client), on_answer, get);
}

struct object_get *object_get_start(struct kube_client *client, const struct resource *resource,
                                    struct str ns, struct str name,
                                    void (*done)(void *ctx, struct root *object, const struct err *err),
                                    void *ctx)
{
    struct object_get *get = NEW(struct object_get);
    get->client = client;
    get->done = done;
    get->ctx = ctx;
    get->delay.fn = on_delay;
    err_clear(&get->err);
    resource_object_path(resource, ns, name, STR(""), &get->path, &get->err);
    timer_start(&get->delay, loop_clock(kube_client_loop(client)), 0);
    return get;
}

void object_get_cancel(struct object_get *get)
{
    if (!get) return;
    timer_cancel(&get->delay);
    kube_get_cancel(get->call);
    buf_clear(&get->path);
    free(get);
}

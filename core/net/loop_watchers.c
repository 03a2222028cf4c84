/* Watchers that call back from a loop: wakers and prepares; see loop.h. */
#include <ev.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/loop.h"
#include "net/loop_internal.h"

struct waker {
    ev_async async;
    struct loop *loop;
    void (*fn)(void *ctx);
    void *ctx;
};

struct prepare {
    ev_prepare prepare; /* runs while a call is due */
    struct loop *loop;
    void (*fn)(void *ctx);
    void *ctx;
};

static void on_wake(struct ev_loop *ev, ev_async *async, int events)
{
    struct waker *waker = container_of(async, struct waker, async);
    loop_count_call(waker->loop);
    waker->fn(waker->ctx);
}

struct waker *waker_new(struct loop *loop, void (*fn)(void *ctx), void *ctx)
{
    struct waker *waker = NEW(struct waker);
    waker->loop = loop;
    waker->fn = fn;
    waker->ctx = ctx;
    ev_async_init(&waker->async, on_wake);
    ev_async_start(loop_ev(loop), &waker->async);
    return waker;
}

void waker_wake(struct waker *waker)
{
    ev_async_send(loop_ev(waker->loop), &waker->async);
    loop_note_sent(waker->loop);
}

void waker_free(struct waker *waker)
{
    if (!waker) return;
    ev_async_stop(loop_ev(waker->loop), &waker->async);
    free(waker);
}

static void on_prepare(struct ev_loop *ev, ev_prepare *watcher, int events)
{
    struct prepare *prepare = container_of(watcher, struct prepare, prepare);
    ev_prepare_stop(ev, watcher);
    loop_count_call(prepare->loop);
    prepare->fn(prepare->ctx);
}

struct prepare *prepare_new(struct loop *loop, void (*fn)(void *ctx), void *ctx)
{
    struct prepare *prepare = NEW(struct prepare);
    prepare->loop = loop;
    prepare->fn = fn;
    prepare->ctx = ctx;
    ev_prepare_init(&prepare->prepare, on_prepare);
    return prepare;
}

void prepare_call(struct prepare *prepare)
{
    ev_prepare_start(loop_ev(prepare->loop), &prepare->prepare);
}

void prepare_free(struct prepare *prepare)
{
    if (!prepare) return;
    ev_prepare_stop(loop_ev(prepare->loop), &prepare->prepare);
    free(prepare);
}

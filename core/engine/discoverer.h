/* Discovery as the engine thread sees it: fetches the server's catalogue on the I/O thread, repeatedly until
 * there is one, and later on request. Owner: the engine, on the engine thread. `found` may call
 * discoverer_refresh. */
#pragma once
#include "engine/bucket/bucket.h"
#include "engine/io_thread.h"
#include "kube/kinds/resource.h"

struct discoverer;

struct discoverer_options {
    struct loop *engine_loop;
    struct io_thread *io;
    struct object_bucket *bucket; /* has the catalogue instead of the server; NULL: the server has it */
    /* A catalogue came; borrowed for the call. Partial ones come before it while groups do not respond. */
    void (*found)(void *ctx, const struct catalogue *catalogue);
    /* A refresh failed; it will be retried. */
    void (*failed)(void *ctx, const struct err *err);
    void *ctx;
    const char *cluster; /* name, for the log; borrowed; NULL: the home cluster */
    bool is_quiet;       /* failures are not logged */
    bool is_one_shot;    /* `failed` ends it all: that something is retried is not logged */
};

struct discoverer *discoverer_new(const struct discoverer_options *options);
/* Refreshes after `delay_ms`, unless a refresh is in flight, or sooner. A failure is retried with
 * back-off, which nothing shortens. */
void discoverer_refresh(struct discoverer *discoverer, int64_t delay_ms);
/* There is another catalogue, or one at last: refreshes now. On the I/O thread. */
void discoverer_wake(struct discoverer *discoverer);
/* A refresh is in flight, or will be. */
bool discoverer_is_refreshing(const struct discoverer *discoverer);
/* Why the last refresh failed; "" when the last response was good, or none has come. */
const char *discoverer_error(const struct discoverer *discoverer);
/* Wall time at which the refresh in flight began; 0: none is. */
int64_t discoverer_refreshing_since_us(const struct discoverer *discoverer);
/* Appends why kinds are not known: that error, and for how long the refresh has lasted, or an exec
 * plugin been waited for. */
void discoverer_describe(const struct discoverer *discoverer, struct buf *out);
/* On the I/O thread while the engine thread waits, or after it was stopped: nothing it could still send is
 * waited for. */
void discoverer_free(struct discoverer *discoverer);

/* What an engine without an I/O thread is made of: a client, caches and reads, all on one loop. The engines
 * of tests and of a prompt have one in them, and what else they need. Owner: that engine; everything is on
 * its one thread. `changed` may not release claims. */
#pragma once
#include "informer/live/live_client.h"
#include "informer/shared/shared_factory.h"
#include "kube/api/client.h"

struct one_loop {
    struct loop *loop;
    struct pool *pool;
    struct kube_client *client;
    struct shared_factory *factory;
    struct live_client *live;
    void (*changed)(void *ctx, struct informer_claim *claim);
    void *ctx;
};

struct one_loop_options {
    struct loop *loop;                        /* borrowed */
    const struct kube_client_options *client; /* of a server, which may be one in this process (`local`) */
    void (*changed)(void *ctx, struct informer_claim *claim); /* of the factory */
    void *ctx;
};

/* False when the client cannot be had; one_loop_close is due all the same. */
bool one_loop_open(struct one_loop *parts, const struct one_loop_options *options, struct err *err);
/* A request, for whoever is handed `parts` as the ctx of its calls. */
struct object_call *one_loop_call(void *parts, const struct object_request *request,
                                  void (*done)(void *ctx, struct root *object, const struct err *err),
                                  void *done_ctx);
/* Reads and caches end, while what else sends requests is still there; then, without that, all the rest but
 * the loop. */
void one_loop_end(struct one_loop *parts);
void one_loop_close(struct one_loop *parts);

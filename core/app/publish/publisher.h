/* Publishes kinds of a cluster into a bucket: each kind by a reflector like those of informers, all of them
 * written by one thread, which first waits until no other publisher writes there. Owner: the command; on the
 * one thread of its loop. */
#pragma once
#include "engine/bucket/bucket_target.h"
#include "kube/api/client.h"
#include "kube/api/list_watch.h"
#include "kube/kinds/resource.h"

struct publisher;

struct publisher_options {
    struct loop *loop;
    struct kube_client *client;
    const struct bucket_module *module;
    const struct bucket_target *target; /* borrowed */
    const char *identity;               /* of this publisher: no other one has it; borrowed */
    int replicas;                       /* of a bucket that is made */
    struct clock *clock;                /* of ages, read on two threads; NULL: the real one */
    /* It cannot go on: another one has taken the lead. */
    void (*failed)(void *ctx, const struct err *err);
    void *ctx;
};

enum publisher_state {
    PUBLISHER_BEGINS, /* NATS did not answer yet */
    PUBLISHER_WAITS,  /* for another one */
    PUBLISHER_LEADS,
};

struct publisher_status {
    enum publisher_state state;
    size_t kinds, listed; /* listed: their first list is in the bucket */
    bool fails;           /* the last try to write did, as of `error` */
    char error[256];
};

struct publisher_totals {
    size_t kinds;
    uint64_t written, deleted, refused;
};

struct publisher *publisher_new(const struct publisher_options *options);
/* One kind more, before the start; nothing if it is published already. Namespace and selectors of the scope
 * count. */
void publisher_add(struct publisher *publisher, const struct resource *resource,
                   const struct lw_scope *scope);
size_t publisher_kind_count(const struct publisher *publisher);
/* The cluster's kinds, which it publishes too; at any time. */
void publisher_set_catalogue(struct publisher *publisher, const struct catalogue *catalogue);
void publisher_start(struct publisher *publisher);
/* On any thread. */
void publisher_get_status(struct publisher *publisher, struct publisher_status *status);
/* Writes what is known, for at most some seconds, and tells that it has ended. Frees it, and returns
 * true. False: NATS holds its thread up (net/module_thread.h), so that it stays, with the objects of the
 * pool. `totals` may be NULL. */
bool publisher_end(struct publisher *publisher, struct publisher_totals *totals);

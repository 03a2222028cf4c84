/* One request about one object: read, created, changed or deleted; the answer is packed.
 * Owner: the I/O thread. `done` comes on that thread, once, never from inside the start. */
#pragma once
#include "kube/api/client.h"
#include "kube/kinds/resource.h"
#include "object/pack/pool.h"

struct object_request {
    const char *method; /* NULL: GET */
    const struct resource *resource;
    struct str ns;            /* "" for a kind without namespaces */
    struct str name;          /* "": the collection, for a POST */
    struct str subresource;   /* "status"; may be empty */
    const char *query;        /* "dryRun=All&fieldManager=kubelua", escaped; NULL or "": none */
    const char *content_type; /* of the body */
    struct str body;          /* sent when `p` is not NULL */
    int64_t timeout_ms;       /* for the whole; 0: --request-timeout */
    bool urgent;              /* --kube-api-qps does not hold it back */
    bool once;                /* see kube_call.h, as the next two */
    bool own_connection;
    struct fence *fence;
    int *http_status; /* where that of a good answer goes, before `done`; NULL: nobody asks */
};

struct object_call;

/* All of `request` is copied but `http_status`, which is borrowed until `done`. `done` takes a reference to
 * the object that the server answered with, NULL when it answered with a Status of success ("deleted") or
 * `err` is set; see kube_call.h for errors and tries. What a write is answered may have no name. A name that
 * may not stand in a path is never sent (H-12).
 */
struct object_call *object_call_start(struct kube_client *client, const struct object_request *request,
                                      void (*done)(void *ctx, struct root *object, const struct err *err),
                                      void *ctx);
/* No callback comes after it. The server may have carried it out all the same. */
void object_call_cancel(struct object_call *call);

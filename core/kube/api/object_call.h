/* Request for one object: read, created, changed or deleted; the response is packed. Owner: the I/O thread.
 * `done` is called on that thread, once, never from inside the start. */
#pragma once
#include "kube/api/client.h"
#include "kube/api/object_request.h"
#include "object/pack/pool.h"

/* Outcome of a request. */
struct object_response {
    struct root *object; /* a reference that the receiver takes; NULL: a Status of success ("deleted"), or an
                          * error */
    int http_status;     /* 0: there was no response */
    struct str text;     /* of a text; borrowed for the call */
    bool is_json;        /* the text is, by its Content-Type */
    const struct err *err; /* NULL: success; borrowed for the call */
};
typedef void object_done(void *ctx, const struct object_response *response);

struct object_call;

/* Way to the server for callers without its client: object_call_start and object_call_cancel, or those of a
 * test. Called on the I/O thread. */
struct object_caller {
    struct object_call *(*start)(void *ctx, const struct object_request *request, object_done *done,
                                 void *done_ctx);
    void (*cancel)(struct object_call *call);
    void *ctx;
};

/* All of `request` is copied. See kube_call.h for errors and tries. The object in the response to a write may
 * have no name. A name that may not stand in a path is never sent (H-12).
 */
struct object_call *object_call_start(struct kube_client *client, const struct object_request *request,
                                      object_done *done, void *ctx);
/* Cancels the call; no callback follows. The server may have executed the request all the same. */
void object_call_cancel(struct object_call *call);

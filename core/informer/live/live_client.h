/* Requests past the cache: one object, a list page by page, or a watch, read from the server; and writes.
 * They are asked for on the engine thread and carried out on the I/O thread; answers come by mail, one for
 * each question, so that memory is bounded by what one question may bring. Owner: the engine, on the engine
 * thread, where all is called. `answered` may close any of them, and ask again. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/fence.h"
#include "kube/api/list_watch.h"
#include "kube/api/object_call.h"
#include "kube/kinds/resource.h"
#include "net/loop.h"

struct live_client;

struct live_options {
    struct loop *engine_loop, *io_loop;
    /* Both on the I/O thread: a source of lists and watches, and object_call_start with its client. */
    struct list_watch *(*new_source)(void *ctx, const struct resource *resource,
                                     const struct lw_scope *scope);
    struct object_call *(*call)(void *ctx, const struct object_request *request,
                                void (*done)(void *ctx, struct root *object, const struct err *err),
                                void *done_ctx);
    void (*cancel_call)(struct object_call *call);
    void *ctx;
    uint64_t seed;
    size_t page_size; /* of lists that say nothing; 0: the default */
};

struct live_client *live_new(const struct live_options *options);
/* Closes what is open, and waits until the I/O thread, whose loop must still run, has let go. The engine loop
 * does not run any more. */
void live_free(struct live_client *live);

enum live_verb { LIVE_GET, LIVE_LIST, LIVE_WATCH, LIVE_WRITE };

/* Limit of objects in one response: the views of so many take 16 MiB. */
enum { LIVE_OBJECTS_MAX = 1 << 18 };

/* Content of a write; see object_call.h. */
struct live_write {
    const char *method, *subresource, *query, *content_type; /* the last three may be NULL */
    struct str body;                                         /* sent when `p` is not NULL */
    int64_t timeout_ms;                                      /* 0: none */
    struct fence *fence;                                     /* only sent while it is open; NULL: none */
};

struct live_request {
    enum live_verb verb;
    const struct resource *resource;    /* all is copied */
    const char *name;                   /* of a get and a write; NULL or "": the collection, for a POST */
    struct live_write write;            /* of a write */
    struct lw_scope scope;              /* of a get and a write the namespace alone */
    const char *resource_version;       /* of a list "" and "0" too, of a watch a real one */
    const char *resource_version_match; /* of a list */
    size_t limit, page_size;            /* of a list; 0: all, and the default */
    bool whole_if_expired;              /* of a list: P-3 */
};

struct live_response {
    /* Taken by the receiver, the array too: one of a get, one or none of a write, a page, a stretch of
     * events.
     */
    struct root **objects;
    enum lw_event_type *types; /* of a watch: the receiver takes this array as well */
    size_t count;
    int http_status;              /* of a get and a write that went well */
    const char *resource_version; /* of a list; borrowed for the call */
    bool from_start;              /* of a list: what was answered before is void (P-3) */
    bool last;                    /* nothing more will come */
    const struct err *err;        /* with `last`: why, NULL for a good end; borrowed for the call */
};

struct live_read;

/* Begins, and asks for the first response. Beyond a hundred at once, watches apart, the others wait for their
 * turn. A watch whose version is none to begin with answers with an error. Fields of the question that its
 * verb has no use for may be NULL. */
struct live_read *live_start(struct live_client *live, const struct live_request *request,
                             void (*on_response)(void *ctx, const struct live_response *response), void *ctx);
/* Asks for the next answer: a page, or the events since the last one, as soon as there is one. Not before the
 * last one came, not after a `last`. */
void live_next(struct live_read *read);
/* No response comes after it, and the read is gone. Needed after a `last` too. At any moment: the server may
 * have carried out a write all the same. */
void live_close(struct live_read *read);
void live_response_clear(struct live_response *response);

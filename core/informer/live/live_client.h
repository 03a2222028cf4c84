/* Requests past the cache: one object, a list page by page, or a watch, read from the server; and writes.
 * They are asked for on the engine thread and carried out on the I/O thread; answers come by mail, one for
 * each request, so that memory is bounded by what one request may bring. Owner: the engine, on the engine
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
    /* On the I/O thread: a source of lists and watches. */
    struct list_watch *(*new_source)(void *ctx, const struct resource *resource,
                                     const struct lw_scope *scope);
    void *ctx;
    struct object_caller caller;
    uint64_t seed;
    size_t page_size; /* of lists that say nothing; 0: the default */
};

struct live_client *live_new(const struct live_options *options);
/* Closes what is open, and waits until the I/O thread, whose loop must still run, has let go. The engine loop
 * does not run any more. */
void live_free(struct live_client *live);

enum live_verb { LIVE_LIST, LIVE_WATCH };

/* Limit of objects in one response: the views of so many take 16 MiB. */
enum { LIVE_OBJECTS_MAX = 1 << 18 };

/* A list or a watch. */
struct live_request {
    enum live_verb verb;
    const struct resource *resource; /* all is copied */
    struct lw_scope scope;
    const char *resource_version;       /* of a list "" and "0" too, of a watch a real one */
    const char *resource_version_match; /* of a list */
    size_t limit, page_size;            /* of a list; 0: all, and the default */
    bool whole_if_expired;              /* of a list: P-3 */
};

struct live_response {
    /* Taken by the receiver, the array too: a page, a stretch of events. */
    struct root **objects;
    enum lw_event_type *types; /* of a watch: the receiver takes this array as well */
    size_t count;
    const char *resource_version; /* of a list; borrowed for the call */
    bool from_start;              /* of a list: what was answered before is void (P-3) */
    bool last;                    /* nothing more will come */
    const struct err *err;        /* with `last`: why, NULL for a good end; borrowed for the call */
};

struct live_read;

/* Begins, and asks for the first response. Beyond a hundred at once, watches apart, the others wait for their
 * turn. A watch whose version is none to begin with answers with an error. Fields of the request that its
 * verb has no use for may be NULL. */
struct live_read *live_start(struct live_client *live, const struct live_request *request,
                             void (*on_response)(void *ctx, const struct live_response *response), void *ctx);
/* Asks for the next answer: a page, or the events since the last one, as soon as there is one. Not before the
 * last one came, not after a `last`. */
void live_next(struct live_read *read);
/* No response comes after it, and the read is gone. Needed after a `last` too. At any moment: the server may
 * have carried out a write all the same. */
void live_close(struct live_read *read);
/* The same for one object, read or written: a single response, after which live_close is still needed.
 * `request` is copied. */
struct live_read *live_call(struct live_client *live, const struct object_request *request, object_done *done,
                            void *ctx);
void live_response_clear(struct live_response *response);

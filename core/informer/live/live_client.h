/* Requests that bypass the cache: one object, a list page by page, or a watch, read from the server; and
 * writes. They are started on the engine thread and executed on the I/O thread; responses return by mail, one
 * for each request, so that memory is bounded by what one request may return. Owner: the engine, on the
 * engine thread, where everything is called. `answered` may close any of them, and request the next response.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/fence.h"
#include "kube/api/list_watch.h"
#include "kube/api/object_call.h"
#include "kube/api/text_stream.h"
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
    struct text_caller texts;
    uint64_t seed;
    size_t page_size; /* of lists without one; 0: the default */
};

struct live_client *live_new(const struct live_options *options);
/* Closes all reads, and waits until the I/O thread, whose loop must still run, no longer uses them. The
 * engine loop must not run any more. */
void live_free(struct live_client *live);

enum live_verb { LIVE_LIST, LIVE_WATCH, LIVE_TEXT };

/* Limit of objects in one response: the views of so many take 16 MiB. */
enum { LIVE_OBJECTS_MAX = 1 << 18 };

/* A list, a watch, or a text that grows. */
struct live_request {
    enum live_verb verb;
    const struct resource *resource; /* all members are copied; NULL: of a text */
    const char *path;                /* of a text: with its query, escaped */
    struct lw_scope scope;
    const char *resource_version;       /* of a watch a real one; of a list also "" and "0" */
    const char *resource_version_match; /* of a list */
    size_t limit, page_size;            /* of a list; 0: all, and the default */
    bool whole_if_expired;              /* of a list: P-3 */
};

struct live_response {
    /* Taken by the receiver, with the array: a page of a list, or several events of a watch. */
    struct root **objects;
    enum lw_event_type *types; /* of a watch: the receiver takes this array as well */
    size_t count;
    struct buf text;              /* what came of a text; taken by the receiver */
    const char *resource_version; /* of a list; borrowed for the call */
    bool from_start;              /* of a list: earlier responses are void (P-3) */
    bool last;                    /* no response follows */
    const struct err *err;        /* with `last`: the error, NULL if it succeeded; borrowed for the call */
};

struct live_read;

/* Begins, and requests the first response. Beyond a hundred at once, watches excluded, requests are queued. A
 * watch that cannot begin at its version responds with an error. */
struct live_read *live_start(struct live_client *live, const struct live_request *request,
                             void (*on_response)(void *ctx, const struct live_response *response), void *ctx);
/* Requests the next response: a page, or the events or the text since the last one, as soon as there are any.
 * Call after a response that is not the `last`. */
void live_next(struct live_read *read);
/* Closes the read; no response follows. Needed after a `last` too. At any time: the server may have executed
 * a write all the same. */
void live_close(struct live_read *read);
/* The same for one object, read or written: a single response, after which live_close is still needed.
 * `request` is copied. */
struct live_read *live_call(struct live_client *live, const struct object_request *request, object_done *done,
                            void *ctx);
void live_response_clear(struct live_response *response);

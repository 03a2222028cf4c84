/* Source of a reflector's objects: lists and watches of one resource (client-go's ListerWatcher).
 * list_watch_new creates the real one; tests pass scripted ones. Owner: one thread. Sink callbacks run on
 * that thread, never from inside lw_start, in the order of the stream; they may cancel the call, and none
 * follows lw_cancel. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "object/pack/pool.h"

enum lw_verb { LW_LIST, LW_WATCH };

struct lw_options {
    enum lw_verb verb;
    const char *resource_version;       /* "": not sent */
    const char *resource_version_match; /* "", "Exact", "NotOlderThan" */
    int limit;                          /* 0: not sent */
    const char *continue_token;         /* "": not sent; with it only limit is sent (P-2) */
    bool allow_watch_bookmarks, send_initial_events;
    int timeout_seconds;        /* 0: not sent */
    const char *shard_selector; /* set by the source; NULL or "": not sent */
    bool own_connection; /* not shared: for a watch that may be paused, or if the shared one may be dead */
};

enum lw_event_type { LW_ADDED, LW_MODIFIED, LW_DELETED };

struct lw_bookmark {
    struct str resource_version;
    bool initial_events_end; /* annotation k8s.io/initial-events-end is exactly "true" */
};

struct lw_list_meta {
    struct str resource_version, continue_token;
    int64_t remaining; /* -1 if the server sent none */
    bool selected;     /* the server says that it observed the shardSelector */
    bool unordered;    /* events of older versions than the list's may still come, and count */
};

/* Refused object, and the reason. Everything borrowed. */
struct lw_refusal {
    const struct err *err; /* names the object as far as it can be known */
    struct str ns, name;   /* its key, as far as it can be known */
    bool keyless;          /* it has no name, so it cannot be in a cache */
    bool deleted;          /* it came with a DELETED event: the server no longer has it */
};

struct lw_sink {
    /* Receives an item of a list; takes the reference. `resource_version` of the list may not be known yet.
     */
    void (*item)(void *ctx, struct root *object);
    /* Called after all items of a page. */
    void (*list_end)(void *ctx, const struct lw_list_meta *meta);
    /* Receives a watch event; takes the reference. `received_us` is the wall time at which its bytes arrived.
     */
    void (*event)(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us);
    void (*bookmark)(void *ctx, const struct lw_bookmark *bookmark);
    /* Receives a refused object: too large, malformed, no metadata. The stream continues; its version is not
     * used. */
    void (*refused)(void *ctx, const struct lw_refusal *refusal);
    /* Once, last: NULL for a clean end (of a watch: also EOF between events, H-10). An ERROR event, an
     * unknown event type or a line that is no JSON is an error here (H-10); ERR_PARSE is client-go's decode
     * error. Of a watch, ERR_CLOSED (reset, lost, EOF inside an event) and ERR_TIMEOUT (the server did not
     * end it 30 s after timeoutSeconds, F-14) are H-10's quiet closes: worth a log line, otherwise as a clean
     * end. */
    void (*done)(void *ctx, const struct err *err);
    /* Called after a successful head of the response: a later error is one of the stream. Optional. */
    void (*opened)(void *ctx);
    /* Tells that an item or an event was skipped, as `admits` of the scope or of its shard does not want it.
     * Optional. */
    void (*skipped)(void *ctx);
};

struct lw_call;

struct list_watch {
    const struct list_watch_ops *ops;
};

struct list_watch_ops {
    struct lw_call *(*start)(struct list_watch *source, const struct lw_options *options,
                             const struct lw_sink *sink, void *ctx);
    void (*cancel)(struct lw_call *call);
    void (*free)(struct list_watch *source);
    /* Stops and resumes reading from the network; what is being parsed still comes. Only for calls with a
     * connection of their own. */
    void (*pause)(struct lw_call *call, bool paused);
    /* Has `fn` called, until the source is freed, whenever a server that was unreachable responds again. Once
     * for a source; optional. */
    void (*on_reachable)(struct list_watch *source, void (*fn)(void *ctx), void *ctx);
    /* Notes for the log and the status that a list is sent again after this time, as the server throttles it;
     * a negative one: the wait is over. Optional. */
    void (*throttled)(struct list_watch *source, int64_t wait_ms);
};

static inline struct lw_call *lw_start(struct list_watch *source, const struct lw_options *options,
                                       const struct lw_sink *sink, void *ctx)
{
    return source->ops->start(source, options, sink, ctx);
}

/* A part of the objects, by ranges of a hash of theirs. */
struct lw_shard {
    bool by_namespace; /* the hash of their namespace; else that of their uid */
    /* Returns whether objects with this uid, or of this namespace, are wanted; others are mostly skipped
     * before they are packed, whatever the server says. */
    bool (*admits)(void *ctx, struct str hashed);
    /* Appends the shardSelector of the next request; nothing: there is none. */
    void (*selector)(void *ctx, struct buf *out);
    void *ctx;
};

struct kube_client;
struct packer;
struct resource;

struct projection;

struct lw_scope {
    const char *namespace_; /* "": all */
    const char
        *namespace_selector;    /* for names: that of the namespaces which `admits` knows; NULL or "": all */
    const char *label_selector; /* "": everything */
    const char *field_selector; /* "" */
    struct projection *projection; /* fields to keep of each object; NULL: everything */
    bool metadata_only;            /* requests metadata alone (F-9) */
    struct packer *packer;         /* borrowed: by it objects are packed; NULL: by the client's */
    /* Returns whether objects of that namespace are wanted; others are mostly skipped before they are packed.
     * NULL: all are. */
    bool (*admits)(void *ctx, struct str ns);
    void *admits_ctx;
    const struct lw_shard *shard; /* borrowed for the life of the source; NULL: all objects */
};

/* Lists and watches `resource` through `client`, which outlives it. Everything else is copied. With
 * `metadata_only` objects have the kind of the resource, and a server that refuses to send metadata alone
 * (406) is asked for whole objects: the projection has to drop the rest. */
struct list_watch *list_watch_new(struct kube_client *client, const struct resource *resource,
                                  const struct lw_scope *scope);

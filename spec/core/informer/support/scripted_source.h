/* A list/watch source that the spec plays by hand: it keeps what was asked, and says what it is told to say.
 * Owner: the reflector frees the `list_watch`; the struct itself belongs to the spec and outlives it. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "kube/api/list_watch.h"

struct scripted_source {
    struct list_watch base;
    struct lw_call *call; /* the one that runs, or NULL */
    size_t started;       /* calls in all */
    struct buf request;   /* the last one: "list limit=500 rv=0", "watch bookmarks rv=7" */
    int timeout_seconds;  /* of the last one */
    size_t cancelled;
    bool paused;       /* the one that runs */
    int64_t remaining; /* of a list, as its pages say; 0: they do not */
    bool freed;
};

struct list_watch *scripted_source_init(struct scripted_source *source);
void scripted_source_clear(struct scripted_source *source);

/* The request since the last time, or "" when there was none; borrowed until the next call. */
const char *source_asked(struct scripted_source *source);
/* The answer's head is good. */
void source_open(struct scripted_source *source);
/* Items of a list, as objects.h writes them. */
void source_items(struct scripted_source *source, const char *objects);
/* The end of a page and of its call. `token` is "" on the last one. */
void source_page(struct scripted_source *source, const char *objects, const char *version, const char *token);
/* A whole list in one page. */
void source_list(struct scripted_source *source, const char *objects, const char *version);
void source_event(struct scripted_source *source, enum lw_event_type type, const char *object);
/* The end of the initial events of a watch-list. */
void source_end_mark(struct scripted_source *source, const char *version);
void source_bookmark(struct scripted_source *source, const char *version);
void source_refuse(struct scripted_source *source, const char *text);
/* The same of an object whose key is known; `name` NULL: it has one, but nobody can tell which. */
void source_refuse_key(struct scripted_source *source, const char *name, bool deleted);
/* The end of the call: clean, or with an error. */
void source_end(struct scripted_source *source);
void source_fail(struct scripted_source *source, enum err_code code);
void source_fail_http(struct scripted_source *source, int status, const char *reason);
/* Nobody listens where the server should be. */
void source_fail_refused(struct scripted_source *source);
/* The server says when to come again; -1: it does not. */
void source_fail_busy(struct scripted_source *source, int status, int64_t wait_ms);
/* So says the Status, no Retry-After. */
void source_fail_busy_in_body(struct scripted_source *source, int status, int64_t wait_ms);
/* The version that was asked for is still to come (504, Retry-After: 1). */
void source_fail_too_large(struct scripted_source *source);
void source_fail_with(struct scripted_source *source, const struct err *err);

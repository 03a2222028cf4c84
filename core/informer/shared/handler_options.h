/* Options of a handler, which choose what it is notified of, beside its functions. Owner: counted references,
 * on the engine thread; a registration holds one, so that the options may be given up from inside any call.
 * Set up before they are first used, immutable from then on. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "informer/store/filter.h"

enum {
    RESYNC_NEVER = 0,
    RESYNC_MIN_MS = 1000, /* I-15: what is shorter is raised to it */
};

struct handler_options {
    int refs;
    struct filter *filter; /* owned; NULL: everything passes */
    struct path **changed; /* owned; updates that change none of them are not delivered; none: all are */
    size_t changed_count;
    int64_t resync_ms;    /* RESYNC_NEVER, or the period (I-15, I-16) */
    bool unchanged;       /* also updates to the same version, as after a relist (I-14, B-4) */
    bool split_recreated; /* a new uid is a delete and an add */
    /* Used by the caller of the functions, not by informers: */
    bool initial_changed; /* initially only what changed since an earlier run stored the cache */
    unsigned concurrency; /* most calls in flight at a time, for different keys */
    int64_t debounce_ms;  /* time without changes before an object's changes are delivered; 0: none */
};

/* Creates options with one reference, for the caller. */
struct handler_options *handler_options_new(void);
struct handler_options *handler_options_ref(struct handler_options *options);
/* NULL is allowed. */
void handler_options_unref(struct handler_options *options);

/* Returns the filter; creates it if missing. */
struct filter *handler_options_filter(struct handler_options *options);
bool handler_options_add_changed(struct handler_options *options, struct str path, struct err *err);
/* Sets the period; raises one below a second (I-15). */
void handler_options_set_resync(struct handler_options *options, int64_t period_ms);

/* Returns whether an update changes any of the paths that the handler named; true if it named none. */
bool handler_options_cares(const struct handler_options *options, const struct root *before,
                           const struct root *after);

/* Keeps a DeltaFIFO up to date with the server: list in pages, then watch, resume, back off, list again
 * (contract R, P and its decision table). A state machine without a thread of its own. Owner: the I/O thread.
 * The status may be read from any thread. Delays come from the clock it was given, so that tests run it on a
 * virtual one. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "informer/delta_fifo.h"
#include "kube/list_watch.h"

enum reflector_state {
    REFLECTOR_IDLE, /* made, not started; or stopped */
    REFLECTOR_LISTING,
    REFLECTOR_WATCHING, /* the watch is open, or being opened */
    REFLECTOR_BACKING_OFF,
};

struct reflector_status {
    enum reflector_state state;
    bool listed_once;          /* the first list is in the queue */
    int64_t since_us;          /* wall time of the last change of state */
    int64_t heard_us;          /* wall time of the last list, event or bookmark; 0 before the first */
    char resource_version[64]; /* last seen; "" before the first */
    struct err last_error;     /* ERR_NONE while all is well; cleared by a list or an event */
    uint64_t lists, watches, events, refused;
};

struct reflector_options {
    const char *name;          /* for logs: "pods", "deployments.apps in shop" */
    struct list_watch *source; /* taken */
    struct delta_fifo *fifo;   /* borrowed */
    struct clock *clock;       /* borrowed */
    uint64_t seed;             /* of the jitter */
    int page_size;             /* of every list; 0: what R-9 says */
    /* Every change of status, on the I/O thread; optional. */
    void (*changed)(void *ctx);
    void *ctx;
};

struct reflector;

struct reflector *reflector_new(const struct reflector_options *options);
void reflector_start(struct reflector *reflector);
/* Cancels what runs. The queue gets nothing more. */
void reflector_free(struct reflector *reflector);
void reflector_get_status(struct reflector *reflector, struct reflector_status *out);

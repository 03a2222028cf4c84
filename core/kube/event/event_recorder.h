/* Sends what scripts tell of objects to the server, as Events (client-go's EventRecorder): never waited for,
 * one after the other, correlated and limited (EV-1, EV-2). What cannot be sent is counted and told to nobody
 * else. Owner: the engine. Events are put from the engine thread, all else happens on the I/O thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/api/object_call.h"
#include "kube/event/event.h"
#include "net/loop.h"

struct event_recorder;

/* Events that wait for their turn; more are dropped (EV-1). */
enum { EVENT_QUEUE_MAX = 1000 };

struct event_recorder_options {
    struct loop *io_loop;
    struct clock *clock; /* of the I/O thread; NULL: the loop's */
    struct object_caller caller;
    const char *instance; /* which engine it is: the name of its pod or host; copied */
    uint64_t seed;
};

struct event_recorder *event_recorder_new(const struct event_recorder_options *options);
/* Takes the event; false when it was dropped, as too many wait. Never waits. */
bool event_recorder_put(struct event_recorder *recorder, struct kube_event *event);
/* Waits until what was put is sent, `patience_ms` at most and not for a server that does not answer, and
 * frees it. The I/O loop still runs, unless nothing was ever put. */
void event_recorder_free(struct event_recorder *recorder, int64_t timeout_ms);

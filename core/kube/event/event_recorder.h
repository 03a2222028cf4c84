/* Sends events of scripts to the server (client-go's EventRecorder): one after the other, correlated and
 * limited (EV-1, EV-2); no caller waits for them. Events that cannot be sent are counted, and reported
 * nowhere else. Owner: the engine. Events are put from the engine thread, all else happens on the I/O thread.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/api/object_call.h"
#include "kube/event/event.h"
#include "net/loop.h"

struct event_recorder;

/* Limit of queued events; more are dropped (EV-1). */
enum { EVENT_QUEUE_MAX = 1000 };

struct event_recorder_options {
    struct loop *io_loop;
    struct clock *clock; /* of the I/O thread; NULL: the loop's */
    struct object_caller caller;
    const char *instance; /* identity of the engine: the name of its pod or host; copied */
    uint64_t seed;
};

struct event_recorder *event_recorder_new(const struct event_recorder_options *options);
/* Takes the event. Returns false if it was dropped, as the queue is full. Never waits. */
bool event_recorder_put(struct event_recorder *recorder, struct kube_event *event);
/* Waits until queued events are sent, `timeout_ms` at most and not for a server that does not respond, and
 * frees the recorder. The I/O loop must still run, unless no event was ever put. */
void event_recorder_free(struct event_recorder *recorder, int64_t timeout_ms);

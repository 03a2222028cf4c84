/* Event of a script about an object, before it becomes an Event of the core group, or another count of an
 * existing one. Owner: the current holder, which frees it; it passes from thread to thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "net/mailbox.h"

/* Limits of events.k8s.io; longer texts are cut at the end of a character. */
enum { EVENT_MESSAGE_MAX = 1024, EVENT_REASON_MAX = 128 };

struct event_correlation;
struct event_recorder;

/* The regarding object; unknown members are "". */
struct event_object {
    char *api_version, *kind, *ns, *name, *uid, *resource_version;
};

struct kube_event {
    struct event_object about;
    char *component; /* reporter: "kubelua/bandwidth" */
    char *instance;  /* instance of the reporter: the pod's or the host's name; set by the recorder */
    char *type;      /* "Normal" or "Warning" */
    char *reason;
    char *message;
    int64_t time_us; /* since the epoch */
    bool is_tried;   /* sent with dryRun=All: nothing is stored */
    /* Set by the recorder. */
    struct event_recorder *recorder;
    struct mail mail;
    STAILQ_ENTRY(kube_event) link;
};

struct event_recorder;

/* Copies the message. The caller sets all other members to copies, which the event takes. */
struct kube_event *event_new(struct str message);
void event_free(struct kube_event *event);
/* Returns the namespace of the Event: the object's, "default" for one without a namespace (EV-3). */
const char *event_namespace(const struct kube_event *event);
/* Appends the name of the Event, "web-1.18a3f0c2b4d5e6f7": the object and the nanoseconds since the epoch
 * (EV-3). An object whose name is not valid for an Event is replaced by a hash. */
void event_name(const struct kube_event *event, int64_t time_ns, struct buf *out);
/* Appends the Event as JSON. */
void event_body(const struct kube_event *event, const struct event_correlation *plan, struct buf *out);
/* Appends the changes of an existing Event as a merge patch. */
void event_patch(const struct kube_event *event, const struct event_correlation *plan, struct buf *out);

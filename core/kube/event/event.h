/* Event of a script about an object, on its way to becoming an Event of the core group, or another count of
 * an existing one. Owner: the current holder, who frees it; it is handed from thread to thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "net/mailbox.h"

/* Longer ones are cut, at the end of a character: what events.k8s.io takes. */
enum { EVENT_MESSAGE_MAX = 1024, EVENT_REASON_MAX = 128 };

struct event_correlation;
struct event_recorder;

/* The object that it is about; "" for what is not known. */
struct event_object {
    char *api_version, *kind, *ns, *name, *uid, *resource_version;
};

struct kube_event {
    struct event_object about;
    char *component; /* who says so: "kubelua/bandwidth" */
    char *instance;  /* which of them: the pod's or the host's name; the recorder sets it */
    char *type;      /* "Normal" or "Warning" */
    char *reason;
    char *message;
    int64_t time_us; /* since the epoch */
    bool is_tried;   /* sent with dryRun=All: nothing is stored */
    /* The recorder's. */
    struct event_recorder *recorder;
    struct mail mail;
    STAILQ_ENTRY(kube_event) link;
};

struct event_recorder;

/* Copies the message; all else is to be set by the caller, by copies that the event takes. */
struct kube_event *event_new(struct str message);
void event_free(struct kube_event *event);
/* EV-3: the object's, "default" for one without a namespace. */
const char *event_namespace(const struct kube_event *event);
/* EV-3: "web-1.18a3f0c2b4d5e6f7", the object and the nanoseconds since the epoch. An object whose name may be
 * none of an Event gets a hash in its place. */
void event_name(const struct kube_event *event, int64_t time_ns, struct buf *out);
/* The Event as JSON. */
void event_body(const struct kube_event *event, const struct event_correlation *plan, struct buf *out);
/* Appends the changes of an existing Event as a merge patch. */
void event_patch(const struct kube_event *event, const struct event_correlation *plan, struct buf *out);

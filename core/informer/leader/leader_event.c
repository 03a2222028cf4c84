/* Events of elections (L-10); see leader_event.h. */
#include "informer/leader/leader_event.h"

#include "base/mem.h"
#include "kube/event/event.h"
#include "kube/event/event_correlator.h"

static struct event *new_event(const char *ns, const char *name, struct str message, int64_t wall_us)
{
    struct event *event = event_new(message);
    event->about = (struct event_object){.api_version = xstrdup("coordination.k8s.io/v1"),
                                         .kind = xstrdup("Lease"),
                                         .ns = xstrdup(ns),
                                         .name = xstrdup(name),
                                         .uid = xstrdup(""),
                                         .resource_version = xstrdup("")};
    event->component = xstrdup("kubelua");
    event->instance = xstrdup("");
    event->type = xstrdup("Normal");
    event->reason = xstrdup("LeaderElection");
    event->time_us = wall_us;
    return event;
}

void leader_event_write(const char *ns, const char *name, const char *identity, const char *what,
                        int64_t wall_us, struct buf *out)
{
    struct buf message = {0}, id = {0};
    buf_printf(&message, "%s %s", identity, what);
    struct event *event = new_event(ns, name, buf_slice(&message), wall_us);
    event_name(event, wall_us * 1000, &id);
    struct event_plan plan = {.name = buf_take(&id), .count = 1, .first_us = wall_us};
    event_body(event, &plan, out);
    event_plan_clear(&plan);
    event_free(event);
    buf_clear(&message);
}

/* Names (EV-3) and JSON of Events; see event.h. */
#include "kube/event/event.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "kube/event/event_correlator.h"

enum { NAME_MAX_LEN = 253 };

/* Returns the length of the text cut to `max` bytes, at the end of a character. */
static size_t cut(struct str text, size_t max)
{
    size_t at = 0;
    if (text.n <= max) return text.n;
    while (at < max) {
        size_t len = str_utf8((struct str){text.p + at, text.n - at});
        if (!len) len = 1; /* an invalid byte, which becomes U+FFFD */
        if (at + len > max) break;
        at += len;
    }
    return at;
}

struct kube_event *event_new(struct str message)
{
    struct kube_event *event = NEW(struct kube_event);
    event->message = xstrndup(message.p, cut(message, EVENT_MESSAGE_MAX));
    return event;
}

void event_free(struct kube_event *event)
{
    if (!event) return;
    free(event->about.api_version);
    free(event->about.kind);
    free(event->about.ns);
    free(event->about.name);
    free(event->about.uid);
    free(event->about.resource_version);
    free(event->component);
    free(event->instance);
    free(event->type);
    free(event->reason);
    free(event->message);
    free(event);
}

const char *event_namespace(const struct kube_event *event)
{
    return *event->about.ns ? event->about.ns : "default";
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Returns whether the name is a DNS subdomain (RFC 1123), as the server requires for names of Events. */
static bool is_subdomain(struct str name)
{
    struct str label;
    while (str_cut(&name, '.', &label)) {
        if (!label.n || !is_alnum(label.p[0]) || !is_alnum(label.p[label.n - 1])) return false;
        for (size_t i = 0; i < label.n; i++)
            if (!is_alnum(label.p[i]) && label.p[i] != '-') return false;
    }
    return true;
}

void event_name(const struct kube_event *event, int64_t time_ns, struct buf *out)
{
    struct str object = str_of(event->about.name);
    size_t begin = out->len;
    buf_str(out, object);
    buf_printf(out, ".%" PRIx64, (uint64_t)time_ns);
    if (object.n && is_subdomain(object) && out->len - begin <= NAME_MAX_LEN) return;
    out->len = begin;
    buf_printf(out, "event-%016" PRIx64 ".%" PRIx64, hash_str(object), (uint64_t)time_ns);
}

static void put_message(struct buf *out, const struct kube_event *event, const struct event_correlation *plan)
{
    struct buf text = {0};
    buf_printf(&text, "%s%s", plan->is_combined ? EVENT_COMBINED_PREFIX : "", event->message);
    json_str(out, "message", (struct str){text.data, cut(buf_slice(&text), EVENT_MESSAGE_MAX)});
    buf_clear(&text);
}

void event_body(const struct kube_event *event, const struct event_correlation *plan, struct buf *out)
{
    const struct event_object *about = &event->about;
    json_open(out, NULL, '{');
    json_text(out, "apiVersion", "v1");
    json_text(out, "kind", "Event");
    json_open(out, "metadata", '{');
    json_text(out, "name", plan->name);
    json_text(out, "namespace", event_namespace(event));
    json_close(out, '}');
    json_open(out, "involvedObject", '{');
    json_str_unless_empty(out, "apiVersion", str_of(about->api_version));
    json_str_unless_empty(out, "kind", str_of(about->kind));
    json_str_unless_empty(out, "namespace", str_of(about->ns));
    json_str_unless_empty(out, "name", str_of(about->name));
    json_str_unless_empty(out, "uid", str_of(about->uid));
    json_str_unless_empty(out, "resourceVersion", str_of(about->resource_version));
    json_close(out, '}');
    json_text(out, "type", event->type);
    json_text(out, "reason", event->reason);
    put_message(out, event, plan);
    json_open(out, "source", '{');
    json_text(out, "component", event->component);
    json_close(out, '}');
    json_text(out, "reportingComponent", event->component);
    json_text(out, "reportingInstance", event->instance);
    json_time(out, "firstTimestamp", plan->first_us);
    json_time(out, "lastTimestamp", event->time_us);
    json_int(out, "count", plan->count);
    json_close(out, '}');
}

void event_patch(const struct kube_event *event, const struct event_correlation *plan, struct buf *out)
{
    json_open(out, NULL, '{');
    json_int(out, "count", plan->count);
    json_time(out, "lastTimestamp", event->time_us);
    put_message(out, event, plan);
    json_close(out, '}');
}

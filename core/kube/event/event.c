/* Names (EV-3) and JSON of Events; see event.h. */
#include "kube/event/event.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/hash.h"
#include "base/mem.h"
#include "kube/event/event_correlator.h"

enum { NAME_MAX_LEN = 253 };

/* Whole characters only. */
static size_t cut(struct str text, size_t max)
{
    size_t at = 0;
    if (text.n <= max) return text.n;
    while (at < max) {
        size_t len = str_utf8((struct str){text.p + at, text.n - at});
        if (!len) len = 1; /* becomes U+FFFD */
        if (at + len > max) break;
        at += len;
    }
    return at;
}

struct event *event_new(struct str message)
{
    struct event *event = NEW(struct event);
    event->message = xstrndup(message.p, cut(message, EVENT_MESSAGE_MAX));
    return event;
}

void event_free(struct event *event)
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

const char *event_namespace(const struct event *event)
{
    return *event->about.ns ? event->about.ns : "default";
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* A DNS subdomain, as RFC 1123 has it: what the server takes for the name of an Event. */
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

void event_name(const struct event *event, int64_t time_ns, struct buf *out)
{
    struct str object = str_of(event->about.name);
    size_t begin = out->len;
    buf_str(out, object);
    buf_printf(out, ".%" PRIx64, (uint64_t)time_ns);
    if (object.n && is_subdomain(object) && out->len - begin <= NAME_MAX_LEN) return;
    out->len = begin;
    buf_printf(out, "event-%016" PRIx64 ".%" PRIx64, hash_str(object), (uint64_t)time_ns);
}

static void put_text(struct buf *out, const char *before, const char *text)
{
    buf_puts(out, before);
    buf_json_string(out, str_of(text));
}

static void put_time(struct buf *out, const char *before, int64_t time_us)
{
    struct tm tm;
    char text[32];
    time_t seconds = (time_t)(time_us / 1000000);
    gmtime_r(&seconds, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    put_text(out, before, text);
}

static void put_field(struct buf *out, const char *name, const char *text)
{
    if (!*text) return;
    if (out->data[out->len - 1] != '{') buf_putc(out, ',');
    buf_json_string(out, str_of(name));
    buf_putc(out, ':');
    buf_json_string(out, str_of(text));
}

static void put_message(struct buf *out, const struct event *event, const struct event_correlation *plan)
{
    struct buf text = {0};
    buf_printf(&text, "%s%s", plan->is_combined ? EVENT_COMBINED_PREFIX : "", event->message);
    buf_puts(out, ",\"message\":");
    buf_json_string(out, (struct str){text.data, cut(buf_slice(&text), EVENT_MESSAGE_MAX)});
    buf_clear(&text);
}

void event_body(const struct event *event, const struct event_correlation *plan, struct buf *out)
{
    const struct event_object *about = &event->about;
    put_text(out, "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":", plan->name);
    put_text(out, ",\"namespace\":", event_namespace(event));
    buf_puts(out, "},\"involvedObject\":{");
    put_field(out, "apiVersion", about->api_version);
    put_field(out, "kind", about->kind);
    put_field(out, "namespace", about->ns);
    put_field(out, "name", about->name);
    put_field(out, "uid", about->uid);
    put_field(out, "resourceVersion", about->resource_version);
    put_text(out, "},\"type\":", event->type);
    put_text(out, ",\"reason\":", event->reason);
    put_message(out, event, plan);
    put_text(out, ",\"source\":{\"component\":", event->component);
    put_text(out, "},\"reportingComponent\":", event->component);
    put_text(out, ",\"reportingInstance\":", event->instance);
    put_time(out, ",\"firstTimestamp\":", plan->first_us);
    put_time(out, ",\"lastTimestamp\":", event->time_us);
    buf_printf(out, ",\"count\":%u}", plan->count);
}

void event_patch(const struct event *event, const struct event_correlation *plan, struct buf *out)
{
    buf_printf(out, "{\"count\":%u", plan->count);
    put_time(out, ",\"lastTimestamp\":", event->time_us);
    put_message(out, event, plan);
    buf_putc(out, '}');
}

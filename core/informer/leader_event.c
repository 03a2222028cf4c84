/* Events of elections (L-10); see leader_event.h. */
#include "informer/leader_event.h"

#include <inttypes.h>
#include <time.h>

static void put(struct buf *out, const char *before, const char *text)
{
    buf_puts(out, before);
    buf_json_string(out, str_of(text));
}

void leader_event_write(const char *ns, const char *name, const char *identity, const char *what,
                        int64_t wall_us, struct buf *out)
{
    struct buf text = {0};
    struct tm tm;
    char when[32];
    time_t seconds = (time_t)(wall_us / 1000000);
    gmtime_r(&seconds, &tm);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &tm);
    buf_printf(&text, "%s.%" PRIx64, name, (uint64_t)wall_us * 1000); /* EV-3: unix nanoseconds */
    put(out, "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"namespace\":", ns);
    put(out, ",\"name\":", buf_text(&text));
    put(out,
        "},\"involvedObject\":{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"namespace\":",
        ns);
    put(out, ",\"name\":", name);
    text.len = 0;
    buf_printf(&text, "%s %s", identity, what);
    put(out, "},\"type\":\"Normal\",\"reason\":\"LeaderElection\",\"message\":", buf_text(&text));
    put(out, ",\"source\":{\"component\":\"kubelua\"},\"count\":1,\"firstTimestamp\":", when);
    put(out, ",\"lastTimestamp\":", when);
    buf_putc(out, '}');
    buf_clear(&text);
}

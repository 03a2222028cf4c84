/* /metrics; see metrics_page.h. */
#include "app/monitor/metrics_page.h"

#include <inttypes.h>
#include <string.h>

#include "app/monitor/process_info.h"
#include "base/metrics.h"
#include "base/series/series.h"
#include "base/series/user_metric.h"

static void put_counters(struct buf *out)
{
    for (enum metric m = 0; m < METRIC_COUNT; m++) {
        exposition_head(out, metric_name(m), "counter", metric_help(m));
        buf_printf(out, "%s %" PRIu64 "\n", metric_name(m), metric_get(m));
    }
}

static void put(struct buf *out, const char *name, const char *type, double value, const char *help)
{
    exposition_head(out, name, type, help);
    buf_printf(out, "%s ", name);
    exposition_number(out, value);
    buf_putc(out, '\n');
}

/* The names and the meaning are those of every Prometheus client library. */
static void put_process(struct buf *out)
{
    struct process_info info;
    process_info_read(&info);
    put(out, "process_cpu_seconds_total", "counter", info.cpu_seconds,
        "Total user and system CPU time spent in seconds.");
    put(out, "process_max_fds", "gauge", info.max_fds, "Maximum number of open file descriptors.");
    put(out, "process_open_fds", "gauge", info.open_fds, "Number of open file descriptors.");
    put(out, "process_resident_memory_bytes", "gauge", info.resident_bytes, "Resident memory size in bytes.");
    put(out, "process_start_time_seconds", "gauge", info.start_time_seconds,
        "Start time of the process since unix epoch in seconds.");
    put(out, "process_virtual_memory_bytes", "gauge", info.virtual_bytes, "Virtual memory size in bytes.");
}

static void put_build(struct buf *out)
{
    exposition_head(out, "kubelua_build_info", "gauge", "The version of kubelua; always 1.");
    buf_puts(out, "kubelua_build_info{version=\"" KUBELUA_VERSION "\"} 1\n");
}

void metrics_page_serve(void *ctx, const struct web_request *request, struct web_answer *answer)
{
    if (strcmp(request->path, "/metrics") != 0) return;
    answer->status = 200;
    answer->content_type = "text/plain; version=0.0.4; charset=utf-8";
    put_build(&answer->body);
    put_counters(&answer->body);
    series_render(&answer->body);
    user_metrics_render(NULL, &answer->body);
    put_process(&answer->body);
}

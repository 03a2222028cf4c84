/* Servers and periodic checks; see monitor.h. */
#include "app/monitor/monitor.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "app/monitor/metrics_auth.h"
#include "app/monitor/process_info.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/series/series.h"
#include "base/series/user_metric.h"
#include "net/bind_address.h"
#include "object/value/dict.h"

/* Bounds of one call on the engine thread, which all others wait for: after BUSY_MS a warning is logged,
 * after STUCK_MS the liveness probe fails. */
enum { TICK_MS = 1000, BUSY_MS = 5000, STUCK_MS = 60000 };

struct monitor {
    struct monitor_options options;
    struct health *health;
    struct web_server *metrics_server, *health_server;
    struct metrics_auth *auth; /* NULL: everybody may scrape */
    struct monitor_addresses addresses;
    struct timer engine_tick, io_tick, touched;
    _Atomic bool logged_busy; /* a blocked engine thread was logged */
};

static void on_engine_tick(struct timer *timer)
{
    struct monitor *m = container_of(timer, struct monitor, engine_tick);
    /* Before the beat, which resets the silence. */
    if (atomic_exchange(&m->logged_busy, false))
        log_info("Engine thread recovered", FI("afterMs", health_silence_ms(m->health, HEALTH_ENGINE_LOOP)));
    health_beat(m->health, HEALTH_ENGINE_LOOP);
    m->options.tick(m->options.ctx);
    timer_start(timer, loop_clock(m->options.engine_loop), TICK_MS);
}

static void on_touched(struct timer *timer)
{
    struct monitor *m = container_of(timer, struct monitor, touched);
    m->options.tick(m->options.ctx);
}

/* Warns once for each time that the engine thread is blocked. Runs on the I/O thread, as the blocked one
 * cannot. */
static void warn_of_busy(struct monitor *m)
{
    int64_t silence_ms = health_silence_ms(m->health, HEALTH_ENGINE_LOOP);
    struct buf who = {0};
    if (silence_ms < BUSY_MS || atomic_exchange(&m->logged_busy, true)) return;
    if (m->options.running) running_describe(m->options.running, &who);
    log_warn("Engine thread is blocked, handlers and timers are delayed", F("reason", buf_text(&who)),
             FI("blockedMs", silence_ms));
    buf_clear(&who);
}

/* Runs on the I/O thread. */
static void on_io_tick(struct timer *timer)
{
    struct monitor *m = container_of(timer, struct monitor, io_tick);
    health_beat(m->health, HEALTH_IO_LOOP);
    warn_of_busy(m);
    timer_start(timer, loop_clock(m->options.io_loop), TICK_MS);
}

static void serve_metrics(void *ctx, const struct web_request *request, struct web_response *response)
{
    struct monitor *m = ctx;
    if (strcmp(request->path, "/metrics") != 0) return;
    if (!m->auth || metrics_auth_admits(m->auth, request, response))
        metrics_page_serve(NULL, request, response);
}

static bool serve(struct web_server **server, const char *flag, const struct web_server_options *options,
                  struct err *err)
{
    if (bind_address_is_off(options->address)) return true;
    *server = web_server_new(options, err);
    if (!*server) return err_wrap(err, "%s", flag);
    return true;
}

struct monitor *monitor_new(const struct monitor_options *options, struct err *err)
{
    struct monitor *m = NEW(struct monitor);
    m->options = *options;
    m->engine_tick.fn = on_engine_tick;
    m->io_tick.fn = on_io_tick;
    m->touched.fn = on_touched;
    m->health = health_new(&(struct health_options){.clock = clock_real(),
                                                    .busy_ms = BUSY_MS,
                                                    .stuck_ms = STUCK_MS,
                                                    .running = options->running,
                                                    .leaders = options->leaders});
    if (options->client) m->auth = metrics_auth_new(options->io_loop, options->client);
    bool ok = serve(&m->metrics_server, "--metrics-bind-address",
                    &(struct web_server_options){
                        .address = options->metrics_address, .serve = serve_metrics, .ctx = m},
                    err) &&
              serve(&m->health_server, "--health-probe-bind-address",
                    &(struct web_server_options){
                        .address = options->health_address, .serve = health_serve, .ctx = m->health},
                    err);
    if (!ok) {
        monitor_free(m);
        return NULL;
    }
    m->addresses = (struct monitor_addresses){m->metrics_server ? web_server_where(m->metrics_server) : "",
                                              m->health_server ? web_server_where(m->health_server) : ""};
    if (m->metrics_server)
        log_info("Serving metrics", F("address", m->addresses.metrics),
                 F("auth", m->auth ? "token" : "none"));
    if (m->health_server) log_info("Serving health probes", F("address", m->addresses.health));
    timer_start(&m->engine_tick, loop_clock(options->engine_loop), 0);
    timer_start(&m->io_tick, loop_clock(options->io_loop), 0);
    return m;
}

void monitor_touch(struct monitor *m)
{
    if (m && !timer_running(&m->touched)) timer_start(&m->touched, loop_clock(m->options.engine_loop), 0);
}

const struct monitor_addresses *monitor_addresses(struct monitor *m)
{
    return &m->addresses;
}

struct health *monitor_health(struct monitor *m)
{
    return m->health;
}

void monitor_free(struct monitor *m)
{
    if (!m) return;
    timer_cancel(&m->engine_tick);
    timer_cancel(&m->touched);
    timer_cancel(&m->io_tick);
    web_server_free(m->metrics_server);
    web_server_free(m->health_server);
    metrics_auth_free(m->auth);
    health_free(m->health);
    free(m);
}

/* --- /metrics */

static void put_counters(struct buf *out)
{
    for (const struct metric *m = metric_first(); m; m = m->next) {
        exposition_head(out, m->name, "counter", m->help);
        buf_printf(out, "%s %" PRIu64 "\n", m->name, metric_get(m));
    }
}

static void put(struct buf *out, const char *name, const char *type, double value, const char *help)
{
    exposition_head(out, name, type, help);
    buf_printf(out, "%s ", name);
    exposition_number(out, value);
    buf_putc(out, '\n');
}

/* Appends metrics of the process, with names and meanings of all Prometheus client libraries. */
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

/* Appends how full the tables are that all objects share. */
static void put_tables(struct buf *out)
{
    put(out, "kubelua_dictionary_keys", "gauge", (double)dict_count(), "Number of keys in the dictionary.");
    put(out, "kubelua_dictionary_shapes", "gauge", (double)shape_count(),
        "Number of lists of keys in the dictionary.");
}

static void put_build(struct buf *out)
{
    exposition_head(out, "kubelua_build_info", "gauge", "The version of kubelua; always 1.");
    buf_puts(out, "kubelua_build_info{version=\"" KUBELUA_VERSION "\"} 1\n");
}

enum { PIECE = 32 << 10 };

struct metrics_page {
    enum { PAGE_BEGIN, PAGE_SERIES, PAGE_SCRIPTS, PAGE_PROCESS } part;
    struct series_cursor series;
    struct user_metrics_cursor scripts;
};

static bool put_piece(void *ctx, struct buf *out)
{
    struct metrics_page *page = ctx;
    bool more = false;
    switch (page->part) {
    case PAGE_BEGIN:
        put_build(out);
        put_counters(out);
        put_tables(out);
        break;
    case PAGE_SERIES: more = series_render_some(&page->series, PIECE, out); break;
    case PAGE_SCRIPTS: more = user_metrics_render_some(NULL, &page->scripts, PIECE, out); break;
    case PAGE_PROCESS: put_process(out); return false;
    }
    if (!more) page->part++;
    return true;
}

void metrics_page_serve(void *ctx, const struct web_request *request, struct web_response *response)
{
    response->status = 200;
    response->content_type = "text/plain; version=0.0.4; charset=utf-8";
    response->more = put_piece;
    response->more_ctx = NEW(struct metrics_page);
}

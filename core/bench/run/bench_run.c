/* The measurements of one subject; see bench_run.h. */
#include "bench/run/bench_run.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/run/bench_proc.h"
#include "net/bind_address.h"

/* Shares are of the updates of a storm. */
enum { SLOW_RATE = 1000, FAST_RATE = 10000, SLOW_FIFTHS = 1, FAST_FIFTHS = 2 };

/* Who can do none of these answers no marker; and all that begins with the first list. */
static const unsigned with_markers =
    BENCH_BIT(BENCH_RELIST) | BENCH_BIT(BENCH_STORM) | BENCH_BIT(BENCH_LATENCY);
static const unsigned with_list =
    with_markers | BENCH_BIT(BENCH_SYNC) | BENCH_BIT(BENCH_PROJECTED) | BENCH_BIT(BENCH_FLOOR);

struct run {
    const struct bench_config *plan;
    struct bench_result *result;
    struct bench_session session;
    double steady; /* bytes after the first list */
};

/* CPU of subject and source, and the time. */
struct moment {
    int64_t cpu_ns, source_ns, at_ns;
};

static struct moment now(const struct run *run)
{
    return (struct moment){bench_cpu_ns(run->session.child->pid),
                           bench_cpu_ns(run->session.source->child->pid), bench_now_ns()};
}

void bench_settle(const struct bench_config *plan)
{
    int64_t end = bench_now_ns() + plan->settle_ms * 1000000;
    while (!bench_interrupted() && bench_now_ns() < end) poll(NULL, 0, 10);
}

static void put(struct run *run, enum bench_metric metric, double value)
{
    bench_result_add(run->result, metric, value);
}

static bool memory(const struct run *run, struct bench_usage *usage, struct err *err)
{
    if (bench_usage_read(run->session.child->pid, usage)) return true;
    return bench_child_alive(run->session.child, err) &&
           err_set(err, ERR_IO, "%s: cannot read its memory usage", run->session.subject->name);
}

static void put_memory(struct run *run, const struct bench_usage *usage, double idle)
{
    double objects = (double)run->session.pods;
    run->steady = (double)usage->resident;
    put(run, BENCH_SYNC_PEAK, (double)usage->peak);
    put(run, BENCH_STEADY, run->steady);
    put(run, BENCH_SYNC_PEAK_RATIO, (double)usage->peak / run->steady);
    if (objects > 0) put(run, BENCH_PER_OBJECT, (run->steady - idle) / objects);
}

/* The first list, from the start of the process to its "synced". */
static bool measure_sync(struct run *run, struct err *err)
{
    struct bench_usage usage = {0};
    struct bench_session *session = &run->session;
    double objects = (double)session->pods, idle = bench_result_median(run->result, BENCH_IDLE_RESIDENT);
    int64_t source_ns = bench_cpu_ns(session->source->child->pid);
    if (!bench_session_start(session, run->plan->scripts, NULL, false, err) ||
        !bench_session_sync(session, err))
        return false;
    struct moment end = now(run);
    bench_result_set_version(run->result, session->event.version);
    put(run, BENCH_SYNC_CPU, (double)end.cpu_ns / 1e3 / objects);
    put(run, BENCH_SYNC_SOURCE_CPU, (double)(end.source_ns - source_ns) / 1e3 / objects);
    put(run, BENCH_SYNC_WALL, (double)(end.at_ns - session->child->started_ns) / 1e9);
    bench_settle(run->plan);
    if (!memory(run, &usage, err)) return false;
    put_memory(run, &usage, idle);
    return true;
}

static bool measure_trimmed(struct run *run, struct err *err)
{
    struct bench_usage usage = {0};
    double idle = bench_result_median(run->result, BENCH_IDLE_RESIDENT);
    if (!bench_session_mark(&run->session, true, 0, err) || !memory(run, &usage, err)) return false;
    put(run, BENCH_TRIMMED, (double)usage.resident);
    put(run, BENCH_TRIMMED_PER_OBJECT, ((double)usage.resident - idle) / (double)run->session.pods);
    return true;
}

/* All pods again, unchanged. The first marker may come among them, the second one comes behind them. It is
 * compared with the memory before the trim. */
static bool measure_relist(struct run *run, struct err *err)
{
    struct bench_usage after = {0};
    struct bench_session *session = &run->session;
    bench_forget_peak(session->child->pid);
    struct moment start = now(run);
    if (!bench_source_post(session->source, session->silence_ms, err, "/sim/replay/expire") ||
        !bench_session_mark(session, false, session->pods, err) ||
        !bench_session_mark(session, false, session->pods, err))
        return false;
    struct moment end = now(run);
    bench_settle(run->plan);
    if (!memory(run, &after, err)) return false;
    put(run, BENCH_RELIST_CPU, (double)(end.cpu_ns - start.cpu_ns) / 1e3 / (double)session->pods);
    put(run, BENCH_RELIST_WALL, (double)(end.at_ns - start.at_ns) / 1e9);
    put(run, BENCH_RELIST_GROWTH, ((double)after.resident / run->steady - 1) * 100);
    put(run, BENCH_RELIST_PEAK_RATIO, (double)after.peak / run->steady);
    return true;
}

/* As many updates as the watch takes. What a subject made one of many is not handled by itself. */
static bool measure_storm(struct run *run, struct err *err)
{
    size_t count = run->plan->updates;
    struct bench_session *session = &run->session;
    struct moment start = now(run);
    if (!bench_source_post(session->source, bench_session_timeout_ms(session, count), err,
                           "/sim/replay/storm?count=%zu", count) ||
        !bench_session_mark(session, false, count, err))
        return false;
    struct moment end = now(run);
    double events = (double)count;
    put(run, BENCH_STORM_RATE, events / ((double)(end.at_ns - start.at_ns) / 1e9));
    put(run, BENCH_STORM_CPU, (double)(end.cpu_ns - start.cpu_ns) / 1e3 / events);
    put(run, BENCH_STORM_SOURCE_CPU, (double)(end.source_ns - start.source_ns) / 1e3 / events);
    put(run, BENCH_STORM_HANDLED, (double)session->event.updates / events * 100);
    return true;
}

static bool measure_latency(struct run *run, size_t count, size_t rate, enum bench_metric p50,
                            struct err *err)
{
    struct bench_session *session = &run->session;
    int64_t patience_ms = bench_session_timeout_ms(session, count) + (int64_t)(count * 1000 / rate);
    if (!bench_source_post(session->source, patience_ms, err, "/sim/replay/storm?count=%zu&rate=%zu", count,
                           rate))
        return false;
    double late_us = bench_source_response_number(session->source, STR("late_us"));
    if (!bench_session_mark(session, false, count, err)) return false;
    if (!session->event.has_latency)
        return err_set(err, ERR_PARSE, "%s measured no latency of %zu updates", session->subject->name,
                       count);
    for (size_t i = 0; i < BENCH_PERCENTILES; i++)
        put(run, p50 + (enum bench_metric)i, session->event.latency_us[i]);
    put(run, p50 + BENCH_PERCENTILES, late_us);
    return true;
}

static bool measure_latencies(struct run *run, struct err *err)
{
    size_t fifth = (run->plan->updates + 4) / 5;
    return measure_latency(run, SLOW_FIFTHS * fifth, SLOW_RATE, BENCH_SLOW_P50, err) &&
           measure_latency(run, FAST_FIFTHS * fifth, FAST_RATE, BENCH_FAST_P50, err);
}

static bool with_the_list(struct run *run, unsigned wanted, struct err *err)
{
    bool ok = measure_sync(run, err);
    unsigned able = run->session.event.measurements, todo = wanted & able;
    if (ok && able & with_markers) ok = measure_trimmed(run, err);
    if (ok && todo & BENCH_BIT(BENCH_RELIST)) ok = measure_relist(run, err);
    if (ok && todo & BENCH_BIT(BENCH_STORM)) ok = measure_storm(run, err);
    if (ok && todo & BENCH_BIT(BENCH_LATENCY)) ok = measure_latencies(run, err);
    bench_session_stop(&run->session);
    return ok;
}

/* What a subject measures itself, once it is synced. */
static bool by_itself(struct run *run, const char *script, bool select, struct err *err)
{
    bool ok = bench_session_start(&run->session, run->plan->scripts, script, select, err) &&
              bench_session_sync(&run->session, err);
    if (ok) bench_result_set_version(run->result, run->session.event.version);
    for (size_t i = 0; ok && i < BENCH_METRICS; i++) put(run, i, run->session.event.figures[i]);
    bench_session_stop(&run->session);
    return ok || err_wrap(err, "%s", select ? "select" : "lua");
}

/* Markers become pods of the source, so that who makes them is last. */
bool bench_run_subject(const struct bench_config *plan, const struct bench_subject *subject,
                       struct bench_source *source, struct bench_result *result, struct err *err)
{
    unsigned wanted = plan->measurements & subject->measurements;
    struct run run = {
        .plan = plan,
        .result = result,
        .session = {
            .subject = subject, .source = source, .pods = plan->data.pods, .silence_ms = plan->silence_ms}};
    bool idle = wanted & (BENCH_BIT(BENCH_IDLE) | BENCH_BIT(BENCH_SYNC) | BENCH_BIT(BENCH_PROJECTED));
    if (idle && !bench_run_idle(plan, subject, result, err)) return false;
    if (wanted & BENCH_BIT(BENCH_START) && !bench_run_start(plan, subject, result, err)) return false;
    struct err second;
    bool ok =
        (!(wanted & BENCH_BIT(BENCH_SELECT)) || by_itself(&run, "select", true, err)) &&
        (!(wanted & BENCH_BIT(BENCH_LUA)) || by_itself(&run, "micro", false, err)) &&
        (!(wanted & BENCH_BIT(BENCH_AUDIT_ENGINE)) || bench_run_audit_engine(plan, source, result, err));
    /* A program that has no lister may do all else. */
    bool listed = !(wanted & with_list) || with_the_list(&run, wanted, ok ? err : &second);
    return ok && listed;
}

/* --- What a subject costs before it has anything to do */

enum { MORE_INFORMERS = 50 /* bench/scripts/informers.lua */, STARTS = 5 };

/* The memory of the subject, synced on a server with nothing in it. */
static bool memory_of(const struct bench_config *plan, const struct bench_subject *subject,
                      struct bench_source *source, const char *script, struct bench_usage *usage,
                      struct bench_result *result, struct err *err)
{
    struct bench_session session = {.subject = subject, .source = source, .silence_ms = plan->silence_ms};
    bool ok =
        bench_session_start(&session, plan->scripts, script, false, err) && bench_session_sync(&session, err);
    if (ok) {
        bench_result_set_version(result, session.event.version);
        bench_settle(plan);
        ok = bench_child_alive(session.child, err) &&
             (bench_usage_read(session.child->pid, usage) ||
              err_set(err, ERR_IO, "%s: cannot read its memory usage", subject->name));
    }
    bench_session_stop(&session);
    return ok;
}

static bool one_more(const struct bench_config *plan, const struct bench_subject *subject,
                     struct bench_source *source, int64_t alone, struct bench_result *result, struct err *err)
{
    struct bench_usage usage;
    if (!memory_of(plan, subject, source, "informers", &usage, result, err)) return false;
    bench_result_add(result, BENCH_IDLE_INFORMER, (double)(usage.resident - alone) / MORE_INFORMERS);
    return true;
}

bool bench_run_idle(const struct bench_config *plan, const struct bench_subject *subject,
                    struct bench_result *result, struct err *err)
{
    struct bench_usage usage;
    struct bench_source *source = bench_source_empty(err);
    bool ok = source && memory_of(plan, subject, source, NULL, &usage, result, err);
    if (ok) {
        bench_result_add(result, BENCH_IDLE_RESIDENT, (double)usage.resident);
        bench_result_add(result, BENCH_IDLE_PRIVATE, (double)usage.private_bytes);
    }
    bool more = plan->measurements & subject->measurements & BENCH_BIT(BENCH_IDLE) && subject->script;
    if (ok && more) ok = one_more(plan, subject, source, usage.resident, result, err);
    bench_source_stop(source);
    return ok;
}

/* --- start */

/* Waits until somebody has asked for something; nobody is answered. */
static bool wait_request(int listener, struct bench_child *child, int64_t timeout_ms, struct err *err)
{
    char byte;
    int64_t deadline = bench_now_ns() + timeout_ms * 1000000;
    struct pollfd fd = {.fd = listener, .events = POLLIN};
    int connection = -1;
    bool asked = false;
    while (!asked && bench_now_ns() < deadline && bench_child_alive(child, err)) {
        if (poll(&fd, 1, 100) <= 0) continue;
        if (connection >= 0)
            asked = true;
        else if ((connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
            fd.fd = connection;
    }
    asked = asked && recv(connection, &byte, 1, 0) == 1;
    if (connection >= 0) close(connection);
    return asked ||
           (bench_child_alive(child, err) && err_set(err, ERR_TIMEOUT, "%s sent no request", child->name));
}

static bool start_once(const struct bench_config *plan, const struct bench_subject *subject, int listener,
                       const char *url, struct bench_result *starts, struct err *err)
{
    struct bench_child *child = bench_subject_start(subject, url, plan->scripts, NULL, false, err);
    bool ok = child && wait_request(listener, child, plan->silence_ms, err);
    if (ok) bench_result_add(starts, BENCH_START_MS, (double)(bench_now_ns() - child->started_ns) / 1e6);
    bench_child_stop(child);
    return ok;
}

bool bench_run_start(const struct bench_config *plan, const struct bench_subject *subject,
                     struct bench_result *result, struct err *err)
{
    struct bench_results starts = {0}; /* the run's figure is their median */
    struct bench_result *all = bench_results_of(&starts, subject->name, 0, 0);
    struct buf where = {0}, url = {0};
    bool ok = true;
    for (int i = 0; ok && i < STARTS; i++) {
        where.len = url.len = 0;
        int listener = bind_address_listen("127.0.0.1:0", &where, err);
        buf_printf(&url, "http://%s", buf_text(&where));
        ok = listener >= 0 && start_once(plan, subject, listener, buf_text(&url), all, err);
        if (listener >= 0) close(listener);
    }
    if (ok) bench_result_add(result, BENCH_START_MS, bench_result_median(all, BENCH_START_MS));
    bench_results_clear(&starts);
    buf_clear(&where);
    buf_clear(&url);
    return ok;
}

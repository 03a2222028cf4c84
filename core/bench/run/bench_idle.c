/* What a subject costs before it has anything to do; see bench_run.h. */
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/run/bench_proc.h"
#include "bench/run/bench_run.h"
#include "net/bind_address.h"

enum { MORE_INFORMERS = 50 /* bench/scripts/informers.lua */, STARTS = 5 };

/* The memory of the subject, synced on a server with nothing in it. */
static bool memory_of(const struct bench_plan *plan, const struct bench_subject *subject,
                      struct bench_source *source, const char *script, struct bench_usage *usage,
                      struct bench_result *result, struct err *err)
{
    struct bench_session session = {.subject = subject, .source = source, .silence_ms = plan->silence_ms};
    bool ok =
        bench_session_start(&session, plan->scripts, script, false, err) && bench_session_sync(&session, err);
    if (ok) {
        bench_result_tell_version(result, session.event.version);
        bench_settle(plan);
        ok = bench_child_alive(session.child, err) &&
             (bench_usage_read(session.child->pid, usage) ||
              err_set(err, ERR_IO, "%s: the kernel does not tell its memory", subject->name));
    }
    bench_session_stop(&session);
    return ok;
}

static bool one_more(const struct bench_plan *plan, const struct bench_subject *subject,
                     struct bench_source *source, int64_t alone, struct bench_result *result, struct err *err)
{
    struct bench_usage usage;
    if (!memory_of(plan, subject, source, "informers", &usage, result, err)) return false;
    bench_result_add(result, BENCH_IDLE_INFORMER, (double)(usage.resident - alone) / MORE_INFORMERS);
    return true;
}

bool bench_run_idle(const struct bench_plan *plan, const struct bench_subject *subject,
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
    return asked || (bench_child_alive(child, err) &&
                     err_set(err, ERR_TIMEOUT, "%s asked its server for nothing", child->name));
}

static bool start_once(const struct bench_plan *plan, const struct bench_subject *subject, int listener,
                       const char *url, struct bench_result *starts, struct err *err)
{
    struct bench_child *child = bench_subject_start(subject, url, plan->scripts, NULL, false, err);
    bool ok = child && wait_request(listener, child, plan->silence_ms, err);
    if (ok) bench_result_add(starts, BENCH_START_MS, (double)(bench_now_ns() - child->started_ns) / 1e6);
    bench_child_stop(child);
    return ok;
}

bool bench_run_start(const struct bench_plan *plan, const struct bench_subject *subject,
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

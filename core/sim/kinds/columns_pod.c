/* Table of pods: STATUS and RESTARTS follow the real printer case by case, as users read them daily. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/civil.h"
#include "base/mem.h"
#include "sim/kinds/columns.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

struct summary {
    int64_t restarts;
    int64_t last_restart_s; /* INT64_MIN: never */
    int64_t ready, total;
    char reason[128];
};

static void set_reason(struct summary *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void set_reason(struct summary *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = xvasprintf(format, args);
    va_end(args);
    snprintf(s->reason, sizeof s->reason, "%s", text);
    free(text);
}

static bool condition_is(const json_t *pod, const char *type, const char *field, const char *value)
{
    const json_t *condition = sim_find(sim_at(pod, "status.conditions"), "type", type);
    return condition && strcmp(sim_text_at(condition, field), value) == 0;
}

/* Returns whether it is an init container that runs as long as the pod (a sidecar). */
static bool is_sidecar(const json_t *pod, const char *name)
{
    const json_t *container = sim_find(sim_at(pod, "spec.initContainers"), "name", name);
    return strcmp(sim_text_at(container, "restartPolicy"), "Always") == 0;
}

static int64_t count_sidecars(const json_t *pod)
{
    int64_t count = 0;
    size_t i;
    json_t *container;
    json_array_foreach (sim_at(pod, "spec.initContainers"), i, container)
        count += strcmp(sim_text_at(container, "restartPolicy"), "Always") == 0;
    return count;
}

static void count_restarts(struct summary *s, const json_t *status)
{
    int64_t finished_s;
    s->restarts += sim_int_at(status, "restartCount", 0);
    if (civil_read_utc(str_of(sim_text_at(status, "lastState.terminated.finishedAt")), &finished_s) &&
        finished_s > s->last_restart_s)
        s->last_restart_s = finished_s;
}

/* "Completed", "OOMKilled", "Signal:9" or "ExitCode:1", after a prefix. */
static void send_terminated(struct summary *s, const char *prefix, const json_t *terminated)
{
    const char *reason = sim_text_at(terminated, "reason");
    int64_t signal = sim_int_at(terminated, "signal", 0);
    if (*reason)
        set_reason(s, "%s%s", prefix, reason);
    else if (signal)
        set_reason(s, "%sSignal:%lld", prefix, (long long)signal);
    else
        set_reason(s, "%sExitCode:%lld", prefix, (long long)sim_int_at(terminated, "exitCode", 0));
}

/* Evaluates the init containers; returns true if one has still to finish, which is then the reason.
 * `sidecars` receives the restarts of those that continue to count when the pod runs. */
static bool init_phase(struct summary *s, struct summary *sidecars, const json_t *pod)
{
    size_t i;
    json_t *status;
    json_array_foreach (sim_at(pod, "status.initContainerStatuses"), i, status) {
        const json_t *terminated = sim_at(status, "state.terminated");
        const char *waiting = sim_text_at(status, "state.waiting.reason");
        bool sidecar = is_sidecar(pod, sim_text_at(status, "name"));
        count_restarts(s, status);
        if (sidecar) count_restarts(sidecars, status);
        if (json_is_object(terminated) && sim_int_at(terminated, "exitCode", 0) == 0) continue;
        if (sidecar && sim_true_at(status, "started")) {
            s->ready += sim_true_at(status, "ready");
            continue;
        }
        if (json_is_object(terminated))
            send_terminated(s, "Init:", terminated);
        else if (*waiting && strcmp(waiting, "PodInitializing") != 0)
            set_reason(s, "Init:%s", waiting);
        else
            set_reason(s, "Init:%zu/%zu", i, json_array_size(sim_at(pod, "spec.initContainers")));
        return true;
    }
    return false;
}

static void main_phase(struct summary *s, const json_t *pod)
{
    const json_t *statuses = sim_at(pod, "status.containerStatuses");
    bool has_running = false;
    char error[sizeof s->reason] = "";
    for (size_t i = json_array_size(statuses); i-- > 0;) {
        const json_t *status = json_array_get(statuses, i);
        const json_t *terminated = sim_at(status, "state.terminated");
        const char *waiting = sim_text_at(status, "state.waiting.reason");
        count_restarts(s, status);
        if (*waiting) {
            set_reason(s, "%s", waiting);
        } else if (json_is_object(terminated)) {
            send_terminated(s, "", terminated);
            if (sim_int_at(terminated, "exitCode", 0) != 0) memcpy(error, s->reason, sizeof error);
        } else if (sim_true_at(status, "ready") && json_is_object(sim_at(status, "state.running"))) {
            has_running = true;
            s->ready++;
        }
    }
    if (strcmp(s->reason, "Completed") != 0) return;
    if (has_running && condition_is(pod, "Ready", "status", "True"))
        set_reason(s, "Running");
    else if (*error)
        memcpy(s->reason, error, sizeof error);
    else if (has_running)
        set_reason(s, "NotReady");
}

static struct summary summarize(const json_t *pod)
{
    struct summary summary = {.last_restart_s = INT64_MIN}, *s = &summary;
    const char *phase = sim_text_at(pod, "status.phase"), *reason = sim_text_at(pod, "status.reason");
    struct summary sidecars = {.last_restart_s = INT64_MIN};
    s->total = (int64_t)json_array_size(sim_at(pod, "spec.containers")) + count_sidecars(pod);
    set_reason(s, "%s", *reason ? reason : phase);
    if (condition_is(pod, "PodScheduled", "reason", "SchedulingGated")) set_reason(s, "SchedulingGated");

    if (!init_phase(s, &sidecars, pod) || condition_is(pod, "Initialized", "status", "True")) {
        s->restarts = sidecars.restarts;
        s->last_restart_s = sidecars.last_restart_s;
        main_phase(s, pod);
    }
    if (!*sim_text_at(pod, "metadata.deletionTimestamp")) return summary;
    if (strcmp(reason, "NodeLost") == 0)
        set_reason(s, "Unknown");
    else if (strcmp(phase, "Failed") != 0 && strcmp(phase, "Succeeded") != 0)
        set_reason(s, "Terminating");
    return summary;
}

json_t *sim_cell_pod_ready(const json_t *pod, const json_t *column, int64_t now_s)
{
    struct summary s = summarize(pod);
    return sim_textf("%lld/%lld", (long long)s.ready, (long long)s.total);
}

json_t *sim_cell_pod_status(const json_t *pod, const json_t *column, int64_t now_s)
{
    struct summary s = summarize(pod);
    return sim_string(s.reason);
}

json_t *sim_cell_pod_restarts(const json_t *pod, const json_t *column, int64_t now_s)
{
    struct summary s = summarize(pod);
    char ago[SIM_AGE_MAX];
    if (!s.restarts || s.last_restart_s == INT64_MIN) return sim_textf("%lld", (long long)s.restarts);
    sim_age_format(now_s - s.last_restart_s, ago);
    return sim_textf("%lld (%s ago)", (long long)s.restarts, ago);
}

json_t *sim_cell_pod_gates(const json_t *pod, const json_t *column, int64_t now_s)
{
    const json_t *gates = sim_at(pod, "spec.readinessGates");
    size_t i, held = 0;
    json_t *gate;
    json_array_foreach (gates, i, gate)
        held += condition_is(pod, sim_text_at(gate, "conditionType"), "status", "True");
    return i ? sim_textf("%zu/%zu", held, i) : json_string("<none>");
}

json_t *sim_pod_row_conditions(const json_t *pod)
{
    const char *phase = sim_text_at(pod, "status.phase");
    bool succeeded = strcmp(phase, "Succeeded") == 0;
    if (!succeeded && strcmp(phase, "Failed") != 0) return NULL;
    return json_pack("[{s:s,s:s,s:s,s:s}]", "type", "Completed", "status", "True", "reason", phase, "message",
                     succeeded ? "The pod has completed successfully." : "The pod failed.");
}

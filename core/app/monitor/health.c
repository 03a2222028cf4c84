/* Health checks and their pages; see health.h. */
#include "app/monitor/health.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "informer/leader/leadership.h"

/* Time after which a leader that cannot renew its lease fails the check (L-11). */
enum { LEADER_TOLERANCE_MS = 20000 };

struct health {
    struct health_options options;
    _Atomic int64_t beats_ms[HEALTH_LOOPS];
    pthread_mutex_t lock;
    struct buf lagging; /* under the lock */
    _Atomic bool stopping;
};

struct check {
    const char *name;
    bool for_readiness; /* /readyz alone */
    /* Appends the reason when it fails. */
    void (*run)(struct health *health, bool ready, struct buf *reason);
};

struct health *health_new(const struct health_options *options)
{
    struct health *health = NEW(struct health);
    health->options = *options;
    for (int i = 0; i < HEALTH_LOOPS; i++) health_beat(health, (enum health_loop)i);
    pthread_mutex_init(&health->lock, NULL);
    /* Not ready before the first report of the engine thread. */
    buf_puts(&health->lagging, "the engine is starting");
    return health;
}

void health_free(struct health *health)
{
    if (!health) return;
    pthread_mutex_destroy(&health->lock);
    buf_clear(&health->lagging);
    free(health);
}

void health_beat(struct health *health, enum health_loop loop)
{
    atomic_store_explicit(&health->beats_ms[loop], clock_now_ms(health->options.clock), memory_order_relaxed);
}

int64_t health_silence_ms(const struct health *health, enum health_loop loop)
{
    return clock_now_ms(health->options.clock) -
           atomic_load_explicit(&health->beats_ms[loop], memory_order_relaxed);
}

void health_set_informers(struct health *health, const char *lagging)
{
    pthread_mutex_lock(&health->lock);
    health->lagging.len = 0;
    buf_puts(&health->lagging, lagging);
    pthread_mutex_unlock(&health->lock);
}

void health_set_stopping(struct health *health)
{
    atomic_store(&health->stopping, true);
}

/* --- checks */

static void check_ping(struct health *health, bool ready, struct buf *reason) {}

static bool is_late(const struct health *health, enum health_loop loop, bool ready)
{
    /* Readiness fails soon, so that traffic goes elsewhere; liveness late, as a restart would lose all
     * caches. */
    return health_silence_ms(health, loop) >= (ready ? health->options.busy_ms : health->options.stuck_ms);
}

static void check_loop(struct health *health, enum health_loop loop, const char *what, bool ready,
                       struct buf *reason)
{
    if (is_late(health, loop, ready))
        buf_printf(reason, "the %s thread has been blocked for %lld s", what,
                   (long long)(health_silence_ms(health, loop) / 1000));
}

static void check_engine_loop(struct health *health, bool ready, struct buf *reason)
{
    struct buf who = {0};
    check_loop(health, HEALTH_ENGINE_LOOP, "engine", ready, reason);
    if (reason->len && health->options.running) running_describe(health->options.running, &who);
    if (who.len) buf_printf(reason, ": %s", buf_text(&who));
    buf_clear(&who);
}

static void check_io_loop(struct health *health, bool ready, struct buf *reason)
{
    check_loop(health, HEALTH_IO_LOOP, "I/O", ready, reason);
}

/* Appends the last report of the engine thread, with its age if the thread is blocked. */
static void check_informers(struct health *health, bool ready, struct buf *reason)
{
    pthread_mutex_lock(&health->lock);
    buf_str(reason, buf_slice(&health->lagging));
    pthread_mutex_unlock(&health->lock);
    if (reason->len && is_late(health, HEALTH_ENGINE_LOOP, true))
        buf_printf(reason, " (%lld s ago)",
                   (long long)(health_silence_ms(health, HEALTH_ENGINE_LOOP) / 1000));
}

/* Checks the lease, with the name and tolerance of Kubernetes' own components (L-11). */
static void check_leaders(struct health *health, bool ready, struct buf *reason)
{
    if (health->options.leaders) leaders_check(health->options.leaders, LEADER_TOLERANCE_MS, reason);
}

static void check_shutdown(struct health *health, bool ready, struct buf *reason)
{
    if (atomic_load(&health->stopping)) buf_puts(reason, "the process is shutting down");
}

static const struct check checks[] = {
    {"ping", false, check_ping},
    {"engine-loop", false, check_engine_loop},
    {"io-loop", false, check_io_loop},
    {"informer-sync", true, check_informers},
    {"leaderElection", false, check_leaders},
    {"shutdown", true, check_shutdown},
};

/* --- pages */

struct exclusion {
    const char *name;
    bool excluded;
};

static void on_exclude(void *ctx, const char *value)
{
    struct exclusion *exclusion = ctx;
    if (strcmp(value, exclusion->name) == 0) exclusion->excluded = true;
}

static bool is_excluded(const struct web_request *request, const char *name)
{
    struct exclusion exclusion = {.name = name};
    request->each(request, "exclude", on_exclude, &exclusion);
    return exclusion.excluded;
}

/* Appends a line: [+]ping ok; [-]informer-sync failed: REASON. Returns whether the check passed. */
static bool report(struct health *health, const struct check *check, bool ready,
                   const struct web_request *request, struct buf *body)
{
    struct buf reason = {0};
    if (is_excluded(request, check->name)) {
        buf_printf(body, "[+]%s excluded: ok\n", check->name);
        return true;
    }
    check->run(health, ready, &reason);
    bool good = reason.len == 0;
    if (good)
        buf_printf(body, "[+]%s ok\n", check->name);
    else
        buf_printf(body, "[-]%s failed: %s\n", check->name, buf_text(&reason));
    buf_clear(&reason);
    return good;
}

static void serve_all(struct health *health, const char *group, const struct web_request *request,
                      struct web_response *response)
{
    bool good = true, ready = strcmp(group, "readyz") == 0;
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        if (ready || !checks[i].for_readiness)
            good &= report(health, &checks[i], ready, request, &response->body);
    response->status = good ? 200 : 500;
    if (good && !request->query(request, "verbose")) {
        response->body.len = 0;
        buf_puts(&response->body, "ok");
    } else {
        buf_printf(&response->body, "%s check %s\n", group, good ? "passed" : "failed");
    }
}

static void serve_one(struct health *health, const char *group, const char *name,
                      struct web_response *response)
{
    bool ready = strcmp(group, "readyz") == 0;
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        struct buf reason = {0};
        if (strcmp(name, checks[i].name) != 0 || (checks[i].for_readiness && !ready)) continue;
        checks[i].run(health, ready, &reason);
        response->status = reason.len ? 500 : 200;
        if (reason.len)
            buf_printf(&response->body, "internal server error: %s\n", buf_text(&reason));
        else
            buf_puts(&response->body, "ok");
        buf_clear(&reason);
    }
}

void health_serve(void *ctx, const struct web_request *request, struct web_response *response)
{
    static const char *const groups[] = {"healthz", "livez", "readyz"};
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        size_t n = strlen(groups[i]);
        if (*request->path != '/' || strncmp(request->path + 1, groups[i], n) != 0) continue;
        const char *rest = request->path + 1 + n;
        if (*rest == '\0' || strcmp(rest, "/") == 0)
            serve_all(ctx, groups[i], request, response);
        else if (*rest == '/')
            serve_one(ctx, groups[i], rest + 1, response);
    }
}

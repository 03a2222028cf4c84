/* The replay source's own paths: storms, markers, expiry, counters. */
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/mem.h"
#include "bench/source/replay_internal.h"
#include "sim/api/control.h"
#include "sim/object/status.h"

static void marker(struct replay *replay, const struct sim_request *request, struct sim_reply *reply)
{
    const char *name = sim_query(request, "name");
    struct err err;
    if (!name) {
        sim_reply_status(reply, sim_status_bad_request("name: how the pod is to be called"));
        return;
    }
    pthread_rwlock_wrlock(&replay->lock);
    const struct replay_pod *pod = replay_pods_mark(&replay->pods, name, &err);
    if (pod) {
        replay_watches_put(replay, REPLAY_ADDED, pod);
        replay_watches_send(replay);
        replay_show(replay);
        reply->code = 200;
        reply->json = json_pack("{ss sI}", "name", name, "version", (json_int_t)pod->version);
    }
    pthread_rwlock_unlock(&replay->lock);
    if (pod) return;
    sim_reply_status(reply, err.code == ERR_LIMIT ? sim_status(409, "AlreadyExists", err.text, NULL, NULL)
                                                  : sim_status_bad_request("%s", err.text));
}

/* No pod changes, but there is a version without any that clients could go on from. */
static void expire(struct replay *replay, const struct sim_request *request, struct sim_reply *reply)
{
    pthread_rwlock_wrlock(&replay->lock);
    replay->pods.oldest = ++replay->pods.version;
    replay_watches_end(replay);
    replay_show(replay);
    reply->code = 200;
    reply->json = json_pack("{sI}", "version", (json_int_t)replay->pods.version);
    pthread_rwlock_unlock(&replay->lock);
}

/* Without the lock: whoever asks is told also while a storm waits for a client. */
static void stats(struct replay *replay, const struct sim_request *request, struct sim_reply *reply)
{
    json_t *pods = json_pack("{sI sI}", "objects", (json_int_t)atomic_load(&replay->objects), "watches",
                             (json_int_t)atomic_load(&replay->api.stats.open_watches));
    reply->code = 200;
    reply->json = sim_stats_json(&replay->api.stats);
    json_object_set_new(reply->json, "version", json_integer((json_int_t)atomic_load(&replay->version)));
    json_object_set_new(reply->json, "resources", json_pack("{so}", "pods", pods));
}

bool replay_steer(struct replay *replay, const struct sim_request *request, struct sim_reply *reply)
{
    static const struct {
        const char *path;
        void (*serve)(struct replay *replay, const struct sim_request *request, struct sim_reply *reply);
    } paths[] = {
        {"/sim/replay/storm", replay_storm}, {"/sim/replay/marker", marker}, {"/sim/replay/expire", expire}};
    if (strcmp(request->path, "/sim/stats") == 0 && strcmp(request->method, "GET") == 0) {
        stats(replay, request, reply);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        if (strcmp(request->path, paths[i].path) != 0) continue;
        if (strcmp(request->method, "POST") == 0) {
            pthread_mutex_lock(&replay->steering);
            paths[i].serve(replay, request, reply);
            pthread_mutex_unlock(&replay->steering);
        } else
            sim_reply_not_allowed(reply);
        return true;
    }
    return false;
}

/* --- A storm of the replay source: updates in the order in which the pods were made, so that neighbours have
 * little in common, as fast as the slowest watch reads, or evenly paced */

enum {
    BATCH_BYTES = 256 << 10, /* of an update without a pace; the bodies of its pods */
    SLACK_NS = 1000,     /* how late the system may end a sleep to save wake-ups; by itself it takes 50 us */
    SPIN_NS = 15 * 1000, /* a sleep ends so much too late nevertheless */
    SLEEP_MAX_NS = 100 * 1000 * 1000,
    COUNT_MAX = 1000000000,
    RATE_MAX = 1000000,
};

struct storm {
    struct replay *replay;
    uint64_t count, rate, sent;
    int64_t begin_ns, late_ns; /* how much the latest update was too late */
    bool alone;                /* no watch is open any more */
};

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* One write for each watch. No pod is in it twice, as what is written are the pods themselves. */
static void send_batch(struct storm *storm, size_t bytes)
{
    struct replay *replay = storm->replay;
    size_t pods = replay->pods.generated_count, left = pods;
    pthread_rwlock_wrlock(&replay->lock);
    int64_t now = now_ns(CLOCK_REALTIME);
    storm->alone = replay_watches_open(replay) == 0; /* then no pod changes */
    for (size_t size = 0; size < bytes && left > 0 && storm->sent < storm->count && !storm->alone; left--) {
        struct replay_pod *pod = &replay->pods.generated[storm->sent++ % pods];
        replay_pods_touch(&replay->pods, pod, now);
        replay_watches_put(replay, REPLAY_MODIFIED, pod);
        size += pod->json.len;
    }
    replay_watches_send(replay);
    replay_show(replay);
    pthread_rwlock_unlock(&replay->lock);
}

/* Sleeps, and then looks at the clock until it is time, as a sleep alone ends late. */
static void wait_until(const struct replay *replay, int64_t due_ns)
{
    int64_t left_ns;
    while ((left_ns = due_ns - now_ns(CLOCK_MONOTONIC)) > 0 && !atomic_load(&replay->stopping)) {
        if (left_ns < 2 * SPIN_NS) continue;
        left_ns = left_ns - SPIN_NS < SLEEP_MAX_NS ? left_ns - SPIN_NS : SLEEP_MAX_NS;
        nanosleep(&(struct timespec){.tv_nsec = left_ns}, NULL);
    }
}

static void pace(struct storm *storm)
{
    int64_t due_ns = storm->begin_ns + (int64_t)((double)storm->sent / (double)storm->rate * 1e9);
    wait_until(storm->replay, due_ns);
    int64_t late_ns = now_ns(CLOCK_MONOTONIC) - due_ns;
    if (late_ns > storm->late_ns) storm->late_ns = late_ns;
}

static void run(struct storm *storm)
{
    prctl(PR_SET_TIMERSLACK, SLACK_NS);
    storm->begin_ns = now_ns(CLOCK_MONOTONIC);
    while (storm->sent < storm->count && !storm->alone && !atomic_load(&storm->replay->stopping)) {
        if (storm->rate) pace(storm);
        send_batch(storm, storm->rate ? 1 : BATCH_BYTES);
    }
}

static json_t *read_number(const struct sim_request *request, const char *key, uint64_t max, uint64_t *number)
{
    const char *text = sim_query(request, key);
    *number = 0;
    if (!text) return NULL;
    if (str_to_u64(str_of(text), number) && *number > 0 && *number <= max) return NULL;
    return sim_status_bad_request("%s: \"%.40s\" is not a number from 1 to %llu", key, text,
                                  (unsigned long long)max);
}

static json_t *read_storm(const struct sim_request *request, struct storm *storm)
{
    json_t *refusal = read_number(request, "count", COUNT_MAX, &storm->count);
    if (!refusal) refusal = read_number(request, "rate", RATE_MAX, &storm->rate);
    if (!refusal && !storm->count) refusal = sim_status_bad_request("count: how many updates are to be sent");
    return refusal;
}

/* Reports the storm, and what it cost this process, which writes it on one thread: the cost must be
 * little. */
static void respond(const struct storm *storm, int64_t cpu_ns, uint64_t bytes, struct sim_reply *reply)
{
    int64_t wall_ns = now_ns(CLOCK_MONOTONIC) - storm->begin_ns;
    if (storm->alone || storm->sent < storm->count) {
        char message[128];
        snprintf(message, sizeof message, "no watch is open%s after %llu updates",
                 storm->sent ? " any more" : "", (unsigned long long)storm->sent);
        sim_reply_status(reply, sim_status(409, "Conflict", message, NULL, NULL));
        return;
    }
    reply->code = 200;
    reply->json =
        json_pack("{sI sI sI sI sI}", "events", (json_int_t)storm->sent, "watches",
                  (json_int_t)atomic_load(&storm->replay->api.stats.open_watches), "bytes", (json_int_t)bytes,
                  "wall_us", (json_int_t)(wall_ns / 1000), "cpu_us", (json_int_t)(cpu_ns / 1000));
    if (storm->rate)
        json_object_set_new(reply->json, "late_us", json_integer((json_int_t)(storm->late_ns / 1000)));
}

void replay_storm(struct replay *replay, const struct sim_request *request, struct sim_reply *reply)
{
    struct storm storm = {.replay = replay};
    json_t *refusal = read_storm(request, &storm);
    if (refusal) {
        sim_reply_status(reply, refusal);
        return;
    }
    int64_t cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t bytes = atomic_load(&replay->api.stats.bytes);
    run(&storm);
    respond(&storm, now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns, atomic_load(&replay->api.stats.bytes) - bytes,
            reply);
}

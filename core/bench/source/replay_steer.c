/* The replay source's own paths: storms, markers, expiry, counters. */
#include <string.h>

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
                                                  : sim_status_bad_request(err.text));
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

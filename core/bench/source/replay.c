/* Start and stop of the replay source, and what a path means to it; see replay.h. */
#include "bench/source/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/source/replay_internal.h"
#include "sim/api/discovery.h"
#include "sim/kinds/kinds.h"
#include "sim/object/status.h"

void replay_show(struct replay *replay)
{
    atomic_store_explicit(&replay->version, replay->pods.version, memory_order_relaxed);
    atomic_store_explicit(&replay->objects, replay->pods.count, memory_order_relaxed);
}

void replay_send(struct replay *replay, struct replay_out *out)
{
    replay_out_flush(out);
    sim_count(&replay->api.stats.bytes, out->bytes);
    out->bytes = 0;
}

static void read_pods(struct replay *replay, const struct sim_request *request, struct sim_reply *reply)
{
    struct sim_list_options options;
    json_t *refusal;
    bool ok = sim_list_options_read(request, replay->served.kind, SIM_SHARDS_OFF, &options, &refusal);
    if (ok && (options.labels || options.fields)) {
        refusal = sim_status_bad_request("the replay source knows no selectors");
        ok = false;
    }
    if (!ok)
        sim_reply_status(reply, refusal);
    else if (options.watch)
        replay_watch(replay, request, &options, reply);
    else
        replay_list(replay, request, &options, reply);
    sim_list_options_clear(&options);
}

static void pods(struct replay *replay, const struct sim_request *request, struct sim_reply *reply)
{
    if (strcmp(request->method, "GET") == 0)
        read_pods(replay, request, reply);
    else
        sim_reply_not_allowed(reply);
}

static bool health(const struct sim_request *request, struct sim_reply *reply)
{
    const char *path = request->path;
    if (strcmp(path, "/healthz") != 0 && strcmp(path, "/livez") != 0 && strcmp(path, "/readyz") != 0)
        return false;
    reply->code = 200;
    reply->content_type = "text/plain; charset=utf-8";
    buf_puts(&reply->text, "ok");
    return true;
}

static void serve(void *ctx, const struct sim_request *request, struct sim_reply *reply)
{
    struct replay *replay = ctx;
    if (strcmp(request->path, "/api/v1/pods") == 0) {
        pods(replay, request, reply);
        return;
    }
    if (replay_steer(replay, request, reply) || health(request, reply)) return;
    reply->json = sim_discovery(request->path, request->accept, sim_header(request, "Host"),
                                &replay->served.kind, 1, &reply->content_type);
    if (reply->json)
        reply->code = 200;
    else
        sim_reply_not_found(reply);
}

struct replay *replay_new(struct loop *loop, const struct replay_options *options, struct err *err)
{
    struct replay *replay = NEW(struct replay);
    const struct sim_http_options http = {
        .listen = options->listen, .port = options->port, .serve = serve, .ctx = replay};
    replay->served.kind = sim_builtin_kind("pods");
    replay->served.api_version = sim_api_version(replay->served.kind);
    pthread_mutex_init(&replay->steering, NULL);
    pthread_mutex_init(&replay->joining, NULL);
    pthread_rwlock_init(&replay->lock, NULL);
    TAILQ_INIT(&replay->watches);
    replay_pods_init(&replay->pods, options->pods, options->replicas);
    replay_show(replay);
    if (!options->encodings || replay_pods_encode(&replay->pods, options->encodings, err))
        replay->http = sim_http_new(loop, &replay->api, &http, err);
    if (replay->http) return replay;
    replay_free(replay);
    return NULL;
}

int replay_port(const struct replay *replay)
{
    return sim_http_port(replay->http);
}

/* All connections are shut down first: whoever waits for a client sees it go away. */
void replay_free(struct replay *replay)
{
    if (!replay) return;
    atomic_store(&replay->stopping, true);
    sim_http_free(replay->http);
    replay_pods_clear(&replay->pods);
    pthread_rwlock_destroy(&replay->lock);
    pthread_mutex_destroy(&replay->joining);
    pthread_mutex_destroy(&replay->steering);
    free(replay->served.api_version);
    free(replay);
}

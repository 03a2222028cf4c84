/* Internals of the replay source, shared by its files.
 * Owner: the source. Its lock is held for reading while a list or the beginning of a watch is written, so
 * that each shows one state, and exclusively while pods change and the change is written to the watches: a
 * slow reader slows all others down, and nothing piles up. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "bench/source/replay.h"
#include "bench/source/replay_form.h"
#include "bench/source/replay_out.h"
#include "bench/source/replay_pods.h"
#include "sim/api/http.h"
#include "sim/store/api.h"
#include "sim/store/params.h"

struct replay_watch {
    TAILQ_ENTRY(replay_watch) link;
    enum replay_form form;
    struct replay_out out;
    int wake_fd; /* an eventfd, written with `ended` */
    bool ended;
};

struct replay {
    struct sim_api api; /* settings and counters; there is no store */
    struct sim_served served;
    struct sim_http *http;
    atomic_bool stopping;
    atomic_uint_fast64_t version, objects; /* of the pods, for those who must not wait for the lock */
    pthread_mutex_t steering;              /* one storm, marker or expiry at a time; taken before the lock */
    pthread_rwlock_t lock;                 /* guards all that follows */
    struct replay_pods pods;
    pthread_mutex_t joining; /* guards the list of watches between those who hold the lock for reading */
    TAILQ_HEAD(replay_watches, replay_watch) watches;
};

/* Brings `version` and `objects` up to date. With the lock held alone. */
void replay_show(struct replay *replay);
/* Writes what is left, and counts it. */
void replay_send(struct replay *replay, struct replay_out *out);

/* GET of all pods; a watch takes what is in `options`. */
void replay_list(struct replay *replay, const struct sim_request *request, struct sim_list_options *options,
                 struct sim_reply *reply);
void replay_watch(struct replay *replay, const struct sim_request *request, struct sim_list_options *options,
                  struct sim_reply *reply);

/* The open watches, without those that have broken off. These four with the lock held alone. */
size_t replay_watches_open(const struct replay *replay);
/* An event to each. The pod must stay as it is until they are sent. */
void replay_watches_put(struct replay *replay, enum replay_event event, const struct replay_pod *pod);
void replay_watches_send(struct replay *replay);
/* Ends them in good order. */
void replay_watches_end(struct replay *replay);

/* POST /sim/replay/storm. */
void replay_storm(struct replay *replay, const struct sim_request *request, struct sim_reply *reply);
/* POST /sim/replay/... and GET /sim/stats; false when the path is none of these. */
bool replay_steer(struct replay *replay, const struct sim_request *request, struct sim_reply *reply);

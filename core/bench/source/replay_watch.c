/* Watches of the replay source: how they begin, wait and end. What they are sent then is written by those who
 * change pods. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/must.h"
#include "bench/source/replay_internal.h"
#include "sim/object/status.h"

enum { DEFAULT_TIMEOUT_S = 1800 };

struct replay_stream {
    struct sim_stream stream;
    struct replay *replay;
    struct sim_list_options options;
    bool initial_given;
    struct replay_watch watch;
};

static void stream_free(struct sim_stream *stream)
{
    struct replay_stream *s = container_of(stream, struct replay_stream, stream);
    if (s->watch.wake_fd >= 0) close(s->watch.wake_fd);
    sim_list_options_clear(&s->options);
    free(s);
}

/* With the lock. */
static json_t *refuse(const struct replay_stream *s)
{
    const struct sim_list_options *options = &s->options;
    const struct replay_pods *pods = &s->replay->pods;
    if (options->send_initial)
        return options->version > pods->version ? sim_status_too_large(options->version, pods->version)
                                                : NULL;
    return options->version && options->version < pods->oldest
               ? sim_status_too_old(options->version, pods->oldest)
               : NULL;
}

static size_t put_all(struct replay_stream *s)
{
    const struct replay_pods *pods = &s->replay->pods;
    for (size_t i = 0; i < pods->count; i++)
        replay_form_event(&s->watch.out, s->watch.form, REPLAY_ADDED, pods->sorted[i]);
    if (s->options.send_initial && s->options.bookmarks) {
        replay_form_bookmark(&s->watch.out, s->watch.form, &s->replay->served, pods->version);
        sim_count(&s->replay->api.stats.bookmarks, 1);
    }
    return pods->count;
}

/* Sends the changes that the client missed since its version; of several changes of a pod the last one. */
static size_t put_missed(struct replay_stream *s)
{
    const struct replay_pods *pods = &s->replay->pods;
    uint64_t version = s->options.version;
    size_t n;
    if (version >= pods->version) return 0;
    struct replay_pod **missed = replay_pods_since(pods, version, &n);
    for (size_t i = 0; i < n; i++)
        replay_form_event(&s->watch.out, s->watch.form,
                          missed[i]->created > version ? REPLAY_ADDED : REPLAY_MODIFIED, missed[i]);
    replay_out_flush(&s->watch.out);
    free(missed);
    return n;
}

/* Writes what comes first, and is one of the open watches from then on; false when it ends with that. */
static bool begin(struct replay_stream *s)
{
    struct replay *replay = s->replay;
    struct replay_watch *watch = &s->watch;
    size_t events = 0;
    pthread_rwlock_rdlock(&replay->lock);
    json_t *refusal = refuse(s);
    bool given = s->options.version > 0 && !s->options.send_initial;
    if (refusal)
        replay_form_error(&watch->out, watch->form, refusal);
    else if (given)
        events = put_missed(s);
    else if (s->options.send_initial || !s->initial_given)
        events = put_all(s);
    replay_send(replay, &watch->out);
    sim_count(&replay->api.stats.events, events);
    bool open = !refusal && !watch->out.broken;
    if (open) {
        pthread_mutex_lock(&replay->joining);
        TAILQ_INSERT_TAIL(&replay->watches, watch, link);
        pthread_mutex_unlock(&replay->joining);
        atomic_fetch_add(&replay->api.stats.open_watches, 1);
    }
    pthread_rwlock_unlock(&replay->lock);
    return open;
}

/* Until the client goes away, somebody ends the watch, or its time is over; false for the first. */
static bool wait_for_end(const struct replay_stream *s)
{
    int64_t timeout_s = s->options.timeout_s ? s->options.timeout_s : DEFAULT_TIMEOUT_S;
    int64_t deadline_ms = clock_now_ms(clock_real()) + timeout_s * 1000, left_ms;
    struct pollfd fds[] = {{.fd = s->watch.out.fd, .events = POLLRDHUP},
                           {.fd = s->watch.wake_fd, .events = POLLIN}};
    while ((left_ms = deadline_ms - clock_now_ms(clock_real())) > 0) {
        int ready = poll(fds, ARRAY_LEN(fds), (int)(left_ms < 60000 ? left_ms : 60000));
        if (ready > 0) return fds[0].revents == 0;
        if (ready < 0 && errno != EINTR) return false;
    }
    return true;
}

static ssize_t stream_read(struct sim_stream *stream, char *to, size_t room)
{
    struct replay_stream *s = container_of(stream, struct replay_stream, stream);
    struct replay *replay = s->replay;
    if (!begin(s)) return s->watch.out.broken ? SIM_STREAM_BROKEN : SIM_STREAM_END;
    bool good = wait_for_end(s);
    pthread_rwlock_wrlock(&replay->lock);
    TAILQ_REMOVE(&replay->watches, &s->watch, link);
    pthread_rwlock_unlock(&replay->lock);
    atomic_fetch_sub(&replay->api.stats.open_watches, 1);
    return good && !s->watch.out.broken ? SIM_STREAM_END : SIM_STREAM_BROKEN;
}

void replay_watch(struct replay *replay, const struct sim_request *request, struct sim_list_options *options,
                  struct sim_reply *reply)
{
    struct sim_stats *stats = &replay->api.stats;
    struct replay_stream *s = NEW(struct replay_stream);
    s->stream = (struct sim_stream){stream_read, stream_free};
    s->replay = replay;
    s->options = *options;
    s->initial_given = sim_query(request, "sendInitialEvents") != NULL;
    *options = (struct sim_list_options){0};
    s->watch.wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    must(s->watch.wake_fd >= 0);
    replay_out_init(&s->watch.out, request->fd);
    sim_count(s->options.send_initial ? &stats->watch_lists : &stats->watches, 1);
    json_t *refusal;
    if (!replay_form_of(request->accept, false, replay->pods.has_protobuf, &s->watch.form, &refusal)) {
        sim_reply_status(reply, refusal);
        stream_free(&s->stream);
        return;
    }
    reply->code = 200;
    reply->content_type = replay_form_content_type(s->watch.form, true);
    reply->stream = &s->stream;
    reply->live = true;
}

static bool is_open(const struct replay_watch *watch)
{
    return !watch->ended && !watch->out.broken;
}

size_t replay_watches_open(const struct replay *replay)
{
    const struct replay_watch *watch;
    size_t n = 0;
    TAILQ_FOREACH (watch, &replay->watches, link) n += is_open(watch);
    return n;
}

void replay_watches_put(struct replay *replay, enum replay_event event, const struct replay_pod *pod)
{
    struct replay_watch *watch;
    TAILQ_FOREACH (watch, &replay->watches, link) {
        if (!is_open(watch)) continue;
        replay_form_event(&watch->out, watch->form, event, pod);
        sim_count(&replay->api.stats.events, 1);
    }
}

void replay_watches_send(struct replay *replay)
{
    struct replay_watch *watch;
    TAILQ_FOREACH (watch, &replay->watches, link) replay_send(replay, &watch->out);
}

void replay_watches_end(struct replay *replay)
{
    struct replay_watch *watch;
    TAILQ_FOREACH (watch, &replay->watches, link) {
        if (watch->ended) continue;
        watch->ended = true;
        must(eventfd_write(watch->wake_fd, 1) == 0);
    }
}

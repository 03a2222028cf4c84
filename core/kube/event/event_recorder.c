/* Queue of events, and sending them to the server; see event_recorder.h. */
#include "kube/event/event_recorder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/series/series.h"
#include "kube/event/event_correlator.h"
#include "object/pack/pool.h"

FAMILY(family_events, 410, COUNTER, "kubelua_events_total", "result", NULL,
       "Number of Events recorded with k8s.event.");

/* EV-1 */
enum { TRIES_MAX = 12, RETRY_MS = 10000, CALL_TIMEOUT_MS = 30000, COMPLAIN_EVERY_MS = 60000 };

enum outcome { OUTCOME_CREATED, OUTCOME_PATCHED, OUTCOME_HELD_BACK, OUTCOME_FAILED, OUTCOME_DROPPED };

static const char *const outcome_names[] = {
    [OUTCOME_CREATED] = "created", [OUTCOME_PATCHED] = "patched", [OUTCOME_HELD_BACK] = "held back",
    [OUTCOME_FAILED] = "failed",   [OUTCOME_DROPPED] = "dropped",
};

struct event_recorder {
    struct event_recorder_options options;
    struct series *outcomes[ARRAY_LEN(outcome_names)];
    char *instance;
    _Atomic size_t waiting; /* queued, not yet received by the I/O thread */
    bool used;              /* the engine thread's */

    /* The I/O thread's. */
    struct event_correlator *correlator;
    STAILQ_HEAD(, kube_event) queue;
    struct kube_event *current;
    struct event_correlation plan;
    bool is_patch; /* of this try */
    unsigned tries;
    struct object_call *call;
    struct timer retry, timeout;
    uint64_t unsaid; /* failures since the last logged one */
    int64_t complained_ms;
    bool stopping;

    struct mail stop;
    int64_t timeout_ms;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_over; /* under the lock */
};

static const struct resource events = {(char *)"", (char *)"v1", (char *)"events", (char *)"Event", true};

static struct clock *clock_of(const struct event_recorder *recorder)
{
    return recorder->options.clock ? recorder->options.clock : loop_clock(recorder->options.io_loop);
}

static void count(struct event_recorder *recorder, enum outcome outcome)
{
    series_inc(recorder->outcomes[outcome]);
}

/* --- the engine thread */

static void on_put(struct mail *mail);
static void on_retry(struct timer *timer);
static void on_timeout(struct timer *timer);

struct event_recorder *event_recorder_new(const struct event_recorder_options *options)
{
    struct event_recorder *recorder = NEW(struct event_recorder);
    recorder->options = *options;
    for (size_t i = 0; i < ARRAY_LEN(outcome_names); i++)
        recorder->outcomes[i] = SERIES(&family_events, outcome_names[i]);
    recorder->instance = xstrdup(options->instance);
    recorder->correlator = event_correlator_new();
    STAILQ_INIT(&recorder->queue);
    recorder->retry.fn = on_retry;
    recorder->timeout.fn = on_timeout;
    recorder->complained_ms = -COMPLAIN_EVERY_MS;
    pthread_mutex_init(&recorder->lock, NULL);
    pthread_cond_init(&recorder->ended, NULL);
    return recorder;
}

bool event_recorder_put(struct event_recorder *recorder, struct kube_event *event)
{
    /* Counts it before it is posted, so that the limit holds although the other thread removes events. */
    if (atomic_fetch_add(&recorder->waiting, 1) >= EVENT_QUEUE_MAX) {
        atomic_fetch_sub(&recorder->waiting, 1);
        count(recorder, OUTCOME_DROPPED);
        event_free(event);
        return false;
    }
    recorder->used = true;
    event->recorder = recorder;
    event->instance = xstrdup(recorder->instance);
    event->mail.deliver = on_put;
    mailbox_post(loop_mailbox(recorder->options.io_loop), &event->mail);
    return true;
}

/* --- one event at a time, on the I/O thread */

static void send_next(struct event_recorder *recorder);

static void finish(struct event_recorder *recorder, enum outcome outcome)
{
    count(recorder, outcome);
    event_free(recorder->current);
    recorder->current = NULL;
    event_correlation_clear(&recorder->plan);
}

/* Logs a failure once a minute: a server that refuses one Event mostly refuses all. */
static void complain(struct event_recorder *recorder, const struct err *err)
{
    const struct kube_event *event = recorder->current;
    int64_t now_ms = clock_now_ms(clock_of(recorder));
    recorder->unsaid++;
    if (now_ms - recorder->complained_ms < COMPLAIN_EVERY_MS) return;
    log_warn("Failed to write event", F("object", event->about.name), F("namespace", event_namespace(event)),
             F("reason", event->reason), F("err", err->text), FI("events", recorder->unsaid));
    recorder->complained_ms = now_ms;
    recorder->unsaid = 0;
}

static void on_done(void *ctx, const struct object_response *response);

static void send_current(struct event_recorder *recorder)
{
    const struct kube_event *event = recorder->current;
    const struct object_caller *caller = &recorder->options.caller;
    struct buf body = {0};
    if (recorder->is_patch)
        event_patch(event, &recorder->plan, &body);
    else
        event_body(event, &recorder->plan, &body);
    recorder->call = caller->start(caller->ctx,
                                   &(struct object_request){
                                       .verb = recorder->is_patch ? OBJECT_PATCH : OBJECT_CREATE,
                                       .place = {.resource = &events,
                                                 .namespace_ = event_namespace(event),
                                                 .name = recorder->is_patch ? recorder->plan.name : NULL},
                                       .body = buf_slice(&body),
                                       .patch_type = "application/merge-patch+json",
                                       .dry_run = event->is_tried,
                                       .timeout_ms = CALL_TIMEOUT_MS,
                                   },
                                   on_done, recorder);
    buf_clear(&body);
}

/* Returns whether to retry: not after a response of the server, only if it could not be reached (EV-1). */
static bool should_retry(const struct event_recorder *recorder, const struct err *err)
{
    if (err->code == ERR_HTTP || err->code == ERR_INVALID) return false;
    return recorder->tries < TRIES_MAX && !recorder->stopping;
}

/* Returns the delay; the first one is random, so that not all clients that lost a server come back at once
 * (EV-1). */
static int64_t delay_ms(const struct event_recorder *recorder)
{
    if (recorder->tries > 1) return RETRY_MS;
    uint64_t drawn[] = {recorder->options.seed, (uint64_t)recorder->current->time_us};
    return (int64_t)(hash_bytes(drawn, sizeof drawn) % RETRY_MS);
}

static void on_done(void *ctx, const struct object_response *response)
{
    struct event_recorder *recorder = ctx;
    const struct err *err = response->err;
    recorder->call = NULL;
    root_unref(response->object);
    if (err && err->http_status == 404 &&
        recorder->is_patch) { /* the Event expired, so it is created again */
        recorder->is_patch = false;
        send_current(recorder);
        return;
    }
    recorder->tries++;
    if (err && should_retry(recorder, err)) {
        timer_start(&recorder->retry, clock_of(recorder), delay_ms(recorder));
        return;
    }
    /* An earlier try whose response was lost may have created it. */
    bool is_there = err && recorder->tries > 1 && strcmp(err->reason, "AlreadyExists") == 0;
    if (err && !is_there) complain(recorder, err);
    finish(recorder, err && !is_there     ? OUTCOME_FAILED
                     : recorder->is_patch ? OUTCOME_PATCHED
                                          : OUTCOME_CREATED);
    send_next(recorder);
}

static void on_retry(struct timer *timer)
{
    send_current(container_of(timer, struct event_recorder, retry));
}

static void end(struct event_recorder *recorder);

static void send_next(struct event_recorder *recorder)
{
    while (!recorder->current && !STAILQ_EMPTY(&recorder->queue)) {
        struct kube_event *event = STAILQ_FIRST(&recorder->queue);
        STAILQ_REMOVE_HEAD(&recorder->queue, link);
        atomic_fetch_sub(&recorder->waiting, 1);
        recorder->current = event;
        recorder->tries = 0;
        if (event_correlate(recorder->correlator, event, clock_wall_us(clock_of(recorder)),
                            &recorder->plan)) {
            recorder->is_patch = recorder->plan.is_patch;
            send_current(recorder);
        } else {
            finish(recorder, OUTCOME_HELD_BACK);
        }
    }
    if (!recorder->current && recorder->stopping) end(recorder);
}

static void on_put(struct mail *mail)
{
    struct kube_event *event = container_of(mail, struct kube_event, mail);
    struct event_recorder *recorder = event->recorder;
    STAILQ_INSERT_TAIL(&recorder->queue, event, link);
    send_next(recorder);
}

/* --- the end */

/* Ends the recorder; remaining events are dropped and counted as such. */
static void end(struct event_recorder *recorder)
{
    struct kube_event *event;
    timer_cancel(&recorder->retry);
    timer_cancel(&recorder->timeout);
    if (recorder->call) recorder->options.caller.cancel(recorder->call);
    if (recorder->current) finish(recorder, OUTCOME_FAILED);
    while ((event = STAILQ_FIRST(&recorder->queue))) {
        STAILQ_REMOVE_HEAD(&recorder->queue, link);
        count(recorder, OUTCOME_DROPPED);
        event_free(event);
    }
    pthread_mutex_lock(&recorder->lock);
    recorder->is_over = true;
    pthread_cond_signal(&recorder->ended);
    pthread_mutex_unlock(&recorder->lock);
}

static void on_timeout(struct timer *timer)
{
    end(container_of(timer, struct event_recorder, timeout));
}

/* Stops after all queued events, as mail arrives in order. */
static void on_stop(struct mail *mail)
{
    struct event_recorder *recorder = container_of(mail, struct event_recorder, stop);
    recorder->stopping = true;
    if (!recorder->current || timer_running(&recorder->retry))
        end(recorder);
    else
        timer_start(&recorder->timeout, clock_of(recorder), recorder->timeout_ms);
}

void event_recorder_free(struct event_recorder *recorder, int64_t timeout_ms)
{
    if (!recorder) return;
    if (recorder->used) {
        recorder->timeout_ms = timeout_ms;
        recorder->stop.deliver = on_stop;
        mailbox_post(loop_mailbox(recorder->options.io_loop), &recorder->stop);
        pthread_mutex_lock(&recorder->lock);
        while (!recorder->is_over) loop_wait(recorder->options.io_loop, &recorder->ended, &recorder->lock);
        pthread_mutex_unlock(&recorder->lock);
    }
    event_correlator_free(recorder->correlator);
    free(recorder->instance);
    for (size_t i = 0; i < ARRAY_LEN(outcome_names); i++) series_free(recorder->outcomes[i]);
    pthread_mutex_destroy(&recorder->lock);
    pthread_cond_destroy(&recorder->ended);
    free(recorder);
}

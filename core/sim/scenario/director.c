/* Running scenarios; see director.h. */
#include "sim/scenario/director.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"

struct sim_director {
    struct sim_api *api;
    struct sim_pods *pods;
    void (*refuse)(void *ctx, int64_t ms);
    void *ctx;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a run ended, or all are to end */
    size_t running;
    bool stopping;
};

struct run {
    struct sim_director *director;
    struct sim_scenario *scenario;
    struct sim_stage stage;
    struct {
        int64_t due_ms; /* INT64_MAX: nothing to come */
        size_t done;
    } * states; /* one for each step */
    int64_t start_ms;
};

struct sim_director *sim_director_new(struct sim_api *api, struct sim_pods *pods,
                                      void (*refuse)(void *ctx, int64_t ms), void *ctx)
{
    struct sim_director *director = NEW(struct sim_director);
    pthread_condattr_t attributes;
    *director = (struct sim_director){.api = api, .pods = pods, .refuse = refuse, .ctx = ctx};
    pthread_mutex_init(&director->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&director->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return director;
}

static void refuse(void *ctx, int64_t ms)
{
    struct run *run = ctx;
    run->director->refuse(run->director->ctx, ms);
}

/* Waits until `until_ms`, on the monotonic clock; true when everything is to end. */
static bool stopped_until(struct sim_director *director, int64_t until_ms)
{
    struct timespec until = {.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
    pthread_mutex_lock(&director->lock);
    while (!director->stopping && clock_now_ms(clock_real()) < until_ms)
        pthread_cond_timedwait(&director->changed, &director->lock, &until);
    bool stopping = director->stopping;
    pthread_mutex_unlock(&director->lock);
    return stopping;
}

static bool stopped(void *ctx, int64_t wait_ms)
{
    struct run *run = ctx;
    return stopped_until(run->director, clock_now_ms(clock_real()) + wait_ms);
}

static struct run *run_new(struct sim_director *director, struct sim_scenario *scenario)
{
    struct run *run = NEW(struct run);
    run->director = director;
    run->scenario = scenario;
    run->stage = (struct sim_stage){.api = director->api,
                                    .pods = director->pods,
                                    .random = sim_random_seed(scenario->seed, 0),
                                    .refuse = refuse,
                                    .stopped = stopped,
                                    .ctx = run};
    run->start_ms = clock_now_ms(clock_real());
    run->states = xcalloc(scenario->count + 1, sizeof *run->states);
    for (size_t i = 0; i < scenario->count; i++)
        run->states[i].due_ms = run->start_ms + scenario->steps[i].at_ms;
    return run;
}

static void run_free(struct run *run)
{
    sim_scenario_free(run->scenario);
    free(run->states);
    free(run);
}

/* Performs one repetition and schedules the next: counted from the time at which this one was due, so that a
 * slow step does not delay all later ones. */
static bool perform(struct run *run, size_t i, struct err *err)
{
    const struct sim_step *step = &run->scenario->steps[i];
    size_t n = run->states[i].done++;
    bool more = step->count == 0 || run->states[i].done < step->count;
    run->states[i].due_ms = more ? run->states[i].due_ms + step->every_ms : INT64_MAX;
    return step->verb->run(&run->stage, step, n, err) ||
           err_wrap(err, "step %zu (%s)", step->number, step->verb->name);
}

/* Finds the step that is due first; the earlier one in the file among equals. Returns false if none is left.
 */
static bool first_due(const struct run *run, size_t *first)
{
    int64_t due_ms = INT64_MAX;
    for (size_t i = 0; i < run->scenario->count; i++) {
        if (run->states[i].due_ms >= due_ms) continue;
        due_ms = run->states[i].due_ms;
        *first = i;
    }
    return due_ms != INT64_MAX;
}

static void *perform_all(void *ctx)
{
    struct run *run = ctx;
    struct sim_director *director = run->director;
    size_t i;
    while (first_due(run, &i) && !stopped_until(director, run->states[i].due_ms)) {
        struct err err;
        if (!perform(run, i, &err)) log_warn("Scenario step failed", F("error", err.text));
    }
    run_free(run);
    pthread_mutex_lock(&director->lock);
    director->running--;
    pthread_cond_broadcast(&director->changed);
    pthread_mutex_unlock(&director->lock);
    return NULL;
}

static void start_thread(struct run *run)
{
    struct sim_director *director = run->director;
    pthread_t thread;
    sigset_t all, before;
    pthread_mutex_lock(&director->lock);
    director->running++;
    pthread_mutex_unlock(&director->lock);
    sigfillset(&all); /* signals go to the loop's thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    must(pthread_create(&thread, NULL, perform_all, run) == 0);
    pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool sim_director_run(struct sim_director *director, struct sim_scenario *scenario, struct err *err)
{
    struct run *run = run_new(director, scenario);
    size_t next;
    bool ok = true;
    for (size_t i = 0; ok && i < scenario->count; i++) {
        const struct sim_step *step = &scenario->steps[i];
        bool at_once = step->at_ms == 0 && step->every_ms == 0 && step->count > 0;
        while (ok && at_once && run->states[i].due_ms != INT64_MAX) ok = perform(run, i, err);
    }
    if (ok && first_due(run, &next))
        start_thread(run);
    else
        run_free(run);
    return ok;
}

size_t sim_director_running(struct sim_director *director)
{
    pthread_mutex_lock(&director->lock);
    size_t running = director->running;
    pthread_mutex_unlock(&director->lock);
    return running;
}

void sim_director_stop(struct sim_director *director)
{
    pthread_mutex_lock(&director->lock);
    director->stopping = true;
    pthread_cond_broadcast(&director->changed);
    while (director->running) pthread_cond_wait(&director->changed, &director->lock);
    pthread_mutex_unlock(&director->lock);
}

void sim_director_free(struct sim_director *director)
{
    if (!director) return;
    sim_director_stop(director);
    pthread_cond_destroy(&director->changed);
    pthread_mutex_destroy(&director->lock);
    free(director);
}

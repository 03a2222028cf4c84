/* Saving; see saver.h. */
#include "sim/store/saver.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "sim/store/state.h"

/* A large store takes seconds to write: between two saves there is more time, the longer one takes. */
enum { PAUSE_MS = 1000, PAUSE_FACTOR = 10 };

struct sim_saver {
    struct loop *loop;
    struct sim_store *store;
    const char *path;
    struct timer timer;
    struct waker *done;
    pthread_t thread;
    bool is_saving, has_failed;
    uint64_t saved_version;
    int64_t began_ms;
    /* The thread's, while it runs. */
    struct sim_state *state;
    bool ok;
    struct err err;
};

static void write_state(struct sim_saver *saver)
{
    saver->ok = sim_state_write(saver->state, saver->path, &saver->err);
}

static void *on_thread(void *ctx)
{
    struct sim_saver *saver = ctx;
    write_state(saver);
    waker_wake(saver->done);
    return NULL;
}

/* One line when it begins to fail, and one when it works again. */
static void finish(struct sim_saver *saver)
{
    if (saver->ok) saver->saved_version = sim_state_version(saver->state);
    if (!saver->ok && !saver->has_failed) log_warn("Failed to save the state", F("error", saver->err.text));
    if (saver->ok && saver->has_failed) log_info("Saved the state again", F("file", saver->path));
    saver->has_failed = !saver->ok;
    sim_state_free(saver->state, saver->store);
    saver->state = NULL;
}

static bool has_changed(struct sim_saver *saver)
{
    sim_store_lock(saver->store);
    bool changed = saver->store->version != saver->saved_version;
    sim_store_unlock(saver->store);
    return changed;
}

static void on_timer(struct timer *timer)
{
    struct sim_saver *saver = container_of(timer, struct sim_saver, timer);
    if (!has_changed(saver)) {
        timer_start(timer, loop_clock(saver->loop), PAUSE_MS);
        return;
    }
    saver->began_ms = clock_now_ms(loop_clock(saver->loop));
    saver->state = sim_state_take(saver->store);
    saver->is_saving = true;
    must(pthread_create(&saver->thread, NULL, on_thread, saver) == 0);
}

static void join(struct sim_saver *saver)
{
    pthread_join(saver->thread, NULL);
    saver->is_saving = false;
    finish(saver);
}

static void on_done(void *ctx)
{
    struct sim_saver *saver = ctx;
    join(saver);
    int64_t took_ms = clock_now_ms(loop_clock(saver->loop)) - saver->began_ms;
    int64_t pause_ms = took_ms * PAUSE_FACTOR;
    timer_start(&saver->timer, loop_clock(saver->loop), pause_ms > PAUSE_MS ? pause_ms : PAUSE_MS);
}

struct sim_saver *sim_saver_new(struct loop *loop, struct sim_store *store, const char *path, bool is_saved)
{
    struct sim_saver *saver = NEW(struct sim_saver);
    *saver = (struct sim_saver){.loop = loop, .store = store, .path = path, .timer.fn = on_timer};
    if (is_saved) saver->saved_version = store->version;
    saver->done = waker_new(loop, on_done, saver);
    timer_start(&saver->timer, loop_clock(loop), PAUSE_MS);
    return saver;
}

void sim_saver_free(struct sim_saver *saver)
{
    if (!saver) return;
    timer_cancel(&saver->timer);
    if (saver->is_saving) join(saver);
    if (has_changed(saver)) {
        saver->state = sim_state_take(saver->store);
        write_state(saver);
        finish(saver);
    }
    waker_free(saver->done);
    free(saver);
}

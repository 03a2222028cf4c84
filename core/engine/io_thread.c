/* The I/O thread; see io_thread.h. */
#include "engine/io_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "kube/api/packers.h"
#include "net/lending.h"
#include "object/pack/pool.h"

/* Objects released by the engine thread wait at most this long for their memory to be reused. */
enum { DRAIN_DELAY_MS = 5 };

struct io_thread {
    pthread_t thread;
    bool running;
    struct loop *loop;
    struct lending *lending; /* of its turns to the engine thread; NULL: it keeps them */
    bool is_alone;           /* the loop is its own */
    struct io_thread *first; /* whose loop and pool it uses; NULL: its own */
    struct pool *pool;
    struct packers *packers; /* NULL: it packs by itself */
    struct kube_client *client;
    struct waker *released; /* the pool's release queue is no longer empty */
    struct timer drain;
    struct mail begun;
    _Atomic bool turns; /* the thread has begun its loop */
};

static void on_drain(struct timer *timer)
{
    struct io_thread *io = container_of(timer, struct io_thread, drain);
    pool_drain(io->pool);
    packers_drain(io->packers);
}

/* A delay joins the releases of a storm into few drains. */
static void on_released(void *ctx)
{
    struct io_thread *io = ctx;
    if (!timer_running(&io->drain)) timer_start(&io->drain, loop_clock(io->loop), DRAIN_DELAY_MS);
}

static void wake_drain(void *ctx)
{
    struct io_thread *io = ctx;
    waker_wake(io->released);
}

struct io_thread *io_thread_new(const struct kube_client_options *options, struct loop *loop,
                                struct pool *stored, unsigned packers, struct err *err)
{
    struct io_thread *io = NEW(struct io_thread);
    io->is_alone = !loop;
    io->loop = loop ? loop : loop_new();
    io->drain.fn = on_drain;
    if (io->is_alone) io->released = waker_new(io->loop, on_released, io);
    const struct pool_options pool = {.released = io->is_alone ? wake_drain : NULL, .ctx = io};
    io->pool = stored ? stored : pool_new(&pool);
    if (stored) pool_set_options(stored, &pool);
    if (packers > 0) io->packers = packers_new(io->loop, packers, &pool);
    struct kube_client_options own = *options;
    own.packers = io->packers;
    io->client = kube_client_new(io->loop, io->pool, &own, err);
    if (io->client) return io;
    if (stored) io->pool = NULL; /* still the caller's, with its objects */
    io_thread_free(io);
    return NULL;
}

/* A call that the engine thread waits for. */
struct io_call {
    struct mail mail;
    void (*fn)(void *ctx);
    void *ctx;
    pthread_mutex_t lock;
    pthread_cond_t returned;
    bool done;
};

static void on_call(struct mail *mail)
{
    struct io_call *call = container_of(mail, struct io_call, mail);
    call->fn(call->ctx);
    pthread_mutex_lock(&call->lock);
    call->done = true;
    pthread_cond_signal(&call->returned);
    pthread_mutex_unlock(&call->lock);
}

void io_thread_call(struct io_thread *io, void (*fn)(void *ctx), void *ctx)
{
    const struct io_thread *thread = io->first ? io->first : io;
    struct io_call call = {.mail.deliver = on_call, .fn = fn, .ctx = ctx};
    if (!thread->running) {
        fn(ctx);
        return;
    }
    pthread_mutex_init(&call.lock, NULL);
    pthread_cond_init(&call.returned, NULL);
    lending_hold(thread->lending);
    mailbox_post(loop_mailbox(io->loop), &call.mail);
    pthread_mutex_lock(&call.lock);
    while (!call.done) pthread_cond_wait(&call.returned, &call.lock);
    pthread_mutex_unlock(&call.lock);
    lending_let_go(thread->lending);
    pthread_mutex_destroy(&call.lock);
    pthread_cond_destroy(&call.returned);
}

struct client_joining {
    struct io_thread *io;
    const struct kube_client_options *options;
    struct err *err;
};

static void make_client(void *ctx)
{
    struct client_joining *joining = ctx;
    struct io_thread *io = joining->io;
    struct kube_client_options own = *joining->options;
    own.packers = io->first->packers;
    io->client = kube_client_new(io->loop, io->pool, &own, joining->err);
}

static void free_client(void *ctx)
{
    struct io_thread *io = ctx;
    kube_client_free(io->client);
    io->client = NULL;
}

struct io_thread *io_thread_join(struct io_thread *first, const struct kube_client_options *options,
                                 struct err *err)
{
    struct io_thread *io = NEW(struct io_thread);
    *io = (struct io_thread){.loop = first->loop, .pool = first->pool, .first = first};
    io_thread_call(io, make_client, &(struct client_joining){io, options, err});
    if (io->client) return io;
    free(io);
    return NULL;
}

static void *run(void *arg)
{
    struct io_thread *io = arg;
    if (io->lending) {
        lending_run(io->lending);
        return NULL;
    }
    pool_adopt(io->pool);
    loop_run(io->loop);
    return NULL;
}

static void enter(void *ctx)
{
    pool_adopt(((struct io_thread *)ctx)->pool);
}

/* Leaves the pool to nobody: between turns the engine thread releases objects by way of the queue. */
static void leave(void *ctx)
{
    pool_leave(((struct io_thread *)ctx)->pool);
}

void io_thread_lend_to(struct io_thread *io, struct loop *engine_loop)
{
    must(!io->running);
    if (!io->is_alone || io->lending) return;
    io->lending = lending_new(&(const struct lending_options){
        .lender = io->loop, .borrower = engine_loop, .enter = enter, .leave = leave, .ctx = io});
}

void io_thread_lend(struct io_thread *io, bool lends)
{
    if (lends)
        lending_let_go(io->lending);
    else
        lending_hold(io->lending);
}

static void on_begun(struct mail *mail)
{
    atomic_store(&container_of(mail, struct io_thread, begun)->turns, true);
}

void io_thread_start(struct io_thread *io)
{
    sigset_t all, before;
    io->begun.deliver = on_begun;
    mailbox_post(loop_mailbox(io->loop), &io->begun);
    packers_start(io->packers); /* first: the I/O thread reads how many threads there are */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    must(pthread_create(&io->thread, NULL, run, io) == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    io->running = true;
}

void io_thread_stop(struct io_thread *io)
{
    if (!io->running) return;
    loop_stop(io->loop);
    pthread_join(io->thread, NULL);
    packers_stop(io->packers);
    pool_adopt(io->pool);
    io->running = false;
}

void io_thread_free(struct io_thread *io)
{
    if (!io) return;
    must(!io->running);
    lending_free(io->lending);
    io->lending = NULL;
    if (io->client) io_thread_call(io, free_client, io);
    timer_cancel(&io->drain);
    if (io->pool && !io->first) {
        pool_drain(io->pool);
        pool_free(io->pool);
    }
    packers_free(io->packers);
    waker_free(io->released);
    if (io->is_alone) loop_free(io->loop);
    free(io);
}

void io_thread_drain(struct io_thread *io)
{
    pool_drain(io->pool);
    packers_drain(io->packers);
}

bool io_thread_quiesce(struct io_thread *io, int max_ms)
{
    if (!loop_quiesce(io->loop, max_ms)) return false;
    packers_hold(io->packers);
    return true;
}

void io_thread_let_go(struct io_thread *io)
{
    packers_let_go(io->packers);
    loop_let_go(io->loop);
}

bool io_thread_borrow_pools(struct io_thread *io, int max_ms, struct io_pools *pools)
{
    must(!io->first);
    /* A thread that begins takes the pool before it can be held. */
    if (io->running && !atomic_load(&io->turns)) return false;
    /* A loop that is the engine's is not waited for: it is on this thread. */
    if (io->is_alone && !loop_quiesce(io->loop, max_ms)) return false;
    packers_hold(io->packers);
    pools->count = 1 + packers_count(io->packers);
    for (size_t i = 0; i < pools->count; i++) {
        pools->pool[i] = i == 0 ? io->pool : packers_pool(io->packers, (unsigned)i - 1);
        pools->owner[i] = pool_borrow(pools->pool[i]);
    }
    return true;
}

void io_thread_return_pools(struct io_thread *io, struct io_pools *pools)
{
    for (size_t i = 0; i < pools->count; i++) pool_return(pools->pool[i], pools->owner[i]);
    packers_let_go(io->packers);
    if (io->is_alone) loop_let_go(io->loop);
}

struct loop *io_thread_loop(struct io_thread *io)
{
    return io->loop;
}

struct pool *io_thread_pool(struct io_thread *io)
{
    return io->pool;
}

struct kube_client *io_thread_client(struct io_thread *io)
{
    return io->client;
}

/* pack PACKERS PODS ROUNDS (`./dev bench pack`): from the bytes of watches to objects, without a server: what
 * the I/O thread and its packers do. The last state of each object is kept, as a store would; an engine
 * thread takes them out of the queue and discards them. Prints a line for the first watch-list, one for the
 * same once more, and one for the updates: objects per second of wall time, CPU of all threads for one
 * object, and bytes in the pools. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/must.h"
#include "informer/reflect/delta_fifo.h"
#include "kube/api/stream.h"
#include "pods.h"

enum {
    READ = 16 << 10, /* bytes that the network gives at once */
    READS = 64,      /* of one turn of the loop */
    BATCH = 64,
    OBJECT_MAX = 1 << 20,
    SEED = 20260102,
};

struct bench {
    struct guard_pods pods;
    struct loop *loop, *engine_loop;
    struct waker *waker; /* of the engine thread */
    struct prepare *prepare;
    struct delta_fifo *fifo;
    struct pool *pool;
    struct packer *packer;
    struct tape_parser *parser;
    struct packers *packers;
    struct root **held;
    size_t next;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t taken; /* by the engine thread; guarded by `lock` */
};

/* --- the engine thread */

static void take(struct bench *b)
{
    struct delta *batch;
    size_t count, taken = 0;
    while ((count = delta_fifo_take(b->fifo, BATCH, &batch)) > 0) {
        delta_fifo_release(b->fifo, batch, count);
        taken += count;
    }
    pthread_mutex_lock(&b->lock);
    b->taken += taken;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

static void on_wake(void *ctx)
{
    take(ctx);
}

static void *run_engine(void *arg)
{
    loop_run(arg);
    return NULL;
}

/* As a feed does: once for a turn of the loop, or when many wait. */
static void on_ready(void *ctx)
{
    prepare_call(((struct bench *)ctx)->prepare);
}

static void on_many(void *ctx)
{
    waker_wake(((struct bench *)ctx)->waker);
}

/* --- the I/O thread */

static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us)
{
    struct bench *b = ctx;
    struct root *before = b->held[b->next];
    b->held[b->next] = root_ref(object);
    b->next = (b->next + 1) % b->pods.count;
    root_unref(before);
    delta_fifo_add(b->fifo, type == LW_ADDED ? DELTA_ADDED : DELTA_UPDATED, object, received_us);
}

static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark) {}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    fprintf(stderr, "pack: refused: %s\n", refusal->err->text);
    exit(1);
}

struct receiving {
    struct stream *stream;
};

static void on_packed(void *ctx)
{
    const struct receiving *receiving = ctx;
    must(stream_deliver(receiving->stream, NULL));
}

static void receive(struct bench *b, const struct buf *body)
{
    static const struct lw_sink sink = {.event = on_event, .bookmark = on_bookmark, .refused = on_refused};
    struct receiving receiving;
    struct err err;
    receiving.stream = watch_stream_new(&(struct stream_options){.packer = b->packer,
                                                                 .parser = b->parser,
                                                                 .max_object_size = OBJECT_MAX,
                                                                 .type = {STR("v1"), STR("Pod")},
                                                                 .sink = &sink,
                                                                 .ctx = b,
                                                                 .packers = b->packers,
                                                                 .ready = on_packed,
                                                                 .ready_ctx = &receiving});
    size_t reads = 0;
    for (size_t at = 0; at < body->len; at += READ) {
        size_t n = body->len - at < READ ? body->len - at : READ;
        must(stream_feed(receiving.stream, body->data + at, n, 0, &err));
        if (++reads % READS) continue;
        loop_once(b->loop, false);
        pool_drain(b->pool);
        packers_drain(b->packers);
    }
    must(stream_end(receiving.stream, &err));
    stream_free(receiving.stream);
    loop_once(b->loop, false);
    pthread_mutex_lock(&b->lock);
    while (b->taken < b->pods.count) pthread_cond_wait(&b->changed, &b->lock);
    b->taken = 0;
    pthread_mutex_unlock(&b->lock);
}

static int64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void print(const struct bench *b, const char *name, int64_t wall, int64_t cpu, size_t objects)
{
    size_t used = pool_stats(b->pool).used_bytes + packers_used_bytes(b->packers);
    printf("%s packers=%u objects/s=%.0f wall_us=%.2f cpu_us=%.2f bytes/object=%.0f\n", name,
           b->packers ? packers_count(b->packers) : 1, (double)objects * 1e9 / (double)wall,
           (double)wall / 1e3 / (double)objects, (double)cpu / 1e3 / (double)objects,
           (double)used / (double)b->pods.count);
}

static void measure(struct bench *b, const char *name, const struct buf *body, size_t rounds)
{
    int64_t wall = 0, cpu = 0;
    for (size_t i = 0; i < rounds; i++) {
        if (body == &b->pods.modified) guard_pods_advance(&b->pods);
        int64_t wall_from = wall_ns(), cpu_from = cpu_ns();
        receive(b, body);
        wall += wall_ns() - wall_from;
        cpu += cpu_ns() - cpu_from;
    }
    print(b, name, wall, cpu, b->pods.count * rounds);
}

static void open_bench(struct bench *b, unsigned packers, size_t pods)
{
    hash_set_seed(SEED);
    guard_pods_init(&b->pods, pods);
    b->held = xcalloc(pods, sizeof(struct root *));
    b->loop = loop_new();
    b->engine_loop = loop_new();
    b->waker = waker_new(b->engine_loop, on_wake, b);
    b->prepare = prepare_new(b->loop, on_many, b);
    b->fifo = delta_fifo_new(NULL, NULL);
    delta_fifo_set_ready(b->fifo, on_ready, on_many, b);
    delta_fifo_set_mark(b->fifo, SIZE_MAX);
    b->pool = pool_new(NULL);
    b->packer = packer_new(b->pool);
    b->parser = tape_parser_new();
    if (packers > 1) b->packers = packers_new(b->loop, packers, NULL);
    packers_start(b->packers);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
}

int main(int argc, char **argv)
{
    static struct bench b;
    pthread_t engine;
    if (argc != 4) {
        fprintf(stderr, "Usage: %s PACKERS PODS ROUNDS\n", argv[0]);
        return 2;
    }
    open_bench(&b, (unsigned)strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10));
    must(pthread_create(&engine, NULL, run_engine, b.engine_loop) == 0);
    measure(&b, "sync", &b.pods.added, 1);
    measure(&b, "relist", &b.pods.added, 1);
    measure(&b, "update", &b.pods.modified, strtoul(argv[3], NULL, 10));
    loop_stop(b.engine_loop);
    pthread_join(engine, NULL);
    packers_stop(b.packers);
    return 0;
}

/* core/kube/api/packers: streams with packers deliver what streams without them do, in the same order,
 * whoever packs. Made for ThreadSanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "base/time/backoff.h"
#include "kube/api/stream.h"
#include "object/value/json.h"
#include "object/value/value.h"

enum { PACKERS = 3, STREAMS = 3, ROUNDS = 40, EVENTS = 150, SHELF = 64, OBJECT_MAX = 1 << 20 };

struct world {
    struct loop *loop;
    struct packers *packers;
    struct pool *pool;
    struct packer *packer;
    struct tape_parser *parser;
    struct jitter dice;
    bool is_odd;
    pthread_mutex_t lock; /* of the shelf */
    struct root *shelf[SHELF];
    _Atomic bool over;
};

/* All that one stream says. */
struct ear {
    struct world *world;
    struct stream *stream;
    struct buf log;
    bool ended;
};

static uint32_t below(struct world *world, uint32_t bound)
{
    return (uint32_t)(jitter_next(&world->dice) % bound);
}

/* --- the sink */

/* Another thread releases it. */
static void shelve(struct world *world, struct root *object)
{
    size_t at = below(world, SHELF);
    pthread_mutex_lock(&world->lock);
    struct root *before = world->shelf[at];
    world->shelf[at] = object;
    pthread_mutex_unlock(&world->lock);
    root_unref(before);
}

static void hear(struct ear *ear, const char *what, struct root *object)
{
    buf_printf(&ear->log, "%s ", what);
    json_write(&ear->log, root_value(object));
    buf_putc(&ear->log, '\n');
    shelve(ear->world, object);
}

static void on_item(void *ctx, struct root *object)
{
    hear(ctx, "item", object);
}

static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us)
{
    static const char *const names[] = {"added", "modified", "deleted"};
    assert_int_equal(received_us, 77);
    hear(ctx, names[type], object);
}

static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark)
{
    buf_printf(&((struct ear *)ctx)->log, "bookmark %.*s\n", STR_ARG(bookmark->resource_version));
}

static void on_list_end(void *ctx, const struct lw_list_meta *meta)
{
    buf_printf(&((struct ear *)ctx)->log, "end %.*s\n", STR_ARG(meta->resource_version));
}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    buf_printf(&((struct ear *)ctx)->log, "refused %s\n", refusal->err->text);
}

static const struct lw_sink sink = {.item = on_item,
                                    .list_end = on_list_end,
                                    .event = on_event,
                                    .bookmark = on_bookmark,
                                    .refused = on_refused};

static void note_end(struct ear *ear, bool ok, const struct err *err)
{
    if (ok || ear->ended) return;
    ear->ended = true;
    buf_printf(&ear->log, "ended: %s\n", err->text);
}

static void on_packed(void *ctx)
{
    struct ear *ear = ctx;
    struct err err;
    bool ok = stream_deliver(ear->stream, &err);
    note_end(ear, ok, &err);
}

static void open_ear(struct ear *ear, struct world *world, bool watch, struct packers *packers)
{
    const struct stream_options options = {.packer = world->packer,
                                           .parser = world->parser,
                                           .max_object_size = OBJECT_MAX,
                                           .type = {STR("v1"), STR("Pod")},
                                           .sink = &sink,
                                           .ctx = ear,
                                           .packers = packers,
                                           .ready = on_packed,
                                           .ready_ctx = ear,
                                           .is_odd = &world->is_odd};
    *ear = (struct ear){.world = world};
    ear->stream = watch ? watch_stream_new(&options) : list_stream_new(&options);
}

static void feed(struct ear *ear, struct str bytes)
{
    struct err err;
    if (ear->ended) return;
    char *exact = xmalloc(bytes.n); /* so that reading beyond it is found */
    memcpy(exact, bytes.p, bytes.n);
    bool ok = stream_feed(ear->stream, exact, bytes.n, 77, &err);
    free(exact);
    note_end(ear, ok, &err);
}

static void end(struct ear *ear)
{
    struct err err;
    if (ear->ended) return;
    bool ok = stream_end(ear->stream, &err);
    note_end(ear, ok, &err);
}

/* --- what a server sends */

static void put_pod(struct world *world, struct buf *out, bool of_list)
{
    uint32_t group = below(world, 5), number = below(world, 4);
    buf_printf(out,
               "{%s\"metadata\":{\"name\":\"web-%u-%u\",\"generateName\":\"web-%u-\",\"namespace\":\"shop\","
               "\"uid\":\"0b6f%04u-0000-4000-8000-00000000000%u\",\"resourceVersion\":\"%u\","
               "\"labels\":{\"app\":\"a-web-shop\",\"tier\":\"a-tier-of-many-letters\"}},"
               "\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"registry.example.com/web:%u\","
               "\"args\":[\"--with-a-rather-long-argument\",\"%u\"]}]},\"status\":{\"phase\":\"Running\"}}",
               of_list ? "" : "\"kind\":\"Pod\",\"apiVersion\":\"v1\",", group, number, group, group, number,
               below(world, 1000), group, group);
}

/* Mostly an event in a line; at times what packers cannot take. */
static void put_event(struct world *world, struct buf *out)
{
    static const char *const odd[] = {
        "{\"type\":\"ADDED\",\"object\":{}}\n",
        "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
        "\"x\"},"
        "\"n\":01}}\n",
        "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
        "\"x\"}}}\n",
        "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"7\"}}}\n",
        "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"y\"}"
        "}}"
        "{\"type\":\"DELETED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
        "\"y\"}}}\n",
        "{\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"z\"}},\"type\":"
        "\"ADDED\"}\n",
    };
    static const char *const types[] = {"ADDED", "MODIFIED", "DELETED"};
    if (below(world, 12) == 0) {
        buf_puts(out, odd[below(world, sizeof odd / sizeof *odd)]);
        return;
    }
    buf_printf(out, "{\"type\":\"%s\",\"object\":", types[below(world, 3)]);
    put_pod(world, out, false);
    buf_puts(out, "}\n");
}

static void put_watch(struct world *world, struct buf *out)
{
    for (int i = 0; i < EVENTS; i++) put_event(world, out);
    if (below(world, 4) == 0) buf_puts(out, "{\"type\":\"ADDED\",\"object\":{");
}

static void put_list(struct world *world, struct buf *out)
{
    bool late = below(world, 2); /* type and version behind the items */
    buf_puts(out, late ? "{\"items\":[" : "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[");
    for (int i = 0; i < EVENTS; i++) {
        if (i > 0) buf_putc(out, ',');
        if (below(world, 20) == 0)
            buf_puts(out, "{\"metadata\":{}}");
        else
            put_pod(world, out, true);
    }
    buf_printf(out, "]%s,\"metadata\":{\"resourceVersion\":\"9\"}}",
               late ? ",\"kind\":\"PodList\",\"apiVersion\":\"v1\"" : "");
}

/* --- together */

static void *release(void *arg)
{
    struct world *world = arg;
    for (size_t at = 0; !atomic_load(&world->over); at = (at + 1) % SHELF) {
        pthread_mutex_lock(&world->lock);
        struct root *object = world->shelf[at];
        world->shelf[at] = NULL;
        pthread_mutex_unlock(&world->lock);
        root_unref(object);
        if (at == 0) sched_yield();
    }
    return NULL;
}

/* While all packers are held their pools do not change. */
static void *hold(void *arg)
{
    struct world *world = arg;
    const struct timespec pause = {.tv_nsec = 200000};
    while (!atomic_load(&world->over)) {
        packers_hold(world->packers);
        size_t bytes = packers_used_bytes(world->packers);
        sched_yield();
        bool same = packers_used_bytes(world->packers) == bytes;
        packers_let_go(world->packers);
        if (!same) abort();
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void turn(struct world *world)
{
    loop_once(world->loop, false);
    packers_drain(world->packers);
    pool_drain(world->pool);
}

/* Feeds all of them at once, each in pieces of its own. */
static void feed_all(struct world *world, struct ear *ears, const struct buf *texts)
{
    size_t at[STREAMS] = {0}, left = STREAMS;
    while (left > 0) {
        left = 0;
        for (size_t i = 0; i < STREAMS; i++) {
            size_t rest = texts[i].len - at[i], n = 1 + below(world, 8000);
            if (n > rest) n = rest;
            feed(&ears[i], (struct str){texts[i].data + at[i], n});
            at[i] += n;
            left += at[i] < texts[i].len;
        }
        if (below(world, 12) == 0) turn(world);
    }
}

static void run_round(struct world *world, bool cut)
{
    struct buf texts[STREAMS] = {0};
    struct ear plain, ears[STREAMS];
    for (size_t i = 0; i < STREAMS; i++) {
        (i == 0 ? put_list : put_watch)(world, &texts[i]);
        open_ear(&ears[i], world, i > 0, world->packers);
    }
    feed_all(world, ears, texts);
    for (size_t i = 0; i < STREAMS; i++) {
        open_ear(&plain, world, i > 0, NULL);
        feed(&plain, buf_slice(&texts[i]));
        end(&plain);
        if (!cut) end(&ears[i]);
        size_t n = cut ? ears[i].log.len : plain.log.len;
        assert_true(n <= plain.log.len && n == ears[i].log.len);
        assert_int_equal(n > 0 ? memcmp(plain.log.data, ears[i].log.data, n) : 0, 0);
        stream_free(plain.stream);
        stream_free(ears[i].stream);
        buf_clear(&plain.log);
        buf_clear(&ears[i].log);
        buf_clear(&texts[i]);
    }
}

static int setup(void **state)
{
    struct world *world = NEW(struct world);
    const char *seed = getenv("SEED");
    world->dice.state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    print_message("SEED=%llu\n", (unsigned long long)world->dice.state);
    world->loop = loop_new();
    world->pool = pool_new(NULL);
    world->packer = packer_new(world->pool);
    world->parser = tape_parser_new();
    world->packers = packers_new(world->loop, PACKERS, NULL);
    pthread_mutex_init(&world->lock, NULL);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    for (size_t i = 0; i < SHELF; i++) root_unref(world->shelf[i]);
    packers_stop(world->packers);
    packers_free(world->packers);
    packer_free(world->packer);
    tape_parser_free(world->parser);
    pool_free(world->pool);
    loop_free(world->loop);
    pthread_mutex_destroy(&world->lock);
    free(world);
    return 0;
}

static void test_the_order_is_that_of_the_bytes(void **state)
{
    struct world *world = *state;
    pthread_t releaser, holder;
    packers_start(world->packers);
    pthread_create(&releaser, NULL, release, world);
    pthread_create(&holder, NULL, hold, world);
    for (int i = 0; i < ROUNDS; i++) run_round(world, i % 4 == 3);
    atomic_store(&world->over, true);
    pthread_join(releaser, NULL);
    pthread_join(holder, NULL);
    assert_true(metric_get(&metric_packed_elsewhere) > 0);
}

/* Few texts are packed at the end of the turn on the I/O thread; without threads all are. */
static void test_without_threads_the_loop_packs(void **state)
{
    struct world *world = *state;
    run_round(world, false);
    struct ear ear;
    struct buf text = {0};
    open_ear(&ear, world, true, world->packers);
    for (int i = 0; i < EVENTS; i++) put_event(world, &text);
    feed(&ear, buf_slice(&text));
    while (!ear.ended && packers_under_way(world->packers) > 0) loop_once(world->loop, true);
    assert_true(ear.log.len > 0);
    stream_free(ear.stream);
    buf_clear(&ear.log);
    buf_clear(&text);
}

/* No server writes such an event. The watch that resumes has no packers, and takes it. */
static void test_an_event_that_looks_whole_in_its_first_line_ends_the_stream(void **state)
{
    struct world *world = *state;
    static const char text[] =
        "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":"
        "{\"name\":\"a\",\"labels\":{\"a\":\"b\"}}\n}}\n";
    struct ear ear;
    packers_start(world->packers);
    open_ear(&ear, world, true, world->packers);
    feed(&ear, STR(text));
    end(&ear);
    assert_true(ear.ended && world->is_odd);
    assert_non_null(strstr(buf_text(&ear.log), "unexpected EOF"));
    stream_free(ear.stream);
    buf_clear(&ear.log);
    open_ear(&ear, world, true, NULL);
    feed(&ear, STR(text));
    end(&ear);
    assert_true(!ear.ended && strstr(buf_text(&ear.log), "added {"));
    stream_free(ear.stream);
    buf_clear(&ear.log);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_the_order_is_that_of_the_bytes),
        T(test_without_threads_the_loop_packs),
        T(test_an_event_that_looks_whole_in_its_first_line_ends_the_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

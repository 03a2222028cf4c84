/* core/informer/live/live_client.c and live_client_io.c with the I/O half on a thread of its own: answers, a
 * slow reader, reads that are closed at any moment. Meant to run under ThreadSanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/mem.h"
#include "base/time/backoff.h"
#include "core/informer/support/growing_text.h"
#include "core/informer/support/objects.h"
#include "informer/live/live_client.h"
#include "informer/live/live_client_internal.h"
#include "object/value/value.h"

enum { EVENTS = 3000, BURST = 40, PAGES = 4, PAGE = 3, ROUNDS = 3000, OPEN = 8 };

/* --- a server on the I/O thread: watches count upwards, lists have PAGES pages, every third name is unknown
 */

struct lw_call {
    struct loop *loop;
    struct lw_sink sink;
    void *ctx;
    struct timer timer;
    int version, page;
    bool paused;
};

struct source {
    struct list_watch base;
    struct loop *loop;
};

static struct root *make(int version)
{
    char text[48];
    snprintf(text, sizeof text, "n/k@%d", version);
    return object(text);
}

static void finish(struct lw_call *call, const struct err *err)
{
    call->sink.done(call->ctx, err);
    free(call);
}

static void list_page(struct timer *timer)
{
    struct lw_call *call = container_of(timer, struct lw_call, timer);
    char token[16] = "";
    for (int i = 0; i < PAGE; i++) call->sink.item(call->ctx, make(call->page * PAGE + i + 1));
    if (call->page + 1 < PAGES) snprintf(token, sizeof token, "%d", call->page + 1);
    struct lw_list_meta meta = {STR("77"), str_of(token), -1, false, false};
    call->sink.list_end(call->ctx, &meta);
    finish(call, NULL);
}

static void watch_burst(struct timer *timer)
{
    struct lw_call *call = container_of(timer, struct lw_call, timer);
    struct err gone;
    objects_drain();
    timer_start(timer, loop_clock(call->loop), 0);
    if (call->paused) return;
    for (int i = 0; i < BURST && call->version < EVENTS; i++)
        call->sink.event(call->ctx, LW_MODIFIED, make(++call->version), 1);
    if (call->version < EVENTS) return;
    err_set(&gone, ERR_HTTP, "gone");
    gone.http_status = 410;
    timer_cancel(timer);
    finish(call, &gone);
}

static struct lw_call *start(struct list_watch *base, const struct lw_options *options,
                             const struct lw_sink *sink, void *ctx)
{
    struct lw_call *call = NEW(struct lw_call);
    call->loop = container_of(base, struct source, base)->loop;
    call->sink = *sink;
    call->ctx = ctx;
    call->page = (int)strtol(options->continue_token, NULL, 10);
    call->version = (int)strtol(options->resource_version, NULL, 10);
    call->timer.fn = options->verb == LW_LIST ? list_page : watch_burst;
    timer_start(&call->timer, loop_clock(call->loop), 0);
    if (sink->opened) sink->opened(ctx);
    return call;
}

static void cancel(struct lw_call *call)
{
    timer_cancel(&call->timer);
    free(call);
}

static void pause_call(struct lw_call *call, bool paused)
{
    call->paused = paused;
}

static void free_source(struct list_watch *base)
{
    free(container_of(base, struct source, base));
}

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    static const struct list_watch_ops ops = {start, cancel, free_source, pause_call, NULL, NULL};
    struct source *source = NEW(struct source);
    source->base.ops = &ops;
    source->loop = ctx;
    return &source->base;
}

static int gets, most_gets; /* the I/O thread's */
static int get_takes_ms;

struct object_call {
    struct timer timer;
    bool known;
    object_done *done;
    void *ctx;
};

static void answer_get(struct timer *timer)
{
    struct object_call *get = container_of(timer, struct object_call, timer);
    struct err err;
    gets--;
    err_set(&err, ERR_HTTP, "not found");
    get->done(get->ctx, &(struct object_response){.object = get->known ? make(1) : NULL,
                                                  .err = get->known ? NULL : &err});
    free(get);
}

static struct object_call *start_get(void *ctx, const struct object_request *request, object_done *done,
                                     void *done_ctx)
{
    struct object_call *get = NEW(struct object_call);
    if (++gets > most_gets) most_gets = gets;
    get->known = strcmp(request->place.name, "unknown") != 0;
    get->done = done;
    get->ctx = done_ctx;
    get->timer.fn = answer_get;
    timer_start(&get->timer, loop_clock(ctx), get_takes_ms);
    return get;
}

static void cancel_get(struct object_call *get)
{
    gets--;
    timer_cancel(&get->timer);
    free(get);
}

/* --- the engine's side */

static struct loop *engine_loop, *io_loop;
static struct live_client *live;
static pthread_t io;

/* What one read brought. */
struct reader {
    struct live_read *read;
    size_t objects, answers, asked, most; /* bytes of a text are its objects */
    int version;
    bool last, failed;
};

static void on_response(void *ctx, const struct live_response *answer)
{
    struct reader *reader = ctx;
    struct live_response taken = *answer;
    reader->answers++;
    reader->last = answer->last;
    reader->failed = answer->err != NULL;
    if (answer->count > reader->most) reader->most = answer->count;
    if (answer->text.len > reader->most) reader->most = answer->text.len;
    reader->objects += answer->text.len;
    for (size_t i = 0; i < answer->count; i++) {
        struct text text;
        uint64_t version;
        assert_true(str_to_u64(root_resource_version(answer->objects[i], &text), &version));
        assert_int_equal(version, ++reader->version); /* none lost, none twice, in order */
        reader->objects++;
    }
    live_response_clear(&taken);
}

static const struct resource pods = {(char *)"", (char *)"v1", (char *)"pods", (char *)"Pod", true};

static void on_object(void *ctx, const struct object_response *response)
{
    struct reader *reader = ctx;
    reader->answers++;
    reader->last = true;
    reader->failed = response->err != NULL;
    reader->objects += response->object != NULL;
    root_unref(response->object);
}

/* A verb of this spec's own, beside those of the client. */
enum { GET = LIVE_TEXT + 1 };

static void start_read(struct reader *reader, int verb, const char *name, const char *version)
{
    *reader = (struct reader){.version = verb == LIVE_WATCH ? (int)strtol(version, NULL, 10) : 0};
    if (verb == GET) {
        const struct object_request request = {.place = {&pods, "n", name}};
        reader->read = live_call(live, &request, on_object, reader);
        return;
    }
    reader->read = live_start(live,
                              &(struct live_request){
                                  .verb = (enum live_verb)verb,
                                  .resource = verb == LIVE_TEXT ? NULL : &pods,
                                  .path = verb == LIVE_TEXT ? "" : NULL,
                                  .scope = {"n", "", ""},
                                  .resource_version = version,
                                  .resource_version_match = "",
                              },
                              on_response, reader);
}

static void wait_response(struct reader *reader, size_t answers)
{
    while (reader->answers < answers) loop_once(engine_loop, true);
}

static void ask(struct reader *reader)
{
    reader->asked = reader->answers;
    live_next(reader->read);
}

static void stop_read(struct reader *reader)
{
    if (reader->read) live_close(reader->read);
    reader->read = NULL;
}

static void *io_main(void *ctx)
{
    objects_adopt();
    loop_run(ctx);
    return NULL;
}

static int setup(void **state)
{
    gets = most_gets = get_takes_ms = 0;
    objects_open();
    engine_loop = loop_new();
    io_loop = loop_new();
    live = live_new(&(struct live_options){.engine_loop = engine_loop,
                                           .io_loop = io_loop,
                                           .new_source = new_source,
                                           .ctx = io_loop,
                                           .caller = {start_get, cancel_get, io_loop},
                                           .texts = growing_text(io_loop),
                                           .seed = 1});
    return pthread_create(&io, NULL, io_main, io_loop);
}

static int teardown(void **state)
{
    live_free(live);
    loop_stop(io_loop);
    pthread_join(io, NULL);
    loop_free(io_loop);
    loop_free(engine_loop);
    objects_adopt();
    objects_close();
    return 0;
}

static void test_a_get_responds_once(void **state)
{
    struct reader known, unknown;
    start_read(&known, GET, "k", "");
    start_read(&unknown, GET, "unknown", "");
    wait_response(&known, 1);
    wait_response(&unknown, 1);
    assert_true(known.last && unknown.last && unknown.failed);
    assert_false(known.failed);
    assert_int_equal(known.objects, 1);
    stop_read(&known);
    stop_read(&unknown);
}

static void test_pages_wait_until_they_are_requested(void **state)
{
    struct reader reader, other;
    start_read(&reader, LIVE_LIST, "", "");
    for (size_t page = 1; page <= PAGES; page++) {
        wait_response(&reader, page);
        assert_int_equal(reader.objects, page * PAGE);
        assert_int_equal(reader.last, page == PAGES);
        start_read(&other, GET, "k", ""); /* time for what must not come */
        wait_response(&other, 1);
        stop_read(&other);
        assert_int_equal(reader.answers, page);
        if (!reader.last) ask(&reader);
    }
    stop_read(&reader);
}

/* To its end; meanwhile the server goes on sending. */
static void read_slowly(struct reader *reader)
{
    struct reader other;
    while (!reader->last) {
        wait_response(reader, reader->answers + 1);
        start_read(&other, GET, "k", "");
        wait_response(&other, 1);
        stop_read(&other);
        if (!reader->last) ask(reader);
    }
}

static void test_a_slow_reader_gets_every_event_from_bounded_memory(void **state)
{
    struct reader reader;
    start_read(&reader, LIVE_WATCH, "", "5");
    read_slowly(&reader);
    assert_int_equal(reader.version, EVENTS);
    assert_true(reader.failed); /* RW-2: 410 is told, last */
    assert_in_range(reader.most, 1, LIVE_EVENTS_MAX + BURST);
    stop_read(&reader);
}

static void test_a_slow_reader_gets_a_whole_text_from_bounded_memory(void **state)
{
    struct reader reader;
    start_read(&reader, LIVE_TEXT, "", "");
    read_slowly(&reader);
    assert_int_equal(reader.objects, GROWING_TEXT_BYTES);
    assert_false(reader.failed);
    assert_in_range(reader.most, 1, LIVE_TEXT_MAX + GROWING_TEXT_CHUNK);
    stop_read(&reader);
}

static void test_no_more_than_a_hundred_are_under_way(void **state)
{
    enum { MANY = 3 * LIVE_UNDER_WAY_MAX };
    static struct reader readers[MANY];
    get_takes_ms = 20;
    for (int i = 0; i < MANY; i++) start_read(&readers[i], GET, "k", "");
    for (int i = 0; i < MANY; i += 7) stop_read(&readers[i]); /* some under way, some that wait */
    for (int i = 0; i < MANY; i++) {
        if (!readers[i].read) continue;
        wait_response(&readers[i], 1);
        stop_read(&readers[i]);
    }
    live_free(live); /* for the I/O thread's figures: it has let go of all */
    live = NULL;
    assert_in_range(most_gets, 2, LIVE_UNDER_WAY_MAX);
}

static void test_a_watch_from_no_version_is_an_error(void **state)
{
    struct reader reader;
    start_read(&reader, LIVE_WATCH, "", "0");
    wait_response(&reader, 1);
    assert_true(reader.last && reader.failed);
    stop_read(&reader);
}

static void test_reads_are_closed_at_any_moment(void **state)
{
    const char *seed_text = getenv("SEED");
    struct jitter jitter = {seed_text ? strtoull(seed_text, NULL, 10) : 7};
    struct reader readers[OPEN] = {0};
    print_message("SEED=%llu\n", (unsigned long long)jitter.state);
    for (int i = 0; i < ROUNDS; i++) {
        struct reader *reader = &readers[jitter_between(&jitter, 0, OPEN)];
        if (!reader->read)
            start_read(reader, (int)jitter_between(&jitter, LIVE_LIST, GET + 1), "k", "1");
        else if (reader->last || jitter_next(&jitter) % 4 == 0)
            stop_read(reader);
        else if (reader->answers > reader->asked)
            ask(reader);
        if (jitter_next(&jitter) % 3 == 0) loop_once(engine_loop, false);
    }
    /* Some are still open: live_free closes them. */
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_get_responds_once),
        T(test_pages_wait_until_they_are_requested),
        T(test_a_slow_reader_gets_every_event_from_bounded_memory),
        T(test_a_slow_reader_gets_a_whole_text_from_bounded_memory),
        T(test_no_more_than_a_hundred_are_under_way),
        T(test_a_watch_from_no_version_is_an_error),
        T(test_reads_are_closed_at_any_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

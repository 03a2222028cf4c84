/* One reflector and what a spec does with it; see reflector_fixture.h. */
#include "core/informer/support/reflector_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/objects.h"

struct reflector *reflector;
struct scripted_source source;
struct virtual_clock vclock;
struct delta_fifo *fifo;
int status_changes;
struct watch_list_memory *memory;

static void on_ready(void *ctx) {}

static void on_changed(void *ctx)
{
    status_changes++;
}

static void start(uint64_t seed, struct reflector_tuning tuning)
{
    reflector = reflector_new(&(struct reflector_options){
        .name = "pods",
        .source = scripted_source_init(&source),
        .fifo = fifo,
        .clock = &vclock.clock,
        .seed = seed,
        .tuning = tuning,
        .memory = memory,
        .changed = on_changed,
    });
    reflector_start(reflector);
}

int reflector_open(void **state)
{
    objects_open();
    virtual_clock_init(&vclock);
    fifo = delta_fifo_new(on_ready, NULL);
    status_changes = 0;
    log_take();
    memory = watch_list_memory_new();
    start(1, (struct reflector_tuning){0});
    return 0;
}

int reflector_close(void **state)
{
    reflector_free(reflector);
    scripted_source_clear(&source);
    delta_fifo_free(fifo);
    watch_list_memory_free(memory);
    assert_int_equal(clock_next_due_ms(&vclock.clock), INT64_MAX);
    virtual_clock_clear(&vclock);
    objects_close();
    return 0;
}

static void restart(uint64_t seed, struct reflector_tuning tuning)
{
    reflector_free(reflector);
    scripted_source_clear(&source);
    start(seed, tuning);
}

void reflector_restart(int page_size, uint64_t seed)
{
    restart(seed, (struct reflector_tuning){.page_size = page_size});
}

void reflector_restart_watch_listing(enum watch_list_mode mode)
{
    restart(1, (struct reflector_tuning){.watch_list = mode});
}

const char *const reflector_watch_list_request = "watch bookmarks initial match=NotOlderThan";

int reflector_open_watch_listing(void **state)
{
    reflector_open(state);
    reflector_restart_watch_listing(WATCH_LIST_AUTO);
    assert_asked(reflector_watch_list_request);
    return 0;
}

void reflector_restart_with_window(int64_t window_ms)
{
    restart(1, (struct reflector_tuning){.internal_error_window_ms = window_ms});
}

void start_watching(const char *objects, const char *version)
{
    source_list(&source, objects, version);
    source_asked(&source);
    struct delta *batch;
    size_t count = delta_fifo_take(fifo, 1000, &batch);
    delta_fifo_release(fifo, batch, count);
    assert_int_equal(count, 1);
}

void advance(int64_t ms)
{
    virtual_clock_advance(&vclock, ms);
}

int64_t pass_delay(void)
{
    int64_t due = clock_next_due_ms(&vclock.clock);
    assert_int_not_equal(due, INT64_MAX);
    int64_t delay_ms = due - clock_now_ms(&vclock.clock);
    advance(delay_ms);
    return delay_ms;
}

void assert_asked(const char *expected)
{
    assert_string_equal(source_asked(&source), expected);
}

void assert_asked_after(int64_t d_ms, const char *expected)
{
    assert_asked("");
    assert_state(REFLECTOR_BACKING_OFF);
    assert_in_range(pass_delay(), d_ms, 2 * d_ms - 1);
    assert_asked(expected);
}

static void describe(const struct delta *d, struct buf *out)
{
    static const char *const signs[] = {"+ ", "~ ", "- ", "All", "Sync", "= "};
    if (out->len) buf_puts(out, "; ");
    buf_puts(out, signs[d->type]);
    if (d->object) object_describe(d->object, out);
    if (d->type == DELTA_BOOKMARK) buf_puts(out, d->resource_version);
    if (d->type != DELTA_REPLACED_ALL) return;
    buf_printf(out, "(%s:", d->resource_version);
    for (size_t i = 0; i < d->count; i++) {
        buf_putc(out, ' ');
        object_describe(d->objects[i], out);
    }
    buf_putc(out, ')');
}

void assert_queued(const char *expected)
{
    struct buf out = {0};
    struct delta *batch;
    size_t count;
    while ((count = delta_fifo_take(fifo, 1000, &batch)) > 0) {
        for (size_t i = 0; i < count; i++) describe(&batch[i], &out);
        delta_fifo_release(fifo, batch, count);
    }
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
}

struct reflector_status status_now(void)
{
    struct reflector_status status;
    reflector_get_status(reflector, &status);
    return status;
}

void assert_state(enum reflector_state state)
{
    assert_int_equal(status_now().state, state);
}

void assert_cause(enum err_code code)
{
    assert_int_equal(status_now().last_error.code, code);
}

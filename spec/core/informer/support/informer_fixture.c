/* One informer and what a spec does with it; see informer_fixture.h. */
#include "core/informer/support/informer_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/informer/support/objects.h"

struct shared_informer *informer;
struct history history;
struct registration *registration;
int synced_calls;

static void on_synced(void *ctx)
{
    synced_calls++;
}

struct registration *add_history_with(struct history *h, struct handler_options *options)
{
    struct registration *r;
    struct event_handler handler = history_handler(h);
    handler.options = options;
    shared_informer_add_handler(informer, &handler, &r);
    handler_options_unref(options);
    return r;
}

struct registration *add_history(struct history *h)
{
    return add_history_with(h, NULL);
}

int informer_open(void **state)
{
    objects_open();
    synced_calls = 0;
    history = (struct history){0};
    informer = shared_informer_new("pods", on_synced, NULL);
    registration = add_history(&history);
    return 0;
}

int informer_close(void **state)
{
    shared_informer_free(informer);
    history_clear(&history);
    objects_close();
    return 0;
}

static struct delta_fifo *fifo(void)
{
    return shared_informer_fifo(informer);
}

void delta(enum delta_type type, const char *text)
{
    delta_fifo_add(fifo(), type, object(text), 7);
}

void replace(const char *texts, const char *version)
{
    size_t count;
    struct root **list = object_list(texts, &count);
    delta_fifo_replace(fifo(), version, list, count, NULL, 7);
}

void process(void)
{
    while (shared_informer_process(informer, 1000) > 0) {}
}

void assert_history(const char *expected)
{
    process();
    assert_string_equal(history_take(&history), expected);
}

/* The store as it is, without telling anybody. */
void start_with(const char *texts, const char *version)
{
    replace(texts, version);
    process();
    history_take(&history);
}

static bool describe(void *ctx, struct root *object)
{
    struct buf *out = ctx;
    if (out->len) buf_putc(out, ' ');
    object_describe(object, out);
    return true;
}

void assert_store(const char *expected, const char *version)
{
    struct buf out = {0};
    process();
    indexer_each(shared_informer_indexer(informer), describe, &out);
    assert_string_equal(buf_text(&out), expected);
    assert_string_equal(indexer_resource_version(shared_informer_indexer(informer)), version);
    buf_clear(&out);
}

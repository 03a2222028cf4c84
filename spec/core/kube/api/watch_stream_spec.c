/* core/kube/api/watch_stream.c: objects of another kind, and texts that are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/api/stream.h"
#include "object/value/value.h"

enum { MAX_EVENTS = 16 };

struct bench {
    struct pool *pool;
    struct packer *packer;
    struct tape_parser *parser;
    struct root *objects[MAX_EVENTS];
    enum lw_event_type types[MAX_EVENTS];
    size_t count;
    struct buf refused; /* texts */
    bool keyless;       /* the last one refused */
    bool picky;         /* wants the namespace "shop" alone */
    size_t skipped, bookmarks, items;
};

static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us)
{
    struct bench *bench = ctx;
    assert_true(bench->count < MAX_EVENTS);
    bench->types[bench->count] = type;
    bench->objects[bench->count++] = object;
}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    struct bench *bench = ctx;
    bench->keyless = refusal->keyless;
    buf_printf(&bench->refused, "%s\n", refusal->err->text);
}

static void on_skipped(void *ctx)
{
    ((struct bench *)ctx)->skipped++;
}

static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark)
{
    ((struct bench *)ctx)->bookmarks++;
}

static void on_item(void *ctx, struct root *object)
{
    ((struct bench *)ctx)->items++;
    on_event(ctx, LW_ADDED, object, 0);
}

static void on_list_end(void *ctx, const struct lw_list_meta *meta) {}

static bool admits(void *ctx, struct str ns)
{
    return str_is(ns, "shop");
}

static int setup(void **state)
{
    struct bench *bench = NEW(struct bench);
    bench->pool = pool_new(&(struct pool_options){0});
    bench->packer = packer_new(bench->pool);
    bench->parser = tape_parser_new();
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    for (size_t i = 0; i < bench->count; i++) root_unref(bench->objects[i]);
    packer_free(bench->packer);
    tape_parser_free(bench->parser);
    pool_free(bench->pool);
    buf_clear(&bench->refused);
    free(bench);
    return 0;
}

/* A stream of its own for this text. */
static void watch_kind(struct bench *bench, const char *text, struct str kind)
{
    const struct lw_sink sink = {
        .event = on_event, .refused = on_refused, .skipped = on_skipped, .bookmark = on_bookmark};
    struct err err;
    struct stream *stream = watch_stream_new(&(struct stream_options){
        .packer = bench->packer,
        .parser = bench->parser,
        .max_object_size = 10000,
        .type = {.api_version = STR("v1"), .kind = kind},
        .admits = bench->picky ? admits : NULL,
        .sink = &sink,
        .ctx = bench,
    });
    err_clear(&err);
    assert_true(stream_feed(stream, text, strlen(text), 77, &err));
    assert_true(stream_end(stream, &err));
    stream_free(stream);
}

static void watch(struct bench *bench, const char *text)
{
    watch_kind(bench, text, STR("Pod"));
}

#define POD(version)                                                                                      \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"" version \
    "\"}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"

static void test_r28_objects_of_another_kind_or_version_are_dropped_and_named(void **state)
{
    struct bench *bench = *state;
    watch(bench,
          EVENT("ADDED", "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}") EVENT(
              "DELETED", "{\"kind\":\"Pod\",\"apiVersion\":\"v2\",\"metadata\":{\"name\":\"a\"}}")
              EVENT("ADDED",
                    "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"name\":\"a\"}}")
                  EVENT("ADDED", "{\"metadata\":{\"name\":\"a\"}}") EVENT("MODIFIED", POD("2")));
    assert_int_equal(bench->count, 1);
    assert_int_equal(bench->types[0], LW_MODIFIED);
    assert_true(bench->keyless); /* it says nothing of any pod */
    assert_string_equal(buf_text(&bench->refused),
                        "watch of v1 Pod returned a v1 Node\n"
                        "watch of v1 Pod returned a v2 Pod\n"
                        "watch of v1 Pod returned a meta.k8s.io/v1 Table\n"
                        "watch of v1 Pod returned an object without kind or apiVersion\n");
}

static void test_b4_a_known_text_is_the_same_object_and_a_changed_one_is_not(void **state)
{
    struct bench *bench = *state;
    watch(bench, EVENT("ADDED", POD("1")));
    watch(bench, EVENT("ADDED", POD("1")) EVENT("ADDED", POD("2")) EVENT("MODIFIED", POD("1")));
    watch(bench, EVENT("ADDED", POD("1")) EVENT("ADDED", POD("2")) EVENT("DELETED", POD("2")));
    assert_int_equal(bench->count, 7);
    assert_ptr_equal(bench->objects[1], bench->objects[0]);
    assert_ptr_not_equal(bench->objects[2], bench->objects[0]);
    assert_ptr_equal(bench->objects[3], bench->objects[0]);
    assert_ptr_equal(bench->objects[4], bench->objects[0]);
    assert_ptr_equal(bench->objects[5], bench->objects[2]);
    assert_ptr_equal(bench->objects[6], bench->objects[2]);
    assert_int_equal(bench->types[6], LW_DELETED);
}

static void test_a_known_object_in_a_text_that_is_none_is_no_event(void **state)
{
    struct bench *bench = *state;
    watch(bench, EVENT("ADDED", POD("1")));
    watch(bench,
          EVENT("ADDED", POD("1")) "{\"type\":\"ADDED\",\"object\":" POD("1") "}" EVENT("ADDED", POD("1")));
    assert_int_equal(bench->count, 4);
}

static void test_r28_a_text_that_is_known_by_another_watch_is_dropped_too(void **state)
{
    struct bench *bench = *state;
    watch(bench, EVENT("ADDED", POD("1")));
    watch_kind(bench, EVENT("ADDED", POD("1")), STR("Node"));
    assert_int_equal(bench->count, 1);
    assert_string_equal(buf_text(&bench->refused), "watch of v1 Node returned a v1 Pod\n");
}

/* Versions wait in a queue, where no pool bounds them. */
static void test_a_bookmark_with_a_version_beyond_all_bounds_is_refused(void **state)
{
    struct bench *bench = *state;
    struct buf text = {0};
    buf_puts(&text, "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"
                    "\"resourceVersion\":\"");
    for (int i = 0; i < 1025; i++) buf_putc(&text, '1');
    buf_puts(&text, "\"}}}\n" EVENT("ADDED", POD("1")));
    watch(bench, buf_text(&text));
    assert_string_equal(buf_text(&bench->refused),
                        "a bookmark's resourceVersion of 1025 bytes exceeds the maximum of 1024\n");
    assert_true(bench->keyless);
    assert_int_equal(bench->count, 1);
    buf_clear(&text);
}

#define IN(ns, rest) \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"namespace\":\"" ns "\"}" rest "}"

static void test_events_of_namespaces_that_nobody_wants_are_skipped_unread(void **state)
{
    struct bench *bench = *state;
    bench->picky = true;
    watch(bench,
          EVENT("ADDED", IN("shop", "")) EVENT("MODIFIED", IN("pay", "")) EVENT("DELETED", IN("pay", ""))
              EVENT("ADDED", IN("pay", ",\"spec\":{\"no number\":-}")) EVENT("MODIFIED", IN("shop", "")));
    assert_int_equal(bench->count, 2);
    assert_int_equal(bench->skipped, 3);
    assert_string_equal(buf_text(&bench->refused), "");
    watch(bench, EVENT("BOOKMARK", POD("7")) EVENT("ADDED", POD("8")));
    assert_int_equal(bench->bookmarks, 1);
    assert_int_equal(bench->count, 3); /* of no namespace */
}

/* The line ends inside the event, so that it is no event for itself. */
static void test_a_part_of_an_event_is_not_skipped(void **state)
{
    struct bench *bench = *state;
    bench->picky = true;
    watch(bench, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"namespace\":\"pay\"}\n,"
                 "\"kind\":\"Pod\","
                 "\"apiVersion\":\"v1\"}}\n" EVENT("ADDED", IN("shop", "")));
    assert_string_equal(buf_text(&bench->refused), "");
    assert_int_equal(bench->count, 2); /* who asks for the namespace drops the first */
    assert_int_equal(bench->types[bench->count - 1], LW_ADDED);
}

static void test_items_of_namespaces_that_nobody_wants_are_skipped(void **state)
{
    struct bench *bench = *state;
    static const char text[] = "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[" IN(
        "pay", "") "," IN("shop", "") "," IN("p\\u0061y", "") "]}";
    const struct lw_sink sink = {
        .item = on_item, .refused = on_refused, .skipped = on_skipped, .list_end = on_list_end};
    struct err err;
    struct stream *stream = list_stream_new(&(struct stream_options){.packer = bench->packer,
                                                                     .parser = bench->parser,
                                                                     .max_object_size = 10000,
                                                                     .admits = admits,
                                                                     .sink = &sink,
                                                                     .ctx = bench});
    assert_true(stream_feed(stream, text, strlen(text), 77, &err));
    assert_true(stream_end(stream, &err));
    stream_free(stream);
    assert_int_equal(bench->skipped, 1);
    assert_int_equal(bench->items, 2); /* an escaped name is left to who asks for the namespace */
}

/* A ConfigMap whose event is too long to be taken for a line at once. */
static void put_large(struct buf *out, size_t bytes)
{
    buf_puts(
        out,
        "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"namespace\":\"shop\","
        "\"uid\":\"b\",\"resourceVersion\":\"7\"},\"data\":{\"text\":\"");
    while (out->len < bytes) buf_puts(out, "a line of the text\\n");
    buf_puts(out, "\"}}");
}

static void test_an_event_of_over_a_megabyte_is_known_again(void **state)
{
    struct bench *bench = *state;
    struct buf object = {0}, event = {0};
    const struct pack_type type = {.api_version = STR("v1"), .kind = STR("ConfigMap")};
    struct pack_mark mark;
    struct err err;
    put_large(&object, 3 << 20);
    buf_printf(&event, "{\"type\":\"ADDED\",\"object\":%s}\n", buf_text(&object));
    const struct lw_sink sink = {.event = on_event, .refused = on_refused};
    struct stream *stream = watch_stream_new(&(struct stream_options){.packer = bench->packer,
                                                                      .parser = bench->parser,
                                                                      .max_object_size = 8 << 20,
                                                                      .type = type,
                                                                      .sink = &sink,
                                                                      .ctx = bench});
    for (size_t at = 0; at < event.len; at += 65536)
        assert_true(
            stream_feed(stream, event.data + at, event.len - at < 65536 ? event.len - at : 65536, 77, &err));
    assert_true(stream_end(stream, &err));
    stream_free(stream);
    assert_int_equal(bench->count, 1);
    struct root *known = pack_recall(bench->packer, buf_slice(&object), &type, &mark);
    assert_ptr_equal(known, bench->objects[0]);
    root_unref(known);
    buf_clear(&object);
    buf_clear(&event);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_r28_objects_of_another_kind_or_version_are_dropped_and_named),
        T(test_r28_a_text_that_is_known_by_another_watch_is_dropped_too),
        T(test_b4_a_known_text_is_the_same_object_and_a_changed_one_is_not),
        T(test_a_known_object_in_a_text_that_is_none_is_no_event),
        T(test_events_of_namespaces_that_nobody_wants_are_skipped_unread),
        T(test_a_part_of_an_event_is_not_skipped),
        T(test_an_event_of_over_a_megabyte_is_known_again),
        T(test_items_of_namespaces_that_nobody_wants_are_skipped),
        T(test_a_bookmark_with_a_version_beyond_all_bounds_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

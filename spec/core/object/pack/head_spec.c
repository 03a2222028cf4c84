/* core/object/pack, root: by what the last state of an object is found, in the order that kinds which are
 * built in are written in, and in that of custom resources. */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/pack/intern.h"
#include "object/pack/section.h"

/* A custom resource: the server writes its metadata in alphabetical order, so that much which changes stands
 * before the name. */
struct custom {
    uint32_t number; /* of the object */
    uint32_t generation, version, size, phase;
};

/* Long enough to be a section. */
static void put_part(struct buf *out, uint32_t n, const char *time)
{
    buf_putc(out, '[');
    for (uint32_t i = 0; i < 6; i++)
        buf_printf(out, "{\"manager\":\"part-%u\",\"at\":[%u,%u],\"it\":\"a text %u\"},", i, n, i, n * i);
    buf_printf(out, "{\"time\":\"%s\"}]", time);
}

static void write_custom(const struct custom *o, struct buf *text)
{
    text->len = 0;
    buf_printf(text,
               "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"metadata\":{\"annotations\":{"
               "\"note\":\"{\\\"resourceVersion\\\":\\\"1\\\",\\\"uid\\\":\\\"%u\\\"}\"},"
               "\"creationTimestamp\":\"2026-01-02T03:04:05Z\",\"generation\":%u,"
               "\"labels\":{\"app\":\"a\",\"name\":\"label\"},\"managedFields\":",
               o->generation, o->generation);
    put_part(text, o->generation, "2026-01-02T03:04:06Z");
    buf_printf(text,
               ",\"name\":\"widget-%u\",\"namespace\":\"shop\",\"resourceVersion\":\"%u\","
               "\"uid\":\"00000000-0000-4000-8000-%012u\"},\"spec\":{\"size\":",
               o->number, o->version, o->number);
    put_part(text, o->size, "none");
    buf_puts(text, "},\"status\":{\"phase\":");
    put_part(text, o->phase, "2026-01-02T03:04:07Z");
    buf_puts(text, "}}");
}

static uint32_t head_of(const char *text)
{
    char *exact = malloc(strlen(text)); /* nothing behind it */
    assert_non_null(exact);
    memcpy(exact, text, strlen(text));
    uint32_t head = pack_mark((struct str){exact, strlen(text)}, &thing_type).head;
    free(exact);
    return head;
}

static uint32_t head_of_custom(const struct custom *o)
{
    struct buf text = {0};
    write_custom(o, &text);
    uint32_t head = head_of(buf_text(&text));
    buf_clear(&text);
    return head;
}

static void test_a_custom_resource_is_known_by_its_uid_alone(void **state)
{
    struct custom o = {.number = 1, .generation = 1, .version = 1}, later = {1, 2, 17, 3, 4},
                  other = {.number = 2};
    assert_int_equal(head_of_custom(&o), head_of_custom(&later));
    assert_int_not_equal(head_of_custom(&o), head_of_custom(&other));
}

static void test_a_kind_that_is_built_in_is_known_by_what_stands_before_its_version(void **state)
{
#define BUILT_IN(name, rest)                                                                           \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name "\",\"namespace\":\"b\"," \
    "\"uid\":\"1\",\"resourceVersion\":" rest
    uint32_t head = head_of(BUILT_IN("a", "\"1\",\"generation\":1}}"));
    assert_int_equal(head, head_of(BUILT_IN("a", "\"23\",\"generation\":2,\"labels\":{\"uid\":\"2\"}}}")));
    assert_int_equal(head, head_of("{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\",\"uid\":\"1\","
                                   "\"resourceVersion\":\"4\"}}")); /* as an item of a list */
    assert_int_not_equal(head, head_of(BUILT_IN("b", "\"1\",\"generation\":1}}")));
}

static void test_a_text_that_ends_in_its_version_or_uid_has_a_head(void **state)
{
    static const char whole[] =
        "{\"metadata\":{\"labels\":{},\"name\":\"a\",\"resourceVersion\":\"12\",\"uid\":\"34\"}}";
    char text[sizeof whole] = "";
    for (size_t n = 1; n < sizeof whole; n++) {
        memcpy(text, whole, n);
        assert_int_not_equal(head_of(text), 0);
    }
    assert_int_equal(head_of("{\"metadata\":{\"resourceVersion\":\"1\",\"uid\":\"34\"}}"), head_of(whole));
}

/* How many sections of its last state a text takes over, which then becomes the last one. */
static size_t follow(struct fixture *f, const struct custom *o, struct root **held)
{
    struct buf text = {0};
    struct section_matches found = {0};
    write_custom(o, &text);
    struct root *last = root_of_head(f->pool, pack_mark(buf_slice(&text), &thing_type).head);
    if (last) sections_match(last, buf_slice(&text), &found);
    struct root *root = straight(f->packer, buf_slice(&text)),
                *expected = by_tape(f->packer, buf_slice(&text));
    assert_non_null(root);
    assert_ptr_equal(root, expected);
    root_unref(expected);
    root_unref(*held);
    *held = root;
    buf_clear(&text);
    return found.count;
}

static void test_an_update_of_a_custom_resource_takes_sections_over(void **state)
{
    struct fixture *f = *state;
    struct root *held = NULL;
    struct custom o = {.number = 1, .generation = 9, .version = 99};
    assert_int_equal(follow(f, &o, &held), 0);
    assert_int_equal(held->section_count, 3);
    o.version++, o.generation++; /* managedFields too, and all behind it moves */
    assert_int_equal(follow(f, &o, &held), 2);
    o.version++, o.phase++;
    assert_int_equal(follow(f, &o, &held), 2);
    o.version++;
    assert_int_equal(follow(f, &o, &held), 3);
    assert_int_equal(held->section_count, 3);
    root_unref(held);
}

enum { OBJECTS = 8 };

/* After updates that changed what stands before the name. */
static void test_a_relist_of_custom_resources_is_recalled(void **state)
{
    struct fixture *f = *state;
    struct root *held[OBJECTS] = {NULL};
    struct custom o[OBJECTS];
    for (uint32_t i = 0; i < OBJECTS; i++) o[i] = (struct custom){.number = i, .version = i};
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < OBJECTS; i++) {
            o[i].generation++, o[i].version += OBJECTS;
            assert_int_equal(follow(f, &o[i], &held[i]), round > 0 ? 2 : 0);
        }
    }
    for (uint32_t i = 0; i < OBJECTS; i++) {
        struct buf text = {0};
        struct pack_mark mark;
        write_custom(&o[i], &text);
        assert_null(pack_recall(f->packer, buf_slice(&text), &thing_type, &mark)); /* never marked whole */
        pack_remember(f->packer, held[i], &mark);
        struct root *root = pack_recall(f->packer, buf_slice(&text), &thing_type, &mark);
        assert_ptr_equal(root, held[i]);
        assert_int_equal(f->pool->latest.count, OBJECTS); /* one for each object, whatever it went through */
        root_unref(root);
        buf_clear(&text);
    }
    for (uint32_t i = 0; i < OBJECTS; i++) root_unref(held[i]);
}

static void test_random_states_of_custom_resources_match_the_tape(void **state)
{
    struct fixture *f = *state;
    struct random r = random_start("states of custom resources");
    struct root *held[OBJECTS] = {NULL};
    struct custom o[OBJECTS] = {{0}};
    size_t taken_over = 0, count = 2000;
    for (uint32_t i = 0; i < OBJECTS; i++) o[i].number = i;
    for (size_t n = 0; n < count; n++) {
        uint32_t i = random_below(&r, OBJECTS);
        o[i].version += random_below(&r, 4) ? 1 : 1000;
        if (random_below(&r, 2)) o[i].generation += random_below(&r, 20);
        if (random_below(&r, 4) == 0) o[i].size = random_below(&r, 20);
        if (random_below(&r, 4) == 0) o[i].phase = random_below(&r, 20);
        taken_over += follow(f, &o[i], &held[i]);
    }
    assert_true(taken_over * 10 > count * 18); /* of three each */
    for (uint32_t i = 0; i < OBJECTS; i++) root_unref(held[i]);
}

/* The same object in another order, or read by another projection: one root, and one place it is found at. */
static void test_a_root_that_came_by_two_heads_is_found_by_the_last(void **state)
{
    struct fixture *f = *state;
    static const struct pack_mark first = {.whole = 1, .head = 11}, second = {.whole = 2, .head = 22};
    struct root *root = pack_ok(f->packer, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}}");
    size_t before = f->pool->latest.count;
    root_set_text(f->pool, root, &first);
    assert_ptr_equal(root_of_head(f->pool, first.head), root);
    root_set_text(f->pool, root, &second);
    assert_null(root_of_head(f->pool, first.head));
    assert_ptr_equal(root_of_head(f->pool, second.head), root);
    assert_int_equal(f->pool->latest.count, before);
    root_set_text(f->pool, root, &second);
    assert_int_equal(f->pool->latest.count, before);
    root_unref(root);
    assert_null(root_of_head(f->pool, second.head));
    assert_int_equal(f->pool->latest.count, 0);
}

/* A state that goes does not take the newer one's place with it. */
static void test_a_head_leads_to_the_root_that_was_marked_last(void **state)
{
    struct fixture *f = *state;
    static const struct pack_mark mark = {.head = 11}, other = {.head = 22};
    struct root *older = pack_ok(f->packer, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}}"),
                *newer = pack_ok(f->packer, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"2\"}}");
    root_set_text(f->pool, older, &mark);
    root_set_text(f->pool, newer, &mark);
    assert_ptr_equal(root_of_head(f->pool, mark.head), newer);
    root_unref(older);
    assert_ptr_equal(root_of_head(f->pool, mark.head), newer);
    older = pack_ok(f->packer, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}}");
    root_set_text(f->pool, older, &mark);
    root_set_text(f->pool, newer, &other); /* whose place the older one has taken meanwhile */
    assert_ptr_equal(root_of_head(f->pool, mark.head), older);
    assert_ptr_equal(root_of_head(f->pool, other.head), newer);
    root_unref(older);
    root_unref(newer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

static uint32_t head_behind(size_t length, const char *uid)
{
    struct buf text = {0};
    buf_puts(&text, "{\"metadata\":{\"annotations\":{\"long\":\"");
    for (size_t i = 0; i < length; i++) buf_putc(&text, 'a');
    buf_printf(&text, "\"},\"name\":\"a\",\"resourceVersion\":\"1\",\"uid\":\"%s\"}}", uid);
    uint32_t head = head_of(buf_text(&text));
    buf_clear(&text);
    return head;
}

/* Beyond it the first bytes have to do, which two objects may share. */
static void test_a_version_is_searched_in_64_kib(void **state)
{
    assert_int_not_equal(head_behind(65000, "one"), head_behind(65000, "two"));
    assert_int_equal(head_behind(65000, "one"), head_behind(40000, "one"));
    assert_int_equal(head_behind(66000, "one"), head_behind(66000, "two"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_custom_resource_is_known_by_its_uid_alone),
        cmocka_unit_test(test_a_kind_that_is_built_in_is_known_by_what_stands_before_its_version),
        cmocka_unit_test(test_a_text_that_ends_in_its_version_or_uid_has_a_head),
        cmocka_unit_test(test_a_version_is_searched_in_64_kib),
        TEST(test_an_update_of_a_custom_resource_takes_sections_over),
        TEST(test_a_relist_of_custom_resources_is_recalled),
        TEST(test_random_states_of_custom_resources_match_the_tape),
        TEST(test_a_root_that_came_by_two_heads_is_found_by_the_last),
        TEST(test_a_head_leads_to_the_root_that_was_marked_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

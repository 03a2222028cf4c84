/* core/object/section: the next state of an object is made of parts of the last, and is what the tape says.
 */
#include "core/object/support/objects.h"

#include <string.h>

#include "object/pack/intern.h"
#include "object/pack/section.h"

static size_t matches(const struct root *root, const char *text)
{
    struct section_matches found;
    sections_match(root, str_of(text), &found);
    return found.count;
}

/* A value whose text is long enough to be a section. */
static void put_long(struct random *r, struct buf *out)
{
    struct buf unused = {0};
    size_t from = out->len;
    buf_putc(out, '[');
    while (out->len - from < SECTION_MIN + 64) {
        if (random_below(r, 400) == 0)
            random_value(r, 4, out, &unused); /* may be left to the tape */
        else
            buf_printf(out, "{\"a%u\":[%u,\"a text %u\"],\"time\":\"2026-01-02T03:04:%02uZ\"}",
                       random_below(r, 5), random_below(r, 9), random_below(r, 9), random_below(r, 60));
        buf_putc(out, ',');
    }
    buf_puts(out, "0]");
    buf_clear(&unused);
}

enum { PARTS = 4 };

struct object {
    struct buf part[PARTS];
    uint32_t version;
};

static void write_object(struct object *o, struct random *r, struct buf *text)
{
    text->len = 0;
    buf_puts(text, random_below(r, 4) ? "{\"kind\":\"Thing\",\"apiVersion\":\"v1\"," : "{");
    buf_printf(text, "\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"%u\",", o->version);
    buf_printf(text, "\"labels\":%s,\"managedFields\":%s},", buf_text(&o->part[0]), buf_text(&o->part[1]));
    if (random_below(r, 8) == 0) buf_printf(text, "\"status\":{\"twice\":%s},", buf_text(&o->part[0]));
    buf_printf(text, "\"spec\":%s,\"status\":{\"it\":%s}", buf_text(&o->part[2]), buf_text(&o->part[3]));
    if (random_below(r, 8) == 0) buf_printf(text, ",\"more\":[%s]", buf_text(&o->part[2]));
    buf_putc(text, '}');
}

static void change(struct object *o, struct random *r)
{
    o->version += random_below(r, 8) ? 1 : 1000000;
    if (random_below(r, 2)) return;
    struct buf *part = &o->part[random_below(r, PARTS)];
    part->len = 0;
    put_long(r, part);
}

static void damage(struct random *r, struct buf *text)
{
    static const char bytes[] = "{}[]:,\"\\ \n0-.etfnu\x01x";
    for (size_t n = random_below(r, 4); n > 0; n--)
        text->data[random_below(r, (uint32_t)text->len)] = bytes[random_below(r, sizeof bytes - 1)];
}

static void test_states_of_an_object_match_the_tape(void **state)
{
    struct fixture *f = *state;
    struct random r = random_start("states of an object");
    struct object o = {.version = 1};
    struct buf text = {0};
    struct root *alive[4] = {NULL};
    size_t taken = 0, known = 0, count = 3000;
    for (size_t i = 0; i < PARTS; i++) put_long(&r, &o.part[i]);
    for (size_t i = 0; i < count; i++) {
        change(&o, &r);
        write_object(&o, &r, &text);
        if (random_below(&r, 2)) damage(&r, &text);
        struct root *last = root_of_head(f->pool, pack_mark(buf_slice(&text), &thing_type).head);
        known += last && matches(last, buf_text(&text)) > 0;
        struct root *root = straight(f->packer, buf_slice(&text)),
                    *expected = by_tape(f->packer, buf_slice(&text));
        if (root) assert_ptr_equal(root, expected);
        taken += root != NULL;
        root_unref(expected);
        uint32_t at = random_below(&r, 4);
        if (!root) continue;
        root_unref(alive[at]);
        alive[at] = root;
    }
    for (size_t i = 0; i < 4; i++) root_unref(alive[i]);
    assert_true(taken > count / 8 && known > count / 4);
    for (size_t i = 0; i < PARTS; i++) buf_clear(&o.part[i]);
    buf_clear(&text);
}

#define TEN   "\"0123456\","
#define FIFTY TEN TEN TEN TEN TEN
#define MANY  FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY
/* More than SECTION_MIN bytes. */
#define LONG  "[" MANY "{\"a\":{\"time\":\"2026-01-02T03:04:05Z\"}}]"
#define OTHER "[" MANY "{\"b\":{\"time\":\"2026-01-02T03:04:05Z\"}}]"

static void test_parts_are_found_where_they_were_and_as_far_from_the_end(void **state)
{
    struct fixture *f = *state;
    assert_true(strlen(LONG) >= SECTION_MIN);
    struct root *root =
        straight(f->packer, STR("{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\",\"big\":" LONG
                                "},\"spec\":" OTHER "}"));
    assert_int_equal(root->section_count, 2);
    assert_int_equal(matches(root, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"2\",\"big\":" LONG
                                   "},\"spec\":" OTHER "}"),
                     2);
    assert_int_equal(
        matches(root,
                "{\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"23\",\"big\":" LONG
                "},\"spec\":" OTHER "}"),
        2);
    assert_int_equal(matches(root, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\",\"big\":" LONG
                                   "},\"spec\":[" OTHER "]}"),
                     1);
    assert_int_equal(matches(root, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\",\"big\":" OTHER
                                   "},\"spec\":" LONG "}"),
                     0);
    assert_int_equal(
        matches(root, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"},\"spec\":" OTHER "}"), 1);
    assert_int_equal(matches(root, "{}"), 0);
    root_unref(root);
}

/* What a copied part refers to lives on when the state it came from is gone. */
static void test_a_part_outlives_the_state_that_it_came_from(void **state)
{
    struct fixture *f = *state;
    struct root *first =
        straight(f->packer,
                 STR("{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"},\"spec\":{\"x\":" LONG "}}"));
    struct root *second =
        straight(f->packer,
                 STR("{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"2\"},\"spec\":{\"x\":" LONG "}}"));
    root_unref(first);
    assert_string_equal(json_of(at_path(root_value(second), "metadata.resourceVersion")), "\"2\"");
    assert_string_equal(json_of(at_path(root_value(second), "spec.x")), LONG);
    assert_int_equal(second->section_count, 1);
    root_unref(second);
}

/* The same field, but of a deeper map now: the text is left to the tape. */
static void test_a_part_that_stands_deeper_is_no_part(void **state)
{
    struct fixture *f = *state;
    static const char moved[] =
        "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"},\"x\":{\"spec\":" LONG "}}";
    struct root *first = straight(
        f->packer, STR("{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"},\"spec\":" LONG "}"));
    assert_int_equal(matches(first, moved), 1);
    assert_null(straight(f->packer, str_of(moved)));
    struct root *root = by_tape(f->packer, str_of(moved));
    assert_string_equal(json_of(at_path(root_value(root), "x.spec")), LONG);
    root_unref(root);
    root_unref(first);
}

/* Another field with the same text is another section. */
static void test_a_part_belongs_to_its_key(void **state)
{
    struct fixture *f = *state;
    struct root *first = straight(
        f->packer, STR("{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"},\"spec\":" LONG "}"));
    assert_int_equal(
        matches(first, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"},\"spac\":" LONG "}"), 0);
    root_unref(first);
}

/* Two fields that change their lengths move what is between them by one of the two. */
static void test_parts_between_two_changes_are_found(void **state)
{
    struct fixture *f = *state;
    static const char
        first[] = "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\",\"note\":\"\",\"big\":" LONG
                  "},\"spec\":" OTHER ",\"state\":\"waits\",\"status\":" LONG "}",
        second[] =
            "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"2\",\"note\":\"seen once\",\"big\":" LONG
            "},\"spec\":" OTHER ",\"state\":\"runs\",\"status\":" LONG "}";
    struct root *before = straight(f->packer, str_of(first));
    assert_int_equal(before->section_count, 3);
    assert_int_equal(matches(before, second), 3);
    struct root *after = straight(f->packer, str_of(second)), *tape = by_tape(f->packer, str_of(second));
    assert_ptr_equal(after, tape);
    root_unref(before);
    root_unref(after);
    root_unref(tape);
}

/* Further away it is found when the walk comes to it. */
static void test_a_part_that_moved_far_is_found_by_the_walk(void **state)
{
    struct fixture *f = *state;
    struct buf text = {0};
    struct root *before = straight(
        f->packer, STR("{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"},\"n\":1,\"spec\":" OTHER
                       ",\"m\":[" MANY MANY MANY MANY MANY MANY "1]}"));
    assert_int_equal(before->section_count, 2);
    buf_puts(&text, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"2\"},\"n\":[");
    while (text.len < 3000) buf_puts(&text, TEN);
    buf_puts(&text, "1],\"spec\":" OTHER ",\"m\":0}");
    assert_int_equal(matches(before, buf_text(&text)), 0);
    struct root *after = straight(f->packer, buf_slice(&text)), *tape = by_tape(f->packer, buf_slice(&text));
    assert_non_null(after);
    assert_ptr_equal(after, tape);
    assert_true(root_sections(after)[1].borrowed);
    root_unref(before);
    root_unref(after);
    root_unref(tape);
    buf_clear(&text);
}

#define MAP                                                                                            \
    "{\"app.kubernetes.io/component\":\"one of many texts\",\"app.kubernetes.io/instance\":\"another " \
    "text\","                                                                                          \
    "\"app.kubernetes.io/name\":\"a third text\",\"app.kubernetes.io/part-of\":\"a fourth text\","     \
    "\"example.com/owner\":\"somebody\",\"example.com/purpose\":\"to be long enough for a section\"}"

static void check_move(struct fixture *f, const char *before, const char *after, bool straight_first)
{
    struct root *first = straight(f->packer, str_of(before)), *tape = NULL;
    assert_int_equal(first->section_count, 1);
    assert_int_equal(matches(first, after), 1);
    if (!straight_first) tape = by_tape(f->packer, str_of(after));
    struct root *root = straight(f->packer, str_of(after));
    if (straight_first) tape = by_tape(f->packer, str_of(after));
    assert_non_null(root);
    assert_ptr_equal(root, tape);
    assert_string_equal(json_of(root_value(root)) + strlen("{\"apiVersion\":\"v1\",\"kind\":\"Thing\","),
                        after + 1);
    root_unref(first);
    root_unref(root);
    root_unref(tape);
}

/* A map is a node as a field of metadata, and part of the object as a field of its own. */
static void test_a_part_that_changes_its_level_matches_the_tape(void **state)
{
    static const char outer[] =
        "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"},\"labels\":" MAP ",\"s\":12}",
                      inner[] = "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"2\",\"labels\":" MAP
                                "},\"s\":1}";
    for (int order = 0; order < 2; order++) {
        check_move(*state, outer, inner, order);
        check_move(*state, inner, outer, order);
    }
}

/* The list around it is known by its text, and has more tokens there than are left here. */
static void test_a_known_text_around_a_part_is_not_skipped_over_it(void **state)
{
    struct fixture *f = *state;
#define PLAIN "{\"a\":[" MANY "1],\"b\":[" MANY "2]}"
#define ITEMS "[{\"spec\":" PLAIN "},\"more to make it a node of its own\",1,2,3,4,5,6,7,8,9,10,11,12]"
    struct root *other = straight(
        f->packer, STR("{\"metadata\":{\"name\":\"b\",\"resourceVersion\":\"1\"},\"spe\":" ITEMS "}"));
    struct root *first = straight(
        f->packer, STR("{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"},\"spec\":" PLAIN "}"));
    static const char moved[] = "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"2\"},\"spe\":" ITEMS "}";
    assert_non_null(other);
    assert_int_equal(matches(first, moved), 1);
    assert_null(straight(f->packer, str_of(moved)));
    struct root *root = by_tape(f->packer, str_of(moved));
    assert_string_equal(json_of(at_path(root_value(root), "spe")), ITEMS);
    root_unref(root);
    root_unref(first);
    root_unref(other);
}

/* Where a key comes twice, blobs do not stay where they were written. */
static void test_an_object_with_a_key_twice_has_no_sections(void **state)
{
    struct fixture *f = *state;
    struct root *root = straight(f->packer, STR("{\"metadata\":{\"name\":\"a\"},\"spec\":" OTHER
                                                ",\"x\":{\"k\":1,\"k\":2},\"status\":" LONG "}"));
    assert_non_null(root);
    assert_int_equal(root->section_count, 0);
    root_unref(root);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_states_of_an_object_match_the_tape),
        TEST(test_parts_are_found_where_they_were_and_as_far_from_the_end),
        TEST(test_a_part_outlives_the_state_that_it_came_from),
        TEST(test_a_part_that_stands_deeper_is_no_part),
        TEST(test_a_part_belongs_to_its_key),
        TEST(test_parts_between_two_changes_are_found),
        TEST(test_a_part_that_moved_far_is_found_by_the_walk),
        TEST(test_a_part_that_changes_its_level_matches_the_tape),
        TEST(test_a_known_text_around_a_part_is_not_skipped_over_it),
        TEST(test_an_object_with_a_key_twice_has_no_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

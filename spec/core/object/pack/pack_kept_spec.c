/* core/object/pack/pack_kept.c: what a projection keeps, by tokens, is what the tape gives, or nothing; also
 * when the object's last state is known. */
#include "core/object/support/objects.h"
#include "core/object/support/projections.h"

#include <string.h>

#include "object/pack/intern.h"
#include "object/pack/section.h"

/* Results of both for a text; whether the straight way was taken. */
static bool agree(struct packer *packer, struct str text, const struct projection *projection)
{
    struct root *expected = by_tape_as(packer, text, projection, false),
                *root = straight_as(packer, text, projection);
    if (root) assert_ptr_equal(root, expected);
    root_unref(root);
    root_unref(expected);
    return root != NULL;
}

static void damage(struct random *r, struct buf *text)
{
    static const char bytes[] = "{}[]:,\"\\ \n0-.etfnu\x01x";
    for (size_t n = 1 + random_below(r, 3); n > 0; n--)
        text->data[random_below(r, (uint32_t)text->len)] = bytes[random_below(r, sizeof bytes - 1)];
}

static void test_random_documents_match_the_tape(void **state)
{
    struct fixture *f = *state;
    struct random r = random_start("kept documents");
    struct buf text = {0};
    size_t taken = 0, count = 6000;
    for (size_t i = 0; i < count; i++) {
        struct projection *p = random_projection(&r);
        projected_object(&r, &text);
        taken += agree(f->packer, buf_slice(&text), p);
        damage(&r, &text);
        agree(f->packer, buf_slice(&text), p);
        projection_unref(p);
    }
    assert_true(taken > count / 4);
    buf_clear(&text);
}

/* --- states of one object */

enum { PARTS = 5, LONG = 1400 };

static const char *const names[PARTS] = {"a", "b", "c", "d", "labels"};

/* Long enough to be a section, with what paths lead to. */
static void put_part(struct random *r, struct buf *out)
{
    struct buf unused = {0};
    uint32_t least = random_below(r, 2) ? LONG : SECTION_MIN;
    out->len = 0;
    buf_puts(out, "{\"a\":\"x\",\"b\":[");
    while (out->len < least)
        buf_printf(out, "{\"a\":\"%c\",\"c\":[%u,\"a \\u0026 text %u\"],\"d\":\"2026-01-02T03:04:%02uZ\"},",
                   'w' + (int)random_below(r, 3), random_below(r, 9), random_below(r, 9),
                   random_below(r, 60));
    if (random_below(r, 12) == 0)
        random_value(r, 2, out, &unused); /* may be left to the tape */
    else
        buf_putc(out, '0');
    buf_puts(out, "],\"c\":{\"d\":1}}");
    buf_clear(&unused);
}

/* The same parts at other places now and then: what a projection keeps of them is another thing there. */
static void write_object(struct random *r, const struct buf *part, uint32_t version, struct buf *text)
{
    uint32_t turned = random_below(r, 12) ? 0 : 1 + random_below(r, PARTS - 1);
    text->len = 0;
    buf_printf(text, "{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"%u\"", version);
    for (uint32_t i = 0; i < PARTS; i++) {
        if (i == 2) buf_putc(text, '}');
        buf_printf(text, ",\"%s\":%.*s", names[(i + turned) % PARTS], STR_ARG(buf_slice(&part[i])));
    }
    buf_putc(text, '}');
}

struct kept_states {
    struct buf part[PARTS];
    struct root *alive[4];
    size_t taken, known;
};

static void next_state(struct fixture *f, struct random *r, struct kept_states *s, const struct projection *p,
                       uint32_t version)
{
    struct buf text = {0};
    struct pack_type type = thing_type;
    type.projection = p;
    for (uint32_t n = random_below(r, 3); n > 0; n--) put_part(r, &s->part[random_below(r, PARTS)]);
    write_object(r, s->part, version, &text);
    if (random_below(r, 4) == 0) damage(r, &text);
    struct root *last = root_of_head(f->pool, pack_mark(buf_slice(&text), &type).head);
    struct section_matches found = {0};
    if (last) sections_match(last, buf_slice(&text), &found);
    s->known += found.count > 0;
    struct root *root = straight_as(f->packer, buf_slice(&text), p),
                *expected = by_tape_as(f->packer, buf_slice(&text), p, false);
    if (root) assert_ptr_equal(root, expected);
    s->taken += root != NULL;
    root_unref(expected);
    buf_clear(&text);
    if (!root) return;
    uint32_t at = random_below(r, 4);
    root_unref(s->alive[at]);
    s->alive[at] = root;
}

static void test_states_of_an_object_match_the_tape(void **state)
{
    enum { PROJECTIONS = 100, STATES = 40 };
    struct fixture *f = *state;
    struct random r = random_start("kept states");
    struct kept_states s = {.taken = 0};
    for (size_t i = 0; i < PARTS; i++) put_part(&r, &s.part[i]);
    for (uint32_t i = 0; i < PROJECTIONS; i++) {
        struct projection *p = random_projection(&r);
        for (uint32_t version = 1; version <= STATES; version++)
            next_state(f, &r, &s, p, version * (random_below(&r, 8) ? 1 : 1000000));
        for (size_t k = 0; k < 4; k++) root_unref(s.alive[k]), s.alive[k] = NULL;
        projection_unref(p);
    }
    assert_true(s.taken > PROJECTIONS * STATES / 2 && s.known > PROJECTIONS * STATES / 4);
    for (size_t i = 0; i < PARTS; i++) buf_clear(&s.part[i]);
}

/* --- single cases */

#define TEN "\"0123456\","
#define MANY \
    TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
/* More than SECTION_MIN bytes. */
#define PART "{\"a\":{\"time\":\"2026-01-02T03:04:05Z\"},\"b\":[" MANY "{\"c\":1}]}"

/* The walk steps over a field that is dropped, and remembers it like one that is kept. */
static void test_a_dropped_field_is_a_section_without_words(void **state)
{
    static const char *const prune = "spec";
    struct fixture *f = *state;
    struct projection *p = projection_of(NULL, 0, &prune, 1);
    struct root *first = straight_as(
        f->packer, STR("{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"},\"spec\":" PART ",\"n\":1}"),
        p);
    assert_non_null(first);
    assert_int_equal(first->section_count, 1);
    assert_int_equal(root_sections(first)->word, ROOT_ABSENT);
    struct root *second = straight_as(
        f->packer, STR("{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"2\"},\"spec\":" PART ",\"n\":2}"),
        p);
    assert_non_null(second);
    assert_int_equal(second->section_count, 1);
    assert_string_equal(json_of(root_value(second)),
                        "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\","
                        "\"resourceVersion\":\"2\"},\"n\":2}");
    root_unref(first);
    root_unref(second);
    projection_unref(p);
}

/* The same key with the same text: dropped as a field of the metadata, kept as one of the object. */
static void test_a_section_of_another_level_is_not_taken(void **state)
{
    static const char *const prune = "metadata.it";
    static const char inner[] =
        "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\",\"it\":" PART "},\"s\":12}",
                      outer[] = "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"2\"},\"it\":" PART
                                ",\"s\":12}";
    struct fixture *f = *state;
    struct projection *p = projection_of(NULL, 0, &prune, 1);
    const char *const orders[][2] = {{inner, outer}, {outer, inner}};
    for (size_t i = 0; i < 2; i++) {
        struct root *before = straight_as(f->packer, str_of(orders[i][0]), p);
        assert_int_equal(before->section_count, 1);
        assert_null(straight_as(f->packer, str_of(orders[i][1]), p));
        struct root *after = by_tape_as(f->packer, str_of(orders[i][1]), p, false);
        assert_int_equal(strstr(json_of(root_value(after)), "0123456") != NULL, orders[i][1] == outer);
        root_unref(before);
        root_unref(after);
    }
    projection_unref(p);
}

/* The tape refuses such an object, so it must not get through where nobody looks. */
static void test_what_is_dropped_must_be_json(void **state)
{
    static const char *const wrong[] = {
        "[1,2}",       "{\"a\" 1}",  "{\"a\":}",     "[1,]", "{,}",           "[01]",  "tru", "\"\\x\"",
        "\"\\ud83d\"", "{\"a\":1,}", "{\"a\\g\":1}", "1.",   "[\"a\" \"b\"]", "{1:2}", "-"};
    static const char *const good[] = {
        "[]",  "{}",          "[[],{}]",         "{\"a\":[{\"b\":{}},[]],\"c\":-1.5e3}",
        "nul", "\"\\u0026\"", "[true,null,\"\"]"};
    static const char *const field = "status";
    struct fixture *f = *state;
    struct projection *p = projection_of(&field, 1, NULL, 0);
    struct buf text = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong + sizeof good / sizeof *good; i++) {
        bool ok = i >= sizeof wrong / sizeof *wrong;
        const char *value = ok ? good[i - sizeof wrong / sizeof *wrong] : wrong[i];
        text.len = 0;
        buf_printf(&text, "{\"metadata\":{\"name\":\"a\"},\"spec\":%s%s}", value,
                   strcmp(value, "nul") ? "" : "l");
        if (agree(f->packer, buf_slice(&text), p) != ok) fail_msg("%s", value);
    }
    buf_clear(&text);
    projection_unref(p);
}

/* An object with few fields has sections of its largest parts alone. */
static void test_few_fields_have_few_sections(void **state)
{
    static const char *const field = "status";
    struct fixture *f = *state;
    struct projection *p = projection_of(&field, 1, NULL, 0);
    struct root *root = straight_as(f->packer,
                                    STR("{\"metadata\":{\"name\":\"a\"},\"spec\":" PART ",\"more\":[" PART
                                        "," PART "," PART "," PART "]}"),
                                    p);
    assert_int_equal(root->section_count, 1);
    assert_true(root_sections(root)->length >= SECTION_MIN_OF_FEW);
    root_unref(root);
    projection_unref(p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_random_documents_match_the_tape),
        TEST(test_states_of_an_object_match_the_tape),
        TEST(test_a_dropped_field_is_a_section_without_words),
        TEST(test_a_section_of_another_level_is_not_taken),
        TEST(test_what_is_dropped_must_be_json),
        TEST(test_few_fields_have_few_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

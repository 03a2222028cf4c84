/* core/object/pack/segment and pack_segments: large maps and lists, in whose next states entries are changed,
 * added, moved, and taken out, are what simdjson's parser makes of them; and what was not changed is copied.
 */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/pack/intern.h"
#include "object/pack/segment.h"

enum { ENTRIES = 800, ROUNDS = 60, OBJECT_ROUNDS = 20 };

struct large {
    bool is_map;
    size_t count;
    uint32_t key[4 * ENTRIES]; /* of an entry */
    uint32_t value[4 * ENTRIES];
    int kind; /* of its values */
};

static void put_value(struct buf *out, int kind, uint32_t key, uint32_t value)
{
    switch (kind) {
    case 0: buf_printf(out, "\"value %u of key number %u\"", value, key); break;
    case 1: buf_printf(out, "%u", key * 1000 + value); break;
    case 2:
        buf_printf(out,
                   "{\"addresses\":[\"10.0.%u.%u\"],\"conditions\":{\"ready\":%s},\"at\":\"2026-01-02T03:04:%"
                   "02uZ\"}",
                   key % 250, value % 250, value % 2 ? "true" : "false", key % 60);
        break;
    default:
        buf_printf(
            out,
            "{\"name\":\"a text that is long enough for a node %u\",\"is\":[%u,%u.5,null,[{\"deep\":{}}]]}",
            key, key, value);
    }
}

static char *text_of(const struct large *l, size_t version)
{
    struct buf out = {0};
    buf_printf(&out,
               "{\"kind\":\"Thing\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\",\"uid\":\"u\","
               "\"resourceVersion\":\"%zu\"},"
               "\"data\":%c",
               version, l->is_map ? '{' : '[');
    for (size_t i = 0; i < l->count; i++) {
        if (i) buf_putc(&out, ',');
        if (l->is_map) buf_printf(&out, "\"key-%06u-of-it\":", l->key[i]);
        put_value(&out, l->kind, l->key[i], l->value[i]);
    }
    buf_printf(&out, "%c,\"more\":{\"version\":%zu}}", l->is_map ? '}' : ']', version);
    return buf_take(&out);
}

static void fill(struct large *l, struct random *r)
{
    l->is_map = random_below(r, 2);
    l->kind = (int)random_below(r, 4);
    l->count = ENTRIES;
    for (size_t i = 0; i < ENTRIES; i++) {
        l->key[i] = (uint32_t)i * 10;
        l->value[i] = random_below(r, 100);
    }
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t own = *a;
    *a = *b;
    *b = own;
}

/* One to three changes: of a value, of the number of digits, a new entry, a missing one, two that change
 * places, and rarely a key that comes twice. */
static void change(struct large *l, struct random *r)
{
    for (uint32_t n = 1 + random_below(r, 3); n > 0; n--) {
        size_t at = random_below(r, (uint32_t)l->count), other = random_below(r, (uint32_t)l->count);
        switch (random_below(r, 12)) {
        case 0:
            memmove(l->key + at, l->key + at + 1, (l->count - at - 1) * sizeof *l->key);
            memmove(l->value + at, l->value + at + 1, (l->count - at - 1) * sizeof *l->value);
            l->count--;
            break;
        case 1:
            memmove(l->key + at + 1, l->key + at, (l->count - at) * sizeof *l->key);
            memmove(l->value + at + 1, l->value + at, (l->count - at) * sizeof *l->value);
            l->key[at] += random_below(r, 9) - 4;
            l->count++;
            break;
        case 2: swap(&l->key[at], &l->key[other]); break;
        case 3: l->key[at] = l->key[other]; break;
        case 4: l->value[at] = random_below(r, 1000000); break;
        default: l->value[at] = random_below(r, 100);
        }
    }
}

/* Packs by tokens, or by the tape where a key comes twice, and compares. */
static struct root *pack_both(struct fixture *f, const char *text)
{
    struct root *root = straight(f->packer, str_of(text)), *other = by_tape(f->packer, str_of(text));
    assert_non_null(other);
    if (root) assert_ptr_equal(root, other);
    if (root) root_unref(other);
    return root ? root : other;
}

static void test_random_changes(void **state)
{
    struct fixture *f = *state;
    struct random r = random_start("segments");
    for (int object = 0; object < OBJECT_ROUNDS; object++) {
        struct large *l = NEW(struct large);
        struct root *last = NULL;
        fill(l, &r);
        for (size_t round = 0; round < ROUNDS; round++) {
            char *text = text_of(l, round);
            struct root *root = pack_both(f, text);
            root_unref(last);
            last = root;
            free(text);
            change(l, &r);
        }
        root_unref(last);
        free(l);
    }
}

static struct root *straight_ok(struct fixture *f, const struct large *l, size_t version)
{
    char *text = text_of(l, version);
    struct root *root = straight(f->packer, str_of(text));
    assert_non_null(root);
    free(text);
    return root;
}

/* One value of 800 changes: all segments but its own are those of the last state. */
static void test_what_is_equal_is_copied(void **state)
{
    struct fixture *f = *state;
    struct large *l = NEW(struct large);
    *l = (struct large){.is_map = true, .count = ENTRIES};
    for (size_t i = 0; i < ENTRIES; i++) l->key[i] = (uint32_t)i;
    struct root *first = straight_ok(f, l, 1);
    l->value[ENTRIES / 2] = 1;
    struct root *second = straight_ok(f, l, 2);
    struct segment_list before = segments_of(f->pool, first), now = segments_of(f->pool, second);
    assert_true(before.segments > 10);
    assert_int_equal(before.segments, now.segments);
    assert_int_equal(now.groups, 1);
    size_t differ = 0;
    for (size_t i = 0; i < now.segments; i++)
        differ += memcmp(now.segment[i].hash, before.segment[i].hash, sizeof now.segment[i].hash) != 0;
    assert_int_equal(differ, 1);
    root_unref(first);
    root_unref(second);
    free(l);
}

/* The text of a segment that ends with 7 is also the beginning of one that ends with 70. */
static void test_a_number_is_complete(void **state)
{
    struct fixture *f = *state;
    for (size_t at = 0; at < ENTRIES; at += 7) {
        struct large *l = NEW(struct large);
        *l = (struct large){.count = ENTRIES, .kind = 1};
        for (size_t i = 0; i < ENTRIES; i++) l->key[i] = 10000 + (uint32_t)i;
        struct root *first = straight_ok(f, l, 1);
        l->key[at] *= 10;
        char *text = text_of(l, 2);
        root_unref(pack_both(f, text));
        root_unref(first);
        free(text);
        free(l);
    }
}

/* A stretch that was walked as a list is no map, whatever stands between the commas. */
static void test_a_list_is_no_map(void **state)
{
    struct fixture *f = *state;
    struct large *l = NEW(struct large);
    *l = (struct large){.count = ENTRIES, .kind = 0};
    struct root *first = straight_ok(f, l, 1);
    char *text = text_of(l, 2);
    *strchr(text, '[') = '{';
    *strchr(text, ']') = '}';
    assert_null(straight(f->packer, str_of(text)));
    assert_null(by_tape(f->packer, str_of(text)));
    root_unref(first);
    free(text);
    free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random_changes, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_what_is_equal_is_copied, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_number_is_complete, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_list_is_no_map, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

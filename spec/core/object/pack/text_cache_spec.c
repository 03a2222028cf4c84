/* core/object/text_cache: what is found is right, whatever had to go. */
#include "core/object/support/objects.h"

#include <stdio.h>
#include <string.h>

#include "object/pack/text_cache.h"

enum { TEXT = 200 };

/* Bytes that a cache may take beyond its usual bound; whether the nodes are new. */
static size_t most;
static bool fresh = true;

/* `head` decides the first bytes, `tail` the rest. */
static void write_text(char text[TEXT + 1], unsigned head, unsigned tail)
{
    memset(text, '.', TEXT);
    text[TEXT] = '\0';
    memcpy(text, "{head", 5);
    text[5 + snprintf(text + 5, 20, "%u", head)] = '.';
    text[TEXT - 20 + snprintf(text + TEXT - 20, 20, "%u", tail)] = '.';
    text[TEXT - 1] = '}';
}

static void insert(struct text_cache *cache, const char *text, uint32_t anchor, uint32_t granule)
{
    struct text_entry entry = {.length = TEXT, .tokens = 2, .height = 1, .granule = granule};
    text_cache_insert(cache, text_places(text, anchor), text, &entry, fresh, most);
}

static uint32_t find(const struct text_cache *cache, const char *text, uint32_t anchor)
{
    const struct text_entry *entry = text_cache_find(cache, text_places(text, anchor), text, TEXT);
    return entry ? entry->granule : 0;
}

static void test_a_text_is_found_with_its_node(void **state)
{
    struct text_cache cache = {0};
    char text[TEXT + 1], other[TEXT + 1];
    write_text(text, 1, 1);
    write_text(other, 1, 2);
    assert_int_equal(find(&cache, text, 0), 0);
    insert(&cache, text, 7, 42);
    assert_int_equal(find(&cache, text, 7), 42);
    assert_int_equal(find(&cache, text, 8), 42); /* the first of its kind belongs to all */
    assert_int_equal(find(&cache, other, 7), 0); /* begins like it */
    assert_null(text_cache_find(&cache, text_places(text, 7), text, TEXT - 1)); /* there is less of it */
    text_cache_clear(&cache);
    assert_int_equal(text_cache_bytes(&cache), 0);
}

static void test_texts_that_begin_alike_are_distinguished_by_their_object(void **state)
{
    enum { MANY = 300 };
    struct text_cache cache = {0};
    char text[TEXT + 1];
    for (unsigned i = 1; i <= MANY; i++) {
        write_text(text, 1, i);
        insert(&cache, text, i, i);
    }
    unsigned known = 0;
    for (unsigned i = 1; i <= MANY; i++) {
        write_text(text, 1, i);
        uint32_t granule = find(&cache, text, i);
        assert_true(granule == 0 || granule == i);
        known += granule == i;
    }
    /* Were they one to the cache it would know TEXT_CACHE_WAYS; as hashes are seeded, some meet in a set. */
    assert_true(known > MANY / 2);
    text_cache_clear(&cache);
}

/* Else what all objects have would fill the memory, and a search by node would walk through all of it. */
static void test_what_objects_have_in_common_has_few_entries(void **state)
{
    enum { OBJECTS = 1000, ALIKE = 2 * TEXT_CACHE_WAYS };
    struct text_cache cache = {0};
    char text[TEXT + 1];
    for (unsigned i = 0; i < OBJECTS; i++) {
        for (unsigned k = 0; k < ALIKE; k++) {
            write_text(text, 1, k);
            if (!find(&cache, text, i + 1)) insert(&cache, text, i + 1, k + 1);
        }
    }
    assert_true(cache.count <= 3 * ALIKE);
    text_cache_clear(&cache);
}

static void test_a_node_that_goes_takes_all_its_texts(void **state)
{
    struct text_cache cache = {0};
    char text[3][TEXT + 1];
    for (unsigned i = 0; i < 3; i++) {
        write_text(text[i], i, i);
        insert(&cache, text[i], i, i < 2 ? 5 : 6);
    }
    text_cache_forget(&cache, 5);
    assert_int_equal(find(&cache, text[0], 0), 0);
    assert_int_equal(find(&cache, text[1], 1), 0);
    assert_int_equal(find(&cache, text[2], 2), 6);
    text_cache_forget(&cache, 5);
    text_cache_forget(&cache, 6);
    assert_int_equal(text_cache_bytes(&cache), 0); /* nothing is kept for nothing */
}

static void test_it_stays_within_its_bound(void **state)
{
    enum { TWICE = TEXT_CACHE_SETS * TEXT_CACHE_WAYS * 2 };
    struct text_cache cache = {0};
    char text[TEXT + 1];
    for (unsigned i = 1; i <= TWICE; i++) {
        write_text(text, i, i);
        insert(&cache, text, i, i);
        assert_int_equal(find(&cache, text, i), i); /* the newest always */
    }
    assert_true(cache.count <= TEXT_CACHE_SETS * TEXT_CACHE_WAYS);
    assert_true(cache.count > TEXT_CACHE_SETS * TEXT_CACHE_WAYS / 2);
    assert_true(text_cache_bytes(&cache) <= TEXT_CACHE_SETS * TEXT_CACHE_WAYS * 48u);
    size_t full = text_cache_bytes(&cache);
    for (unsigned i = 1; i <= TWICE / 64 * 63; i++) text_cache_forget(&cache, i);
    assert_true(cache.count > 0 && text_cache_bytes(&cache) < full / 4); /* it shrinks with what is in it */
    for (unsigned i = 1; i <= TWICE; i++) text_cache_forget(&cache, i);
    assert_int_equal(cache.count, 0);
    assert_int_equal(text_cache_bytes(&cache), 0);
}

enum { USUAL = TEXT_CACHE_SETS * TEXT_CACHE_WAYS, MANY = USUAL * 3 };

static unsigned count_found(const struct text_cache *cache)
{
    char text[TEXT + 1];
    unsigned found = 0;
    for (unsigned i = 1; i <= MANY; i++) {
        write_text(text, i, i);
        uint32_t node = find(cache, text, i);
        assert_true(node == 0 || node == i);
        found += node == i;
    }
    return found;
}

static void insert_many(struct text_cache *cache, bool of_new_nodes)
{
    char text[TEXT + 1];
    fresh = of_new_nodes;
    for (unsigned i = 1; i <= MANY; i++) {
        write_text(text, i, i);
        if (find(cache, text, i) == 0) insert(cache, text, i, i);
    }
    fresh = true;
}

/* Beside many objects, whose texts come again, it takes more, until they are all there. */
static void test_it_grows_when_texts_come_again_and_gives_that_back(void **state)
{
    struct text_cache cache = {0};
    most = (size_t)USUAL * 8 * TEXT_CACHE_ENTRY;
    insert_many(&cache, true);
    assert_true(cache.count <= USUAL); /* nobody knows that they will */
    for (int i = 0; i < 3; i++) insert_many(&cache, false);
    assert_true(count_found(&cache) > MANY / 10 * 9);
    assert_true(text_cache_bytes(&cache) <= most);
    text_cache_trim(&cache);
    assert_true(count_found(&cache) <= USUAL && cache.count > USUAL / 10 * 9);
    assert_true(text_cache_bytes(&cache) <= USUAL * 40u);
    text_cache_clear(&cache);
    most = 0;
    for (int i = 0; i < 3; i++) insert_many(&cache, false);
    assert_true(cache.count <= USUAL); /* it may not */
    text_cache_clear(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_text_is_found_with_its_node),
        cmocka_unit_test(test_texts_that_begin_alike_are_distinguished_by_their_object),
        cmocka_unit_test(test_what_objects_have_in_common_has_few_entries),
        cmocka_unit_test(test_a_node_that_goes_takes_all_its_texts),
        cmocka_unit_test(test_it_stays_within_its_bound),
        cmocka_unit_test(test_it_grows_when_texts_come_again_and_gives_that_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

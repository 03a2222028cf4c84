/* core/object/slab: cells and runs of slabs in one region. */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/pack/slab.h"

static struct slabs *slabs;

static int setup(void **state)
{
    slabs = slabs_new(64, 0);
    return slabs ? 0 : -1;
}

static int teardown(void **state)
{
    slabs_free(slabs);
    return 0;
}

static char *bytes_at(uint32_t granule)
{
    return region_at(slabs->region, granule);
}

static void test_the_region_is_aligned_to_its_size(void **state)
{
    assert_int_equal((uintptr_t)slabs & (((uintptr_t)1 << REGION_SHIFT) - 1), 0);
    assert_ptr_equal(slabs->region, slabs);
    uint32_t granule = slabs_alloc(slabs, 100);
    assert_ptr_equal(region_of(bytes_at(granule)), slabs);
    assert_int_equal(granule_of(bytes_at(granule)), granule);
    slabs_release(slabs, granule, 100);
}

static void test_each_size_is_given_in_full(void **state)
{
    enum { LARGEST = 200000 };
    uint32_t *granule = xcalloc(LARGEST, sizeof *granule);
    size_t asked = 0;
    for (size_t size = 1; size < LARGEST; size += 1 + size / 50) {
        granule[size] = slabs_alloc(slabs, size);
        assert_true(granule[size] != 0);
        memset(bytes_at(granule[size]), (int)size, size);
        asked += size;
    }
    assert_in_range(slabs->used_bytes, asked, asked + asked / 3);
    for (size_t size = 1; size < LARGEST; size += 1 + size / 50) {
        assert_int_equal((unsigned char)bytes_at(granule[size])[0], size & 255);
        assert_int_equal((unsigned char)bytes_at(granule[size])[size - 1], size & 255);
        slabs_release(slabs, granule[size], size);
    }
    assert_int_equal(slabs->used_bytes, 0);
    free(granule);
}

struct result_cell {
    uint32_t granule;
    size_t size;
    unsigned char mark;
};

static void check(const struct result_cell *cell)
{
    for (size_t i = 0; i < cell->size; i += 1 + cell->size / 16) {
        assert_int_equal((unsigned char)bytes_at(cell->granule)[i], cell->mark);
    }
}

static size_t random_size(struct random *r)
{
    uint32_t bits = 4 + random_below(r, random_below(r, 10) == 0 ? 14 : 8);
    return 1 + random_below(r, 1u << bits);
}

static void move(struct result_cell *cell)
{
    uint32_t to = slabs_alloc(slabs, cell->size);
    assert_true(to != 0 && !slabs_is_emptying(slabs, to));
    memcpy(bytes_at(to), bytes_at(cell->granule), cell->size);
    slabs_release(slabs, cell->granule, cell->size);
    cell->granule = to;
}

static void move_some(struct result_cell *cells, size_t count, struct random *r)
{
    if (random_below(r, 2) == 0) slabs_end_emptying(slabs);
    if (slabs->emptying_count == 0) slabs_begin_emptying(slabs);
    for (size_t i = 0; i < count; i++)
        if (cells[i].granule && slabs_is_emptying(slabs, cells[i].granule) && random_below(r, 3) > 0)
            move(&cells[i]);
}

static void test_cells_never_overlap(void **state)
{
    enum { CELLS = 3000, STEPS = 200000 };
    struct random r = random_start("cells");
    struct result_cell *cells = xcalloc(CELLS, sizeof *cells);
    for (int i = 0; i < STEPS; i++) {
        struct result_cell *cell = &cells[random_below(&r, CELLS)];
        if (random_below(&r, 500) == 0) move_some(cells, CELLS, &r);
        if (cell->granule) {
            check(cell);
            slabs_release(slabs, cell->granule, cell->size);
            cell->granule = 0;
            continue;
        }
        cell->size = random_size(&r);
        cell->granule = slabs_alloc(slabs, cell->size);
        cell->mark = (unsigned char)i;
        memset(bytes_at(cell->granule), cell->mark, cell->size);
    }
    for (size_t i = 0; i < CELLS; i++) {
        if (cells[i].granule) slabs_release(slabs, cells[i].granule, cells[i].size);
    }
    assert_int_equal(slabs->used_bytes, 0);
    assert_int_equal(slabs->emptying_count, 0);
    assert_int_equal(slabs->vacant_count, slabs->top - slabs->first);
    free(cells);
}

static void test_the_emptiest_slabs_are_emptied_into_the_others(void **state)
{
    enum { CELLS = 80000 }; /* so many that a last slab of each size, in part in use, is little */
    struct random r = random_start("emptying");
    struct result_cell *cells = xcalloc(CELLS, sizeof *cells);
    size_t left = 0, moved = 0;
    for (size_t i = 0; i < CELLS; i++) {
        cells[i].size = 100 + 300 * (i % 4);
        cells[i].granule = slabs_alloc(slabs, cells[i].size);
        memset(bytes_at(cells[i].granule), cells[i].mark = (unsigned char)i, cells[i].size);
    }
    for (size_t i = 0; i < CELLS; i++) {
        if (random_below(&r, CELLS) < i / 4) continue; /* later ones more often */
        slabs_release(slabs, cells[i].granule, cells[i].size);
        cells[i].granule = 0;
    }
    size_t used = slabs->used_bytes, top = slabs->top, unused = slabs_unused(slabs);
    assert_true(slabs_begin_emptying(slabs) > 0);
    for (size_t i = 0; i < CELLS; i++) {
        left += cells[i].granule != 0;
        if (!cells[i].granule || !slabs_is_emptying(slabs, cells[i].granule)) continue;
        move(&cells[i]);
        moved++;
    }
    assert_int_equal(slabs->emptying_count, 0);
    slabs_end_emptying(slabs);
    assert_int_equal(slabs->used_bytes, used);
    assert_int_equal(slabs->top, top);
    assert_true(unused > used && slabs_unused(slabs) < used / 16);
    assert_in_range(moved, 1, left - left / 8); /* the fullest keep theirs */
    for (size_t i = 0; i < CELLS; i++) {
        if (!cells[i].granule) continue;
        check(&cells[i]);
        slabs_release(slabs, cells[i].granule, cells[i].size);
    }
    free(cells);
}

static bool may_be_huge(uint32_t slab)
{
    uint32_t place = slab / SLABS_OF_HUGE;
    return !(slabs->small[place / 64] >> place % 64 & 1);
}

static void test_what_was_emptied_gets_no_huge_pages_until_it_is_full(void **state)
{
    enum { CELLS = 64 << 20 >> 14, BYTES = 1 << 14 };
    uint32_t *cell = xcalloc(CELLS, sizeof *cell);
    for (size_t i = 0; i < CELLS; i++) cell[i] = slabs_alloc(slabs, BYTES);
    for (size_t i = 0; i < CELLS; i++) {
        if (i % 128 < 8) continue; /* two slabs of each huge page stay */
        slabs_release(slabs, cell[i], BYTES);
        cell[i] = 0;
    }
    assert_int_equal(slabs_begin_emptying(slabs), 0); /* those are full */
    slabs_end_emptying(slabs);
    uint32_t in = cell[CELLS / 2] / SLAB_GRANULES;
    assert_false(may_be_huge(in));
    for (size_t i = 0; i < CELLS; i++)
        if (!cell[i]) cell[i] = slabs_alloc(slabs, BYTES);
    assert_true(may_be_huge(in));
    assert_int_equal(slabs->small_count, 0);
    for (size_t i = 0; i < CELLS; i++) slabs_release(slabs, cell[i], BYTES);
    slabs_end_emptying(slabs);
    assert_in_range(slabs->small_count, 0, 2); /* beside the head, and beside what was never used */
    free(cell);
}

static void test_slabs_that_stay_get_cells_again(void **state)
{
    enum { CELLS = 256 }; /* in four slabs, of which one takes what is left */
    uint32_t cell[CELLS];
    for (size_t i = 0; i < CELLS; i++) cell[i] = slabs_alloc(slabs, 1024);
    for (size_t i = 0; i < CELLS; i++)
        if (i % 4) slabs_release(slabs, cell[i], 1024);
    assert_int_equal(slabs_begin_emptying(slabs), 3);
    slabs_end_emptying(slabs);
    assert_int_equal(slabs->emptying_count, 0);
    size_t top = slabs->top;
    for (size_t i = 0; i < CELLS; i++)
        if (i % 4) cell[i] = slabs_alloc(slabs, 1024);
    assert_int_equal(slabs->top, top);
    for (size_t i = 0; i < CELLS; i++) slabs_release(slabs, cell[i], 1024);
}

static void test_vacant_slabs_are_used_again(void **state)
{
    for (int round = 0; round < 50; round++) {
        uint32_t run = slabs_alloc(slabs, 10 * SLAB_BYTES), cell = slabs_alloc(slabs, 64);
        assert_true(run != 0 && cell != 0);
        slabs_release(slabs, run, 10 * SLAB_BYTES);
        slabs_release(slabs, cell, 64);
    }
    assert_in_range(slabs->top - slabs->first, 11, 22);
}

static void test_a_large_amount_is_given_back(void **state)
{
    enum { RUNS = 64 };
    uint32_t run[RUNS];
    size_t empty = slabs_resident(slabs);
    for (size_t i = 0; i < RUNS; i++) run[i] = slabs_alloc(slabs, 16 * SLAB_BYTES);
    assert_true(slabs_resident(slabs) > 64 << 20);
    for (size_t i = 0; i < RUNS; i++) slabs_release(slabs, run[(i * 7) % RUNS], 16 * SLAB_BYTES);
    assert_true(slabs_resident(slabs) < empty + (5 << 20));
    run[0] = slabs_alloc(slabs, 512 * SLAB_BYTES);
    memset(bytes_at(run[0]), 1, 512 * (size_t)SLAB_BYTES);
    slabs_release(slabs, run[0], 512 * SLAB_BYTES);
}

static void test_a_limit_is_kept(void **state)
{
    struct slabs *small = slabs_new(0, 1 << 20);
    size_t count = 0;
    while (slabs_alloc(small, SLAB_BYTES / 2) != 0) count++;
    assert_int_equal(count, 2 * (1 << 20) / SLAB_BYTES);
    assert_int_equal(slabs_alloc(small, SLAB_BYTES), 0);
    assert_int_equal(slabs_alloc(small, (size_t)1 << 40), 0);
    slabs_free(small);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_the_region_is_aligned_to_its_size),
        TEST(test_each_size_is_given_in_full),
        TEST(test_cells_never_overlap),
        TEST(test_the_emptiest_slabs_are_emptied_into_the_others),
        TEST(test_what_was_emptied_gets_no_huge_pages_until_it_is_full),
        TEST(test_slabs_that_stay_get_cells_again),
        TEST(test_vacant_slabs_are_used_again),
        TEST(test_a_large_amount_is_given_back),
        TEST(test_a_limit_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Size classes over one reserved region; see slab.h. */
#include "object/pack/slab.h"

#include <sys/mman.h>

#include "base/must.h"
#include "object/pack/slab_internal.h"

#ifdef __has_feature
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#define HIDE(at, size)   __asan_poison_memory_region(at, size)
#define SHOW(at, size)   __asan_unpoison_memory_region(at, size)
/* Registers a region with the leak checker, as pointers in it keep memory alive. */
#define ROOT(at, size)   __lsan_register_root_region(at, size)
#define UNROOT(at, size) __lsan_unregister_root_region(at, size)
#else
#define HIDE(at, size)   ((void)0)
#define SHOW(at, size)   ((void)0)
#define ROOT(at, size)   ((void)0)
#define UNROOT(at, size) ((void)0)
#endif

enum {
    CELL_MAX = SLAB_CELL_MAX,
    CELL_NONE = SLAB_CELL_NONE,
    FINE_MAX = 256, /* steps of 16 bytes up to here, then eight steps for each power of two: at most an eighth
                       is wasted */
    FINE_CLASSES = FINE_MAX / GRANULE_BYTES,
    GRANULES = SLAB_GRANULES,
    COMMIT_SLABS = SLABS_OF_HUGE,
    DIRTY_MIN = 32, /* fewest vacant slabs that are kept for later */
};

#define REGION_BYTES ((size_t)1 << REGION_SHIFT)

unsigned slab_class(size_t bytes)
{
    if (bytes <= FINE_MAX) return (unsigned)((bytes + GRANULE_BYTES - 1) / GRANULE_BYTES) - 1;
    unsigned power = 63 - (unsigned)__builtin_clzll(bytes - 1); /* 2^power < bytes <= 2^(power+1) */
    unsigned step = (unsigned)((bytes - 1) >> (power - 3)) & 7;
    return FINE_CLASSES + (power - 8) * 8 + step;
}

size_t slab_class_bytes(unsigned class_)
{
    if (class_ < FINE_CLASSES) return (size_t)(class_ + 1) * GRANULE_BYTES;
    unsigned power = (class_ - FINE_CLASSES) / 8 + 8, step = (class_ - FINE_CLASSES) % 8;
    return (size_t)(9 + step) << (power - 3);
}

static char *slab_start(const struct slabs *s, uint32_t slab)
{
    return s->region + ((size_t)slab << SLAB_SHIFT);
}

/* Reserves address space: twice the size, cut down to an aligned part, as mmap aligns to pages only. */
static char *reserve(void)
{
    char *raw = mmap(NULL, 2 * REGION_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) return NULL;
    char *region = region_of(raw + REGION_BYTES - 1);
    if (region > raw) munmap(raw, (size_t)(region - raw));
    size_t behind = (size_t)(raw + 2 * REGION_BYTES - (region + REGION_BYTES));
    if (behind > 0) munmap(region + REGION_BYTES, behind);
    madvise(region, REGION_BYTES, MADV_NOHUGEPAGE);
    return region;
}

/* Makes slabs below `wanted` usable, in steps, as each call of mprotect costs. */
static bool commit(struct slabs *s, char *region, uint32_t *committed, uint32_t wanted)
{
    if (wanted <= *committed) return true;
    uint32_t upto = (wanted + COMMIT_SLABS - 1) / COMMIT_SLABS * COMMIT_SLABS;
    char *from = region + ((size_t)*committed << SLAB_SHIFT), *to = region + ((size_t)upto << SLAB_SHIFT);
    if (mprotect(from, (size_t)(to - from), PROT_READ | PROT_WRITE) != 0) return false;
    if (s && upto >= SLABS_HUGE_FROM) {
        if (*committed < SLABS_HUGE_FROM) from = region;
        madvise(from, (size_t)(to - from), MADV_HUGEPAGE);
    }
    *committed = upto;
    return true;
}

struct slabs *slabs_new(size_t reserved, size_t limit_bytes)
{
    char *region = reserve();
    if (!region) return NULL;
    uint32_t head = (uint32_t)((sizeof(struct slabs) + reserved + SLAB_BYTES - 1) >> SLAB_SHIFT),
             committed = 0;
    if (!commit(NULL, region, &committed, head)) {
        munmap(region, REGION_BYTES);
        return NULL;
    }
    struct slabs *s = (struct slabs *)region;
    size_t limit = limit_bytes / SLAB_BYTES;
    s->region = region;
    s->first = s->top = head;
    s->committed = committed;
    ROOT(region, (size_t)head << SLAB_SHIFT);
    s->limit = limit_bytes == 0 || head + limit > SLABS ? SLABS : head + (uint32_t)limit;
    return s;
}

void slabs_free(struct slabs *s)
{
    char *region = s->region;
    UNROOT(region, (size_t)s->first << SLAB_SHIFT);
    SHOW(region, (size_t)s->committed << SLAB_SHIFT);
    munmap(region, REGION_BYTES);
}

/* Returns the first run of `count` vacant slabs, or 0. Words without a bit are skipped, as nearly all slabs
 * of a full pool are in use. */
static uint32_t find_vacant(const struct slabs *s, const uint64_t *bits, uint32_t count)
{
    uint32_t run = 0;
    for (uint32_t slab = 0; slab < s->top; slab++) {
        if (slab % 64 == 0 && bits[slab / 64] == 0) {
            run = 0;
            slab += 63;
        } else {
            run = slab_marked(bits, slab) ? run + 1 : 0;
            if (run == count) return slab - count + 1;
        }
    }
    return 0;
}

static uint32_t take_slabs(struct slabs *s, uint32_t count)
{
    uint32_t first = 0;
    /* Dirty slabs first: they still have memory, while others would fault it in again. */
    if (s->dirty_count >= count) first = find_vacant(s, s->dirty, count);
    if (!first && s->vacant_count >= count) first = find_vacant(s, s->vacant, count);
    if (!first) {
        if (count > s->limit - s->top || !commit(s, s->region, &s->committed, s->top + count)) return 0;
        first = s->top;
        s->top += count;
        return first;
    }
    for (uint32_t slab = first; slab < first + count; slab++) {
        s->dirty_count -= slab_marked(s->dirty, slab);
        slab_mark(s->vacant, slab, false);
        slab_mark(s->dirty, slab, false);
        if (s->small_count > 0) slabs_note_full(s, slab);
    }
    s->vacant_count -= count;
    return first;
}

void slabs_give_back(struct slabs *s)
{
    for (uint32_t slab = 0; slab < s->top; slab++) {
        uint32_t first = slab;
        while (slab < s->top && slab_marked(s->dirty, slab)) slab_mark(s->dirty, slab++, false);
        if (slab == first) continue;
        SHOW(slab_start(s, first), (size_t)(slab - first) << SLAB_SHIFT);
        madvise(slab_start(s, first), (size_t)(slab - first) << SLAB_SHIFT, MADV_DONTNEED);
    }
    s->dirty_count = 0;
}

static void leave_slabs(struct slabs *s, uint32_t first, uint32_t count)
{
    for (uint32_t slab = first; slab < first + count; slab++) {
        slab_mark(s->vacant, slab, true);
        slab_mark(s->dirty, slab, true);
    }
    s->vacant_count += count;
    s->dirty_count += count;
    uint32_t used = s->top - s->first - s->vacant_count;
    /* An eighth of the used slabs stays, so that updates, which free and allocate alike, do not fault memory
     * in each time. */
    if (s->dirty_count > DIRTY_MIN && s->dirty_count > used / 8) slabs_give_back(s);
}

void slab_list_add(struct slabs *s, uint32_t slab)
{
    uint32_t *head = &s->room[s->slab[slab].class_];
    s->slab[slab].prev = 0;
    s->slab[slab].next = *head;
    if (*head) s->slab[*head].prev = slab;
    *head = slab;
}

void slab_list_remove(struct slabs *s, uint32_t slab)
{
    const struct slab *b = &s->slab[slab];
    if (b->prev) {
        s->slab[b->prev].next = b->next;
    } else {
        s->room[b->class_] = b->next;
    }
    if (b->next) s->slab[b->next].prev = b->prev;
}

static bool is_full(const struct slab *b, size_t cell)
{
    return b->freed == CELL_NONE && b->fresh + cell / GRANULE_BYTES > GRANULES;
}

/* Counts used bytes. Only the pool's thread writes, so a load and a store are enough; other threads read. */
static void count_used(struct slabs *s, size_t difference)
{
    size_t used = atomic_load_explicit(&s->used_bytes, memory_order_relaxed);
    atomic_store_explicit(&s->used_bytes, used + difference, memory_order_relaxed);
}

static uint32_t alloc_cell(struct slabs *s, unsigned class_)
{
    size_t cell = slab_class_bytes(class_);
    uint32_t slab = s->room[class_];
    if (!slab) {
        slab = take_slabs(s, 1);
        if (!slab) return 0;
        s->slab[slab] = (struct slab){.class_ = (uint16_t)class_, .freed = CELL_NONE};
        slab_list_add(s, slab);
    }
    struct slab *b = &s->slab[slab];
    uint32_t at = b->freed;
    if (at != CELL_NONE) {
        SHOW(slab_start(s, slab) + at * GRANULE_BYTES, cell);
        /* A free cell stores the next free one in its first bytes. */
        memcpy(&b->freed, slab_start(s, slab) + at * GRANULE_BYTES, sizeof b->freed);
    } else {
        at = b->fresh;
        b->fresh = (uint16_t)(at + cell / GRANULE_BYTES);
        SHOW(slab_start(s, slab) + at * GRANULE_BYTES, cell);
    }
    b->used++;
    if (is_full(b, cell)) slab_list_remove(s, slab);
    count_used(s, cell);
    return slab * GRANULES + at;
}

/* Returns false if it was not one of them. */
static bool forget_emptying(struct slabs *s, uint32_t slab)
{
    if (s->emptying_count == 0 || !slab_marked(s->emptying, slab)) return false;
    slab_mark(s->emptying, slab, false);
    s->emptying_count--;
    return true;
}

static void release_cell(struct slabs *s, uint32_t granule, size_t cell)
{
    uint32_t slab = granule / GRANULES;
    struct slab *b = &s->slab[slab];
    must(b->used > 0 && slab_class_bytes(b->class_) == cell);
    bool was_full = is_full(b, cell);
    count_used(s, -cell);
    if (--b->used == 0) {
        if (!was_full && !forget_emptying(s, slab)) slab_list_remove(s, slab);
        HIDE(slab_start(s, slab), SLAB_BYTES);
        leave_slabs(s, slab, 1);
        return;
    }
    char *at = region_at(s->region, granule);
    memcpy(at, &b->freed, sizeof b->freed);
    HIDE(at, cell);
    b->freed = (uint16_t)(granule % GRANULES);
    if (was_full) slab_list_add(s, slab);
}

uint32_t slabs_alloc(struct slabs *s, size_t bytes)
{
    if (bytes <= CELL_MAX) return alloc_cell(s, slab_class(bytes));
    size_t count = (bytes + SLAB_BYTES - 1) >> SLAB_SHIFT;
    uint32_t slab = count < SLABS ? take_slabs(s, (uint32_t)count) : 0;
    if (!slab) return 0;
    SHOW(slab_start(s, slab), count << SLAB_SHIFT);
    count_used(s, count << SLAB_SHIFT);
    return slab * GRANULES;
}

void slabs_release(struct slabs *s, uint32_t granule, size_t bytes)
{
    if (bytes <= CELL_MAX) {
        release_cell(s, granule, slab_class_bytes(slab_class(bytes)));
        return;
    }
    uint32_t count = (uint32_t)((bytes + SLAB_BYTES - 1) >> SLAB_SHIFT), slab = granule / GRANULES;
    HIDE(slab_start(s, slab), (size_t)count << SLAB_SHIFT);
    count_used(s, -((size_t)count << SLAB_SHIFT));
    leave_slabs(s, slab, count);
}

size_t slabs_cell_bytes(const struct slabs *s, uint32_t granule)
{
    return slab_class_bytes(s->slab[granule / GRANULES].class_);
}

size_t slabs_resident(const struct slabs *s)
{
    return ((size_t)(s->top - s->first - s->vacant_count + s->dirty_count) << SLAB_SHIFT) +
           s->top * sizeof s->slab[0];
}

bool slabs_extend(struct slabs *s, uint32_t top)
{
    must(s->top == s->first);
    if (top < s->first || top > s->limit || !commit(s, s->region, &s->committed, top)) return false;
    for (uint32_t slab = s->first; slab < top; slab++) slab_mark(s->vacant, slab, true);
    s->vacant_count = top - s->first;
    s->top = top;
    return true;
}

static void unmark_vacant(struct slabs *s, uint32_t slab)
{
    must(slab_marked(s->vacant, slab));
    slab_mark(s->vacant, slab, false);
    s->vacant_count--;
}

void slabs_restore_cells(struct slabs *s, uint32_t slab, const struct slab *state)
{
    size_t cell = slab_class_bytes(state->class_);
    char *start = slab_start(s, slab);
    unmark_vacant(s, slab);
    s->slab[slab] = *state;
    if (!is_full(state, cell)) slab_list_add(s, slab);
    count_used(s, state->used * cell);
    for (uint16_t at = state->freed; at != CELL_NONE;) {
        char *free_cell = start + at * GRANULE_BYTES;
        memcpy(&at, free_cell, sizeof at);
        HIDE(free_cell, cell);
    }
    HIDE(start + state->fresh * GRANULE_BYTES, (size_t)SLAB_BYTES - state->fresh * GRANULE_BYTES);
}

void slabs_restore_block(struct slabs *s, uint32_t slab, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) unmark_vacant(s, slab + i);
    count_used(s, (size_t)count << SLAB_SHIFT);
}

/* Slabs with few cells, which are emptied into others; see slab.h. Only the emptiest are: as many as the rest
 * of their class has room for, so that nothing is allocated for that, and the fewest cells are moved. */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "object/pack/slab_internal.h"

/* A slab that is fuller is not worth it: beyond three quarters three cells are moved for the room of one. */
enum { FULL_OF_4 = 3 };

size_t slabs_unused(const struct slabs *s)
{
    size_t used = atomic_load_explicit(&s->used_bytes, memory_order_relaxed);
    return ((size_t)(s->top - s->first - s->vacant_count) << SLAB_SHIFT) - used;
}

/* Slabs of one class that have room, by the number of their cells. */
struct fill {
    uint32_t cap;                      /* cells that a slab has room for */
    uint32_t slabs[SLAB_GRANULES + 1]; /* with so many cells */
    uint32_t most, of_most;            /* cells of one that is to be emptied; slabs with just as many */
};

static void count_slabs(const struct slabs *s, unsigned class_, struct fill *fill)
{
    fill->cap = (uint32_t)(SLAB_BYTES / slab_class_bytes(class_));
    for (uint32_t i = 0; i <= fill->cap; i++) fill->slabs[i] = 0;
    for (uint32_t slab = s->room[class_]; slab; slab = s->slab[slab].next) fill->slabs[s->slab[slab].used]++;
}

/* Finds how full a slab may be whose cells still have room in fuller ones; returns how many slabs those are.
 */
static uint32_t choose(struct fill *fill)
{
    uint64_t room = 0, live = 0;
    uint32_t count = 0;
    for (uint32_t used = 1; used < fill->cap; used++)
        room += (uint64_t)fill->slabs[used] * (fill->cap - used);
    for (uint32_t used = 1; used * 4 < fill->cap * FULL_OF_4; used++) {
        fill->most = used;
        for (fill->of_most = 0; fill->of_most < fill->slabs[used]; fill->of_most++, count++) {
            live += used;
            room -= fill->cap - used;
            if (live > room) return count;
        }
    }
    return count;
}

static void empty(struct slabs *s, unsigned class_, struct fill *fill)
{
    uint32_t next;
    for (uint32_t slab = s->room[class_]; slab; slab = next) {
        next = s->slab[slab].next;
        uint32_t used = s->slab[slab].used;
        if (used > fill->most || (used == fill->most && fill->of_most == 0)) continue;
        fill->of_most -= used == fill->most;
        slab_list_remove(s, slab);
        slab_mark(s->emptying, slab, true);
        s->emptying_count++;
    }
}

uint32_t slabs_begin_emptying(struct slabs *s)
{
    struct fill *fill = NEW(struct fill);
    for (unsigned class_ = 0; class_ < SLAB_CLASSES; class_++) {
        count_slabs(s, class_, fill);
        if (choose(fill) > 0) empty(s, class_, fill);
    }
    free(fill);
    return s->emptying_count;
}

/* --- huge pages */

/* Returns bits of the vacant slabs in the place of a huge page. */
static uint32_t vacant_in(const struct slabs *s, uint32_t place)
{
    return (uint32_t)(s->vacant[place / 2] >> place % 2 * SLABS_OF_HUGE);
}

static void set_small(struct slabs *s, uint32_t place, bool small)
{
    if (slab_marked(s->small, place) == small) return;
    slab_mark(s->small, place, small);
    s->small_count += small ? 1 : -1u;
    char *start = s->region + ((size_t)place * SLABS_OF_HUGE << SLAB_SHIFT);
    madvise(start, (size_t)SLABS_OF_HUGE << SLAB_SHIFT, small ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
}

/* The system makes huge pages out of few small ones, by itself and later: vacant slabs beside those in use
 * would have memory again. */
static void keep_vacant(struct slabs *s)
{
    if (s->committed < SLABS_HUGE_FROM) return;
    for (uint32_t place = 0; place < s->committed / SLABS_OF_HUGE; place++) {
        uint32_t vacant = vacant_in(s, place);
        set_small(s, place, vacant != 0 && vacant != UINT32_MAX);
    }
}

void slabs_note_full(struct slabs *s, uint32_t slab)
{
    uint32_t place = slab / SLABS_OF_HUGE;
    if (vacant_in(s, place) == 0) set_small(s, place, false);
}

void slabs_end_emptying(struct slabs *s)
{
    for (uint32_t slab = s->first; slab < s->top && s->emptying_count > 0; slab++) {
        if (!slab_marked(s->emptying, slab)) continue;
        slab_mark(s->emptying, slab, false);
        s->emptying_count--;
        slab_list_add(s, slab);
    }
    slabs_give_back(s);
    keep_vacant(s);
}

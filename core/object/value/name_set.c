/* A hash table of names; see name_set.h. */
#include "object/value/name_set.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

enum { SLOTS_MIN = 64 };

struct slot {
    char *name; /* NULL: empty */
    uint32_t n;
    bool whole;
};

struct name_set {
    struct slot *slots; /* open addressing, at most half full */
    size_t count, cap;
    struct str beginning; /* of names that are kept whatever follows; owned; `p` NULL: there are none */
};

static struct slot *slot_of(const struct name_set *set, struct str name)
{
    size_t at = (size_t)hash_str(name) & (set->cap - 1);
    while (set->slots[at].name && !str_eq((struct str){set->slots[at].name, set->slots[at].n}, name))
        at = (at + 1) & (set->cap - 1);
    return &set->slots[at];
}

struct name_set *name_set_new(void)
{
    struct name_set *set = NEW(struct name_set);
    set->cap = SLOTS_MIN;
    set->slots = xcalloc(set->cap, sizeof *set->slots);
    return set;
}

void name_set_free(struct name_set *set)
{
    if (!set) return;
    for (size_t i = 0; i < set->cap; i++) free(set->slots[i].name);
    free(set->slots);
    free((char *)set->beginning.p);
    free(set);
}

struct name_set *name_set_copy(const struct name_set *from)
{
    struct name_set *set = name_set_new();
    for (size_t i = 0; i < from->cap; i++) {
        const struct slot *slot = &from->slots[i];
        if (slot->name) name_set_add(set, (struct str){slot->name, slot->n}, slot->whole);
    }
    if (from->beginning.p) name_set_add_beginning(set, from->beginning);
    return set;
}

static void grow(struct name_set *set)
{
    struct slot *old = set->slots;
    size_t count = set->cap;
    set->cap *= 2;
    set->slots = xcalloc(set->cap, sizeof *set->slots);
    for (size_t i = 0; i < count; i++)
        if (old[i].name) *slot_of(set, (struct str){old[i].name, old[i].n}) = old[i];
    free(old);
}

void name_set_add(struct name_set *set, struct str name, bool whole)
{
    struct slot *slot = slot_of(set, name);
    if (!slot->name) {
        *slot = (struct slot){xstrndup(name.p, name.n), (uint32_t)name.n, whole};
        if (++set->count > set->cap / 2) grow(set);
    } else if (whole) {
        slot->whole = true;
    }
}

void name_set_add_beginning(struct name_set *set, struct str beginning)
{
    free((char *)set->beginning.p);
    set->beginning = (struct str){xstrndup(beginning.p, beginning.n), beginning.n};
}

static bool begins_so(const struct name_set *set, struct str name)
{
    return set->beginning.p && name.n >= set->beginning.n && *name.p == *set->beginning.p &&
           str_starts(name, set->beginning);
}

enum name_kept name_set_find(const struct name_set *set, struct str name)
{
    const struct slot *slot = slot_of(set, name);
    if (!slot->name) return begins_so(set, name) ? NAME_KEPT : NAME_DROPPED;
    return slot->whole ? NAME_KEPT_WHOLE : NAME_KEPT;
}

size_t name_set_count(const struct name_set *set)
{
    return set->count;
}

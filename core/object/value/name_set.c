/* Names by their hashes; see name_set.h. */
#include "object/value/name_set.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/number_map.h"

struct name {
    uint64_t hash;
    bool whole;
};

/* A name that has the hash of another by chance, which is one of 2^64, is kept as that is: too much does no
 * harm. */
struct name_set {
    struct number_map names;
    struct str beginning; /* of names that are kept whatever follows; owned; `p` NULL: there are none */
};

struct name_set *name_set_new(void)
{
    return NEW(struct name_set);
}

void name_set_free(struct name_set *set)
{
    if (!set) return;
    number_map_clear(&set->names);
    free((char *)set->beginning.p);
    free(set);
}

struct name_set *name_set_copy(const struct name_set *from)
{
    struct name_set *set = name_set_new();
    set->names = number_map_copy(&from->names, sizeof(struct name));
    if (from->beginning.p) name_set_add_beginning(set, from->beginning);
    return set;
}

void name_set_add(struct name_set *set, struct str name, bool whole)
{
    struct name *known = number_map_add(&set->names, hash_key(name), sizeof *known);
    known->whole |= whole;
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
    const struct name *known = number_map_find(&set->names, hash_key(name), sizeof *known);
    if (!known) return begins_so(set, name) ? NAME_KEPT : NAME_DROPPED;
    return known->whole ? NAME_KEPT_WHOLE : NAME_KEPT;
}

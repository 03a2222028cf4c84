/* Sets of fields, as managedFields have them in fieldsV1: a tree in the order in which the real server writes
 * it. Owner: the holder of the struct, which lives no longer than the names in it (element.h); a zeroed one
 * is empty, sim_field_set_clear frees it. May be called anywhere. */
#pragma once
#include "sim/managed/element.h"

struct sim_field_set {
    struct sim_owned_field *fields; /* in order */
    size_t count;
};

struct sim_owned_field {
    struct sim_element element;
    bool member; /* is in the set itself, and not only what is below it */
    struct sim_field_set below;
};

void sim_field_set_clear(struct sim_field_set *set);
/* Has no members, also not below. */
bool sim_field_set_empty(const struct sim_field_set *set);
/* Adds the field of a path; NULL, the whole object, is never a member. */
void sim_field_set_add(struct sim_field_set *set, const struct sim_path *path);
/* Adds a field, or one below it; `below` may be NULL. */
void sim_field_set_add_names(struct sim_field_set *set, const char *name, const char *below);
/* NULL if it is neither a member nor has members below; borrowed. */
struct sim_owned_field *sim_field_set_find(const struct sim_field_set *set,
                                           const struct sim_element *element);
struct sim_field_set sim_field_set_copy(const struct sim_field_set *set);
bool sim_field_set_equal(const struct sim_field_set *a, const struct sim_field_set *b);

/* Change `set`. A parent and what is below it are fields of their own. */
void sim_field_set_unite(struct sim_field_set *set, const struct sim_field_set *other);
void sim_field_set_subtract(struct sim_field_set *set, const struct sim_field_set *other);
/* Takes away what is below members of `other`, too. */
void sim_field_set_subtract_trees(struct sim_field_set *set, const struct sim_field_set *other);
void sim_field_set_intersect(struct sim_field_set *set, const struct sim_field_set *other);

/* Calls `found` for each member: those of a level first, then what is below them. */
void sim_field_set_each(const struct sim_field_set *set,
                        void (*found)(void *ctx, const struct sim_path *path), void *ctx);
/* Returns it as fieldsV1; a new reference. */
json_t *sim_field_set_json(const struct sim_field_set *set);
/* Reads fieldsV1 into an empty set. What is unknown is left out; false if it is no set, or nests deeper than
 * objects do. */
bool sim_field_set_read(struct sim_field_set *set, const json_t *fields);

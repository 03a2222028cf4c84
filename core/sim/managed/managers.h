/* Managers of an object's fields: metadata.managedFields, read. Owner: the holder of the struct;
 * sim_managers_clear frees it. May be called anywhere. */
#pragma once
#include "sim/managed/compare.h"

/* Who writes, and when. */
struct sim_author {
    const char *manager;     /* NULL: what is written has no owner */
    const char *operation;   /* "Update" or "Apply" */
    const char *version;     /* "apps/v1" */
    const char *subresource; /* NULL: the object itself */
    int64_t now_s;
};

struct sim_manager {
    const char *name, *operation, *version, *subresource; /* "" for none; of `entry` */
    json_t *entry;                                        /* without its fields */
    struct sim_field_set set;
};

struct sim_managers {
    struct sim_manager *list;
    size_t count;
};

/* Fills it from metadata.managedFields, NULL for none; false, and empty, if an entry is wrong. */
bool sim_managers_read(struct sim_managers *managers, const json_t *entries);
/* As metadata.managedFields, in the server's order; a new reference. */
json_t *sim_managers_json(const struct sim_managers *managers);
void sim_managers_clear(struct sim_managers *managers);
/* Order by who they are, for messages. */
int sim_manager_compare(const struct sim_manager *a, const struct sim_manager *b);
/* NULL if the author has no entry. */
struct sim_manager *sim_managers_find(const struct sim_managers *managers, const struct sim_author *author);
/* Adds an empty entry without a time, if the author has none. */
struct sim_manager *sim_managers_need(struct sim_managers *managers, const struct sim_author *author);
void sim_manager_set_time(struct sim_manager *manager, int64_t now_s);
/* Takes the fields out that never have an owner, such as the name. */
void sim_manager_strip(struct sim_manager *manager);
/* Takes from all but the author what changed, and drops those that own nothing; the author stays. */
void sim_managers_give_up(struct sim_managers *managers, const struct sim_author *author,
                          const struct sim_comparison *changes);
/* Drops the entry of the author if it owns nothing. */
void sim_managers_drop_empty(struct sim_managers *managers, const struct sim_author *author);
/* Adds what changed to the author of an update. */
void sim_managers_take(struct sim_managers *managers, const struct sim_author *author,
                       const struct sim_comparison *changes);
/* Merges the oldest entries of updates when there are more than ten. */
void sim_managers_cap(struct sim_managers *managers);

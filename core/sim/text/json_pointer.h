/* JSON pointers (RFC 6901): a place in a tree, as the parent and the last step.
 * Owner: a place borrows the tree; sim_place_clear frees its key.
 * May be called anywhere. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

struct sim_place {
    json_t *parent; /* a map or a list; NULL: the complete document */
    char *key;      /* in a map */
    size_t index;   /* in a list; its size for "-" and for the place behind the last */
};

/* Finds a place; returns false with a new string in `*message` if the pointer is malformed or its parent does
 * not exist. */
bool sim_place_find(json_t *document, const char *pointer, struct sim_place *place, char **message);
void sim_place_clear(struct sim_place *place);
/* Returns the value there, NULL for none; borrowed. */
json_t *sim_place_value(json_t *document, const struct sim_place *place);

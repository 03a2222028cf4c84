/* Bodies of the ConfigMaps of states (state_maps.h), written and read. Owner: the caller. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "object/pack/pool.h"

struct map_body {
    const char *place;   /* behind the prefix of the name */
    const char *version; /* of the ConfigMap that is changed; NULL: a new one */
    const char *state;   /* its key */
    struct str bytes;
    bool removes; /* the key goes */
};

/* Appends a complete ConfigMap, or a merge patch of one. */
void map_body_write(const struct map_body *body, struct buf *out);

/* Sizes of the states in a ConfigMap. */
struct map_content {
    struct map_size {
        char *state;
        size_t bytes;
    } * items;
    size_t count;
};

/* Appends a merge patch that gives the ConfigMap another version and nothing else: what was sent before with
 * the version of now comes too late. `reader` names the process and the time. */
void map_body_write_take(const char *version, const char *reader, struct buf *out);

/* Reads the sizes, and appends the value of one state. Returns false if it has none, or one that is no
 * base64. */
bool map_content_read(const struct root *root, const char *state, struct map_content *content,
                      struct buf *value);
void map_content_set(struct map_content *content, const char *state, size_t bytes);
/* Returns the bytes of all states but one. */
size_t map_content_others(const struct map_content *content, const char *state);
void map_content_clear(struct map_content *content);

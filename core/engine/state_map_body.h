/* Bodies of requests for the ConfigMaps of states (state_maps.h). Owner: the caller. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"

/* Member of a ConfigMap that has the states. */
#define STATE_MAP_MEMBER "binaryData"

struct map_body {
    const char *place;   /* behind the prefix of the name */
    const char *version; /* of the ConfigMap that is changed; NULL: a new one */
    const char *state;   /* its key; NULL: all stay as they are */
    struct str bytes;
    bool removes;       /* the key goes */
    const char *reader; /* process and time, for the annotation; NULL: it stays */
};

/* Appends a complete ConfigMap, or a merge patch of one. With a reader and no state it gives the ConfigMap
 * another version, or makes it, and nothing else: what others sent before, with the version of now or without
 * one, comes too late. */
void map_body_write(const struct map_body *body, struct buf *out);

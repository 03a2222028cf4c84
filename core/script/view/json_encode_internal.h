/* Internals of writing JSON from Lua values, for the files of json_encode.h. Owner: the call that encodes. On
 * the engine thread, inside a call into Lua: the checks raise. */
#pragma once
#include <lua.h>

#include "base/buf.h"
#include "object/pack/pack.h"
#include "script/vm/state.h"

/* Step from a table to one in it. */
struct step {
    struct str key; /* kept alive by the table; NULL: an element */
    size_t element; /* from 0 */
};

struct json_encoder {
    lua_State *L;
    struct script *script;
    struct buf *out;
    const char *verb;                       /* for messages */
    size_t max;                             /* bytes of text, unless for people; 0: the limit value-size */
    bool for_people;                        /* see json_describe */
    size_t pending;                         /* keys that are collected but not written yet */
    const void *tables[PACK_DEPTH_MAX + 1]; /* being written, each inside the one before */
    struct step path[PACK_DEPTH_MAX + 1];   /* to the value being written */
};

/* Returns the path of the table at `depth`, in place of what was written so far: "spec.list[0]: "; empty for
 * the top. */
const char *encoder_path(const struct json_encoder *e, int depth);
/* Refuses an array of `count` elements that has other keys, as they would be omitted. */
void encoder_check_positions(struct json_encoder *e, int idx, size_t count, int depth);
/* Refuses a table that is within itself; call before the table is encoded. */
void encoder_check_table(struct json_encoder *e, int idx, int depth);

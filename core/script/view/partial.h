/* An object that has not all its fields, as it was packed by the names of those that a rule is thought to
 * read (object/value/name_set.h): a call that asks of it what may have been dropped is ended there and
 * then, so that the object can be packed again with more, and the rule be evaluated again. No script sees a
 * field as absent that is not. Owner: the script, which holds one; the object and its projection are those of
 * the call in progress. Inside a call into Lua. partial_* of an object that is whole do nothing. */
#pragma once
#include <lua.h>
#include <stdbool.h>

#include "base/number_map.h"
#include "base/str.h"
#include "object/value/value.h"

struct name_set;
struct path;
struct root;
struct script;

/* The maps and arrays of an object that may lack something, by where they lie. */
struct partial_places {
    struct number_set at; /* their addresses */
    bool is_made;
    bool has_empty_map; /* which lies nowhere */
};

struct partial {
    const struct root *root;     /* NULL: no such object */
    const struct name_set *kept; /* of which */
    void (*missed)(void *ctx, struct str name, bool whole);
    void *ctx;
    bool has_missed;
    size_t walks;                 /* of this call, through the whole object */
    struct partial_places places; /* once there were some; the table is kept for the next call */
};

/* A call begins; ends. */
void partial_begin(struct partial *partial, const struct root *root, const struct name_set *kept,
                   void (*missed)(void *ctx, struct str name, bool whole), void *ctx);
void partial_end(struct partial *partial);
/* With the script. */
void partial_clear(struct script *script);

/* A field of this name was looked for, and is not there. Raises when it is of an object of an earlier call.
 */
void partial_absent(lua_State *L, const struct root *root, struct str name);
/* All that is in the value is looked at. */
void partial_walk(lua_State *L, const struct root *root, struct value value);
/* Checks the values at the path, from the complete object or a part of it. */
void partial_path(lua_State *L, const struct root *root, const struct path *path);

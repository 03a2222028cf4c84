/* Partial objects: packed with the fields that a rule is expected to read, by their names
 * (object/value/name_set.h). A call that reads a field that may have been dropped ends at once, so that the
 * object can be packed again with more, and the rule evaluated again. No script sees a field as absent that
 * is not. Owner: the script, which has one; the object and its projection are those of the call in progress.
 * Inside a call into Lua. partial_* of a complete object do nothing. */
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

/* Addresses of the maps and arrays of an object that may lack something. */
struct partial_places {
    struct number_set at; /* their addresses */
    bool is_made;
    bool has_empty_map; /* empty maps have no address */
};

struct partial {
    const struct root *root;     /* NULL: no partial object */
    const struct name_set *kept; /* fields that it has */
    void (*missed)(void *ctx, struct str name, bool whole);
    void *ctx;
    bool has_missed;
    size_t walks;                 /* walks through the complete object in this call */
    struct partial_places places; /* after several walks; the table is reused by the next call */
};

/* Begin and end a call. */
void partial_begin(struct partial *partial, const struct root *root, const struct name_set *kept,
                   void (*missed)(void *ctx, struct str name, bool whole), void *ctx);
void partial_end(struct partial *partial);
/* Frees the tables; call with the script. */
void partial_clear(struct script *script);

/* Call when a field of this name was read and is missing. Raises for an object of an earlier call. */
void partial_absent(lua_State *L, const struct root *root, struct str name);
/* Call when all content of the value is read. */
void partial_walk(lua_State *L, const struct root *root, struct value value);
/* Checks the values at the path, from the complete object or a part of it. */
void partial_path(lua_State *L, const struct root *root, const struct path *path);

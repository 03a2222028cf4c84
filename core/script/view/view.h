/* Views: read-only userdata over packed objects, {object, value}; and all other values of an object as Lua
 * has them. Owner: Lua's collector; retained.h has a reference to the object of each. On the engine thread,
 * inside a call into Lua: all may raise. */
#pragma once
#include "script/view/partial.h"
#include "script/vm/feature.h"

enum { FIELD_CACHE_SIZE = 256, PART_CACHE_BITS = 6, PART_CACHE_SIZE = 1 << PART_CACHE_BITS };

struct script_views {
    struct { /* field names of the script by address, with their numbers in the dictionary */
        const char *text[FIELD_CACHE_SIZE];
        uint32_t id[FIELD_CACHE_SIZE];
    } fields;
    struct {
        const uint32_t *at;
        const struct root *root;
    } parts[PART_CACHE_SIZE]; /* values of the views in REF_PARTS; never dereferenced */
    struct partial partial;   /* object of the current call of a rule */
};

struct view {
    struct root *root;
    union {
        struct value value;
        struct {
            const uint32_t *at;
            uint32_t word;
            uint32_t slot; /* retained.h; where `value` has nothing: with Lua's head a view takes 64 bytes */
        };
    };
};

/* Pushes a new view of the complete object; takes a reference of its own. */
void view_push_object(lua_State *L, struct root *root);
/* Like view_push_object, for an object in a response of the server: objects that a script keeps of those are
 * counted in time. */
void view_push_fetched(lua_State *L, struct root *root);
/* Counts objects that are in no cache, and that a script may soon release. Lua's collector sees only the
 * small views, not the objects that they keep alive, so it would collect too late; it is run when these are
 * many. */
void view_note_dead(lua_State *L, size_t count);
/* Pushes a scalar as Lua has it, a map or array as a view; null as k8s.null, absent as nil. */
void view_push_value(lua_State *L, struct root *root, struct value value);
/* Returns the number in the dictionary of `name`, the Lua string at index 2; DICT_NONE if it has none. */
uint32_t view_field_id(lua_State *L, struct str name);
/* Returns NULL if the value is not a view. */
struct view *view_test(lua_State *L, int idx);
/* Returns the view in the argument; raises "verb: expected a view, not nil". */
struct view *view_arg(lua_State *L, int idx, const char *verb);
/* Returns the method of complete objects with that name, or, if `near`, with the nearest name; NULL: none. */
const char *object_method(struct str name, bool near);
/* Names of values in messages of calls. */
extern const struct value_words view_words;
/* Registers the two classes; leaves the methods' table of objects on the stack. */
void view_define(lua_State *L);

/* Pushes a value as plain tables: maps, arrays marked as such, null as k8s.null (docs/lua-api.md, Objects).
 */
void copy_push_value(lua_State *L, struct value value);
/* Marks the table on top of the stack as an array. */
void copy_mark_array(lua_State *L);
/* Returns whether the table is marked so, or its metatable is, which has more to say beside the elements. */
bool copy_is_array(lua_State *L, int idx);

/* Integers that a Lua number cannot represent exactly. */
struct wide {
    uint64_t bits;
    bool is_uint; /* above INT64_MAX; else the bits are an int64 */
};
enum { EXACT_INTEGER_BITS = 53 };
/* Pushes a Lua number if it is exact, else a k8s.int64. */
void push_int64(lua_State *L, int64_t n);
void push_uint64(lua_State *L, uint64_t n);
/* Returns NULL if the value is not a k8s.int64. */
const struct wide *int64_test(lua_State *L, int idx);
void int64_text(const struct wide *wide, struct buf *out);

struct quantity;
void push_quantity(lua_State *L, const struct quantity *q);
/* Fills `*out` and returns true if the value is a k8s.quantity. */
bool quantity_test(lua_State *L, int idx, struct quantity *out);

/* Views: read-only userdata over packed objects, {object, value}; and every other value of an object as Lua
 * has it. Owner: Lua's collector; retained.h has a reference to the object of each. On the engine thread,
 * inside a call into Lua: all may raise. */
#pragma once
#include "script/view/partial.h"
#include "script/vm/feature.h"

enum { FIELD_CACHE_SIZE = 256, PART_CACHE_BITS = 6, PART_CACHE_SIZE = 1 << PART_CACHE_BITS };

struct script_views {
    struct { /* field names of the script by address, to their numbers in the dictionary */
        const char *text[FIELD_CACHE_SIZE];
        uint32_t id[FIELD_CACHE_SIZE];
    } fields;
    struct {
        const uint32_t *at;
        const struct root *root;
    } parts[PART_CACHE_SIZE]; /* what the views of REF_PARTS show; nothing is read through these */
    struct partial partial;   /* of the call of a rule in progress */
};

struct view {
    struct root *root;
    struct value value;
};

/* A new view of the whole object; takes a reference of its own. */
void view_push_object(lua_State *L, struct root *root);
/* The same of one in the response of the server: what a script keeps of those is looked at in time. */
void view_push_fetched(lua_State *L, struct root *root);
/* Objects that no cache holds any more, or never did, and that a script may soon have done with. Views are
 * small and what they keep alive is not: Lua's collector, which sees the views only, would let too much wait,
 * so it is made to run when these are many. */
void view_note_dead(lua_State *L, size_t count);
/* A scalar as Lua has it, a map or array as a view; null as k8s.null, absent as nil. */
void view_push_value(lua_State *L, struct root *root, struct value value);
/* The number in the dictionary of `name`, which is the Lua string at index 2; DICT_NONE when it has none. */
uint32_t view_field_id(lua_State *L, struct str name);
/* NULL when the value is no view. */
struct view *view_test(lua_State *L, int idx);
/* Raises "verb: expected a view, not nil". */
struct view *view_arg(lua_State *L, int idx, const char *verb);
/* The method of whole objects that has this name, or, if `near`, that may have been meant. NULL: none. */
const char *object_method(struct str name, bool near);
/* For messages of calls. */
extern const struct value_words view_words;
/* Registers the two classes; leaves the methods' table of objects on the stack. */
void view_define(lua_State *L);

/* The same as plain tables: maps, arrays marked as such, null as k8s.null (docs/lua-api.md, Objects). */
void copy_push_value(lua_State *L, struct value value);
/* Marks the table on top of the stack as an array. */
void copy_mark_array(lua_State *L);
bool copy_is_array(lua_State *L, int idx);

/* Numbers that Lua's cannot hold exactly. */
struct wide {
    uint64_t bits;
    bool is_uint; /* above INT64_MAX; else the bits are an int64 */
};
enum { EXACT_INTEGER_BITS = 53 };
/* A Lua number when it is exact, else a k8s.int64. */
void push_int64(lua_State *L, int64_t n);
void push_uint64(lua_State *L, uint64_t n);
/* NULL when the value is no k8s.int64. */
const struct wide *int64_test(lua_State *L, int idx);
void int64_text(const struct wide *wide, struct buf *out);

struct quantity;
void push_quantity(lua_State *L, const struct quantity *q);
/* Fills `*out` when the value is a k8s.quantity. */
bool quantity_test(lua_State *L, int idx, struct quantity *out);

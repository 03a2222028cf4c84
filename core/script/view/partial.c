/* Detection of reads of fields that a partial object lacks; see partial.h. */
#include "script/view/partial.h"

#include "object/pack/pack.h"
#include "object/pack/pool.h"
#include "object/value/name_set.h"
#include "object/value/path.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/budget.h"
#include "script/vm/state.h"

enum { PLACES_KEPT = 16 << 10, WALKS_MAX = 4 };

struct partial_search {
    struct partial *partial;
    bool (*fn)(struct partial_search *search, struct value v, struct str key);
    struct value wanted;
};

/* Ends the call, whatever pcall is around it, as for an exceeded limit: no result of a field that seemed
 * absent may last. */
static void end_after_miss(lua_State *L)
{
    struct script *script = script_of(L);
    if (!script->own.views->partial.has_missed) return;
    budget_exceed(script, LIMIT_HANDLER_CPU);
    budget_poll(L, script);
}

static void miss(struct partial *partial, struct str name, bool whole)
{
    partial->has_missed = true;
    partial->missed(partial->ctx, name, whole);
}

/* Returns whether the object is partial. Raises for one that a rule kept from an earlier call: its missing
 * fields can no longer be fetched. */
static bool is_partial(lua_State *L, const struct root *root)
{
    if (root == script_of(L)->own.views->partial.root) return true;
    if (!root_is_partial(root)) return false;
    script_raise(L, "a rule used an object of an earlier call, which is no longer complete; use `uses` to "
                    "access other objects");
}

void partial_absent(lua_State *L, const struct root *root, struct str name)
{
    struct partial *partial = &script_of(L)->own.views->partial;
    if (!is_partial(L, root)) return;
    if (name_set_find(partial->kept, name) == NAME_DROPPED) miss(partial, name, false);
    end_after_miss(L);
}

/* --- walks */

/* Returns whether the type is a scalar: nothing can be missing below it. */
static bool is_scalar(enum value_type type)
{
    return type != VALUE_MAP && type != VALUE_ARRAY;
}

/* Calls `fn` for each map and array that is not stored completely, from the outside in; `key` is that of the
 * nearest map around it. If `fn` returns false, its content is skipped. */
static void walk(struct partial_search *search, struct value v, struct str key, int depth)
{
    bool is_map = value_type(v) == VALUE_MAP;
    if (is_scalar(value_type(v)) || depth >= PACK_DEPTH_MAX || !search->fn(search, v, key)) return;
    for (size_t i = 0; i < value_count(v); i++) {
        struct text text;
        struct str name = key;
        struct value item = is_map ? value_entry(v, i, &name, &text) : value_item(v, i);
        if (is_scalar(value_type(item))) continue;
        if (is_map && name_set_find(search->partial->kept, name) == NAME_KEPT_WHOLE) continue;
        walk(search, item, name, depth + 1);
    }
}

/* Notes a wanted map, which may occur at several places, as equal ones are stored once: it is complete only
 * if it is so at each of them. An empty one has no address, and may be any. */
static bool miss_wanted(struct partial_search *search, struct value v, struct str key)
{
    bool is_it =
        search->wanted.at ? v.at == search->wanted.at : value_type(v) == VALUE_MAP && value_count(v) == 0;
    if (is_it) miss(search->partial, key, true);
    return !is_it;
}

static bool note_place(struct partial_search *search, struct value v, struct str key)
{
    struct partial_places *places = &search->partial->places;
    if (value_count(v) == 0) {
        places->has_empty_map |= value_type(v) == VALUE_MAP;
        return false;
    }
    number_set_add(&places->at, (uintptr_t)v.at);
    return true;
}

static void forget_places(struct partial_places *places)
{
    number_set_empty(&places->at, PLACES_KEPT);
    places->is_made = places->has_empty_map = false;
}

/* Returns whether the value may lack fields. As a walk goes through the complete object, a call with many of
 * them notes the places. */
static bool may_lack(struct partial *partial, const struct root *root, struct value v)
{
    struct partial_places *places = &partial->places;
    if (++partial->walks <= WALKS_MAX) return true;
    if (!places->is_made) {
        places->is_made = true;
        walk(&(struct partial_search){partial, note_place, value_absent}, root_value(root), STR(""), 0);
    }
    if (!v.at) return places->has_empty_map;
    return number_set_has(&places->at, (uintptr_t)v.at);
}

void partial_walk(lua_State *L, const struct root *root, struct value value)
{
    struct partial *partial = &script_of(L)->own.views->partial;
    if (is_scalar(value_type(value)) || !is_partial(L, root)) return;
    if (may_lack(partial, root, value))
        walk(&(struct partial_search){partial, miss_wanted, value}, root_value(root), STR(""), 0);
    end_after_miss(L);
}

void partial_begin(struct partial *partial, const struct root *root, const struct name_set *kept,
                   void (*missed)(void *ctx, struct str name, bool whole), void *ctx)
{
    partial->root = root;
    partial->kept = kept;
    partial->missed = missed;
    partial->ctx = ctx;
    partial->has_missed = false;
    partial->walks = 0;
}

void partial_end(struct partial *partial)
{
    forget_places(&partial->places);
    partial_begin(partial, NULL, NULL, NULL, NULL);
}

void partial_clear(struct script *script)
{
    struct partial *partial = &script->own.views->partial;
    number_set_clear(&partial->places.at);
}

/* --- paths */

static void need(struct partial *partial, struct str name, bool whole)
{
    enum name_kept kept = name_set_find(partial->kept, name);
    if (kept == NAME_DROPPED || (whole && kept != NAME_KEPT_WHOLE)) miss(partial, name, whole);
}

/* Checks a path. A step [*] may iterate a map, and [?] reads all content. */
void partial_path(lua_State *L, const struct root *root, const struct path *path)
{
    struct partial *partial = &script_of(L)->own.views->partial;
    if (!is_partial(L, root)) return;
    struct str last = STR("");
    for (size_t i = 0; i < path_step_count(path); i++) {
        struct path_step step = path_step_at(path, i);
        if (step.kind == PATH_FIELD) {
            need(partial, step.name, false);
            last = step.name;
        } else if (step.kind != PATH_INDEX) {
            need(partial, last, true);
        }
    }
    need(partial, last, true); /* the result may be a map that is shown as it is */
    end_after_miss(L);
}

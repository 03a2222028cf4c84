/* What is missed in a partial object; see partial.h. */
#include "script/partial.h"

#include "object/name_set.h"
#include "object/pack.h"
#include "object/path.h"
#include "object/pool.h"
#include "script/args.h"
#include "script/budget.h"
#include "script/state.h"

/* Where a walk is: the key that it came by last, and whether all below is kept. */
struct place {
    struct str key;
    bool whole;
};

struct search {
    struct partial *partial;
    const struct value *wanted;
};

/* Nothing that comes of a field that seemed to be absent may last: the call ends here, whatever pcall is
 * around it, as calls end that are over a limit. */
static void end_after_miss(lua_State *L)
{
    struct script *script = script_of(L);
    if (!script->partial.has_missed) return;
    budget_exceed(script, LIMIT_HANDLER_CPU);
    budget_poll(L, script);
}

static void miss(struct partial *partial, struct str name, bool whole)
{
    partial->has_missed = true;
    partial->missed(partial->ctx, name, whole);
}

/* False: it is whole. An object that a rule kept from an earlier call lacks what nobody can give it now; it
 * lies in the same pool, and nothing else does: parameters have another. */
static bool is_partial(lua_State *L, const struct root *root)
{
    const struct script *script = script_of(L);
    if (!script->partial.root) return false;
    if (root == script->partial.root) return true;
    if (root_pool(root) != root_pool(script->partial.root)) return false;
    script_raise(L, "a rule looked at an object of an earlier call, which an audit of files does not keep; "
                    "`uses` gives a rule other objects");
}

void partial_absent(lua_State *L, const struct root *root, struct str name)
{
    struct partial *partial = &script_of(L)->partial;
    if (!is_partial(L, root)) return;
    if (name_set_find(partial->kept, name) == NAME_DROPPED) miss(partial, name, false);
    end_after_miss(L);
}

/* The same map may stand at several places, as equal ones are stored once: it is whole when it is so at each
 * of them. An empty one lies nowhere, and may be any. */
static bool is_wanted(const struct search *search, struct value v)
{
    if (search->wanted->at) return v.at == search->wanted->at;
    return value_type(v) == VALUE_MAP && value_count(v) == 0;
}

static void look(const struct search *search, struct value v, struct place place, int depth)
{
    enum value_type type = value_type(v);
    bool is_map = type == VALUE_MAP;
    if (place.whole || (!is_map && type != VALUE_ARRAY) || depth >= PACK_DEPTH_MAX) return;
    if (is_wanted(search, v)) {
        miss(search->partial, place.key, true);
        return;
    }
    for (size_t i = 0; i < value_count(v); i++) {
        struct text text;
        struct place next = place;
        struct value item = is_map ? value_entry(v, i, &next.key, &text) : value_item(v, i);
        if (is_map) next.whole = name_set_find(search->partial->kept, next.key) == NAME_KEPT_WHOLE;
        look(search, item, next, depth + 1);
    }
}

void partial_walk(lua_State *L, const struct root *root, struct value value)
{
    enum value_type type = value_type(value);
    if ((type != VALUE_MAP && type != VALUE_ARRAY) || !is_partial(L, root)) return;
    look(&(const struct search){&script_of(L)->partial, &value}, root_value(root),
         (struct place){STR(""), false}, 0);
    end_after_miss(L);
}

static void need(struct partial *partial, struct str name, bool whole)
{
    enum name_kept kept = name_set_find(partial->kept, name);
    if (kept == NAME_DROPPED || (whole && kept != NAME_KEPT_WHOLE)) miss(partial, name, whole);
}

/* A step [*] may go over a map, and [?] looks into all that is there. */
void partial_path(lua_State *L, const struct root *root, const struct path *path)
{
    struct partial *partial = &script_of(L)->partial;
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
    need(partial, last, true); /* what it gives may be a map that is shown as it is */
    end_after_miss(L);
}

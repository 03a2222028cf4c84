/* Features of scripts, each a function or a family of them: one descriptor in the file that binds it to Lua,
 * listed in script/generation/features.def. The rest of the engine reaches a feature by its descriptor alone.
 * Owner: nobody; descriptors are constant. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "script/vm/state.h"

enum { FEATURE_PARTS_MAX = 2 };
#define CLASS_BIT(class_) (UINT32_C(1) << (class_))

#define FEATURE_OWNS(member) \
    .own_at = offsetof(struct script, own.member), .own_size = sizeof *((struct script *)0)->own.member

/* Each function may be NULL. */
struct feature {
    /* Fields of the table `raw`, which lua/k8s is made of. They are made when the first of them is asked for.
     */
    const char *parts[FEATURE_PARTS_MAX];
    bool at_once;               /* they are made with the state, as every script needs them */
    void (*bind)(lua_State *L); /* once for each state, with `raw` on top of the stack, which stays there */
    uint32_t classes;           /* CLASS_BIT of each that `bind` registers */
    /* Has `require` of this name push its table. Raises if it is not installed. */
    const char *module;
    void (*push_module)(lua_State *L);

    /* Its struct in `own` of struct script, see FEATURE_OWNS: there, all zero, as long as the script. */
    size_t own_at, own_size;
    /* The script is made; it has no Lua state yet. */
    void (*open)(struct script *script);
    /* Nothing is taken in any more, before waiting calls are ended. */
    void (*stop)(struct script *script);
    /* The script ends, and so will its Lua state. */
    void (*end)(struct script *script);
    /* The Lua state has gone, and so have the claims. */
    void (*close)(struct script *script);
    /* A claim may have synced. From any callback of the factory. */
    void (*claims_changed)(struct script *script);

    /* Work of the script that all of its other work waits for, at the begin of each turn. Returns false if
     * there is more. */
    bool (*first)(struct script *script);
    /* The script's work of one turn of the loop (turns.h), in the order of the list, where features that have
     * some come first. */
    void (*turn)(struct script *script);
    /* The turn is over. */
    void (*turned)(struct script *script);
    /* The script is about to lead, under the fence. Returns false if it cannot yet: leading_changed is called
     * again once it can. */
    bool (*lead)(struct script *script, struct fence *fence);
    /* The script leads no more. */
    void (*stop_leading)(struct script *script);
    /* The script needs the memory of what it keeps for the generation after it (memory_keep). Called by Lua's
     * allocator too: calls no Lua. */
    void (*let_go)(struct script *script);
};

/* Descriptions of values by the view of objects, for the messages of calls. */
struct value_words {
    /* The value as JSON, shortened; borrowed until the next call. */
    struct buf *(*describe)(lua_State *L, int idx);
    /* The method of whole objects that has this name, or, if `near`, that may have been meant. NULL: none. */
    const char *(*method)(struct str name, bool near);
    /* Returns the name of the method with this function; NULL: none. */
    const char *(*method_of)(lua_CFunction function);
};

struct feature_list {
    const struct feature *const *items;
    size_t count;
    const struct value_words *words;
};

/* Calls a function of each feature that has it, in the order of the list. */
#define FEATURES_EACH(script, function)                       \
    for (size_t i_ = 0; i_ < (script)->features->count; i_++) \
        if ((script)->features->items[i_]->function) (script)->features->items[i_]->function(script)
/* For script.c: all begins, and what they own is there; it has ended, and is freed. */
void features_open(struct script *script);
void features_close(struct script *script);
/* Makes `raw`, as REF_RAW. Under protection. */
void features_bind(lua_State *L);
/* Pushes the table of a module that a feature has; false for none of that name. Raises if it is not there. */
bool feature_push_module(lua_State *L, const char *name);

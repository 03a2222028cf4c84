/* Check target of `kubelua check` and `kubelua rbac`, as their Lua sees it (lua/tool/check/). Owner: the
 * command, on the main thread, which keeps it as long as the Lua runs. */
#pragma once
#include <lua.h>

#include "app/check/command_client.h"

struct check_target {
    const struct catalogue *catalogue;
    bool is_whole;                 /* has all kinds of a server; else only the built-in ones */
    struct command_client *client; /* checks permissions; NULL: none */
};

/* Pushes a table with `is_whole`, and functions:
 *   plural(kind)     the plural that a kind most likely has: "Widget" gives "widgets"
 *   resolve(kind)    { group, plural, namespaced }; or nil, why, and whether a server may have the kind
 *   groups(group)    those of the catalogue that are the group or below it, in its order
 *   selector(text)   the label of which it asks what cannot be, or nil; and whether no labels match it
 *   quote(text)      the text as JSON
 *   fetch(path)      with a client: the JSON of a GET; or nil, why
 *   review(checks)   likewise: of each { ns, group, resource, name, verb } whether it is allowed; or
 * nil, why
 * and those of check_schema.h */
void check_target_push(lua_State *L, const struct check_target *target);

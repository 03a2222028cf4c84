/* Files loaded as a running engine would load them, for the Lua of `kubelua plan` (lua/tool/plan/). Owner:
 * the state of Lua; what was loaded is freed with it. On the main thread of the command. */
#pragma once
#include <lua.h>

/* Adds to the host on top of the stack: `find(arguments, recursive)`, the files that these name, with a name
 * and a path each; `is_folder(argument)`; `classes()`, of entries of plans, in the order in which they are
 * shown; and `load(files, settings)`, which gives each file `error`, and `unreadable` when it cannot be read;
 * or `sources`, a hash of all texts, and `plan`, its entries. What load returns has methods; `file` is a
 * number:
 *
 *   place(file, hash)                            "x.lua:3" of a function; nil: it is not known
 *   reject_version(file, state, before, after)   why a reload refuses another version of a state
 *   metric_clash(file, metric, kind, other, other_kind, script)
 *                                                why a reload refuses a metric; nil: it does not
 *   takes(file, param)                           whether a rule of the file takes a parameter
 *   reject_param(param)                          why a reload refuses that no rule takes it */
void plan_files_open(lua_State *L);

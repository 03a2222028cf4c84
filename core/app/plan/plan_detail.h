/* Details of a plan's entries for people: without the hashes of functions, and what two of them differ in. A
 * detail is a canonical text of lua/k8s/plan.lua, perhaps behind what an entry is of: `pods in shop
 * {OnAdd=function 3f2a..., selector="app=web"}`. Owner: texts are borrowed. May be used anywhere. */
#pragma once
#include "base/buf.h"
#include "base/str.h"
#include "script/inventory/inventory.h"

/* Appends the detail, nothing for "{}". */
void plan_detail_print(const char *detail, struct buf *out);
/* Appends `OnAdd changed (x.lua:3), selector "app=web" -> "app=api", leader=true added`. `plan` has the one
 * after the change, and knows where its functions are. Gives whether it told so of one. */
bool plan_detail_compare(const char *before, const char *after, const struct inventory *plan,
                         struct buf *out);
/* The value of a field, as it is written: `2`, `"counter"`. Empty when there is none. */
struct str plan_detail_field(const char *detail, const char *name);

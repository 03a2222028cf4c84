/* Names of fields that are kept of an object, some of them with their complete content. Owner: its creator;
 * filled first, then immutable, so that any thread may read it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct name_set;

enum name_kept { NAME_DROPPED, NAME_KEPT, NAME_KEPT_WHOLE };

struct name_set *name_set_new(void);
void name_set_free(struct name_set *set);
/* Returns a copy. */
struct name_set *name_set_copy(const struct name_set *from);
/* Adds a name; copies it. `whole`: with the complete content of the field, even if it was added without. */
void name_set_add(struct name_set *set, struct str name, bool whole);
/* Keeps all names with this prefix, without their content; replaces the prefix of an earlier call. */
void name_set_add_beginning(struct name_set *set, struct str beginning);
enum name_kept name_set_find(const struct name_set *set, struct str name);

/* Names of fields: those that are kept of an object, and of some of them all that is in them.
 * Owner: its creator; filled first, then immutable, so that it may be read on any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct name_set;

enum name_kept { NAME_DROPPED, NAME_KEPT, NAME_KEPT_WHOLE };

struct name_set *name_set_new(void);
void name_set_free(struct name_set *set);
/* All that `from` has. */
struct name_set *name_set_copy(const struct name_set *from);
/* Copied. `whole`: with all that is in the field, also when it was there without. */
void name_set_add(struct name_set *set, struct str name, bool whole);
/* All names that begin so are kept, but not whole; instead of those of the call before. */
void name_set_add_beginning(struct name_set *set, struct str beginning);
enum name_kept name_set_find(const struct name_set *set, struct str name);

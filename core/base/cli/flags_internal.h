/* Parts that the files of flags share; see flags.h. Owner: whoever calls. */
#pragma once
#include "base/cli/flags.h"

/* Sets the flag from a text and notes it in `given`, unless that is NULL. ERR_INVALID begins with `where`. */
bool flag_set(const struct flag *flag, const char *value, const char *where, struct flags_given *given,
              struct err *err);
/* By the name, or by the letter unless that is 0; NULL when there is none. */
const struct flag *flag_find(const struct flag *const *tables, struct str name, char letter);
/* Sets the error for a name that no table has, and the nearest; `prefix`: "--", or nothing. Returns false. */
bool flag_unknown(const struct flag *const *tables, struct str name, const char *prefix, struct err *err);

/* What a namespace can be called: a DNS-1123 label, as the server demands. Anything else would be asked for
 * as a name that nothing has, or as another path. Owner: nobody. May be called anywhere, from any thread. */
#pragma once
#include "base/err.h"
#include "base/str.h"

/* False with an error that quotes the text, and says of a pattern where patterns belong. */
bool namespace_name_check(struct str name, struct err *err);

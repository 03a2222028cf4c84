/* Names of scripts in flags; see script_name.h. */
#include "script/vm/script_name.h"

#include <string.h>

bool script_goes_by(struct str wanted, const char *name, const char *path)
{
    const char *slash = strrchr(name, '/'), *file = strrchr(path, '/');
    if (str_is(wanted, name) || str_is(wanted, path) || (slash && str_is(wanted, slash + 1))) return true;
    struct str own = str_of(file ? file + 1 : path); /* of one whose name is not its path, builtin: */
    if (str_ends(own, STR(".lua"))) own.n -= strlen(".lua");
    return str_eq(wanted, own);
}

/* Names of scripts in flags; see script_name.h. */
#include "script/vm/script_name.h"

#include <string.h>

bool script_goes_by(struct str wanted, const char *name, const char *path)
{
    const char *slash = strrchr(name, '/');
    return str_is(wanted, name) || str_is(wanted, path) || (slash && str_is(wanted, slash + 1));
}

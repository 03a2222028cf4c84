/* Names of kinds; see kind.h. */
#include "sim/object/kind.h"

#include "base/mem.h"

char *sim_api_version(const struct sim_kind *kind)
{
    return *kind->group ? xasprintf("%s/%s", kind->group, kind->version) : xstrdup(kind->version);
}

char *sim_qualified_resource(const struct sim_kind *kind)
{
    return *kind->group ? xasprintf("%s.%s", kind->plural, kind->group) : xstrdup(kind->plural);
}

char *sim_qualified_kind(const struct sim_kind *kind)
{
    return *kind->group ? xasprintf("%s.%s", kind->kind, kind->group) : xstrdup(kind->kind);
}

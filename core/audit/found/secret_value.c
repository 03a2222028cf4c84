/* Values that may be data of a Secret; see secret_value.h. */
#include "audit/found/secret_value.h"

#include <ctype.h>

/* "data" of "data.password"; empty when the path begins with a bracket. */
static struct str first_step(struct str path)
{
    size_t n = 0;
    while (n < path.n && (isalnum((unsigned char)path.p[n]) || path.p[n] == '_')) n++;
    return (struct str){path.p, n};
}

bool secret_value_is_of(const struct audit_object *object)
{
    return str_is(object->kind, "Secret") && str_is(object->api_version, "v1");
}

bool secret_value_is_at(struct str path)
{
    static const struct str annotations = STR("annotations"), metadata = STR("metadata");
    if (path.n && *path.p == '.') path = (struct str){path.p + 1, path.n - 1};
    struct str first = first_step(path);
    if (str_eq(first, metadata))
        return first.n == path.n || memmem(path.p, path.n, annotations.p, annotations.n);
    return first.n == 0 || str_is(first, "data") || str_is(first, "stringData");
}

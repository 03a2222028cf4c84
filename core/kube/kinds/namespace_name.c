/* Names of namespaces; see namespace_name.h. */
#include "kube/kinds/namespace_name.h"

#include <string.h>

enum { LABEL_MAX = 63 };

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_label(struct str name)
{
    if (name.n == 0 || name.n > LABEL_MAX) return false;
    if (!is_alphanumeric(*name.p) || !is_alphanumeric(name.p[name.n - 1])) return false;
    for (size_t i = 0; i < name.n; i++)
        if (!is_alphanumeric(name.p[i]) && name.p[i] != '-') return false;
    return true;
}

static bool is_pattern(struct str name)
{
    return name.n && (*name.p == '!' || memchr(name.p, '*', name.n) || memchr(name.p, '?', name.n));
}

bool namespace_name_check(struct str name, struct err *err)
{
    int shown = name.n > LABEL_MAX + 1 ? LABEL_MAX + 1 : (int)name.n;
    if (is_label(name)) return true;
    return err_set(
        err, ERR_INVALID,
        "\"%.*s\" is not the name of a namespace: lower-case letters, digits and '-', %d at most%s", shown,
        name.n ? name.p : "", LABEL_MAX,
        is_pattern(name) ? "; patterns are for the namespaces of handlers" : "");
}

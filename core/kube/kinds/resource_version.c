/* Order of resource versions; see resource_version.h. */
#include "kube/kinds/resource_version.h"

bool resource_version_check(struct str version, struct err *err)
{
    if (version.n == 0) return err_set(err, ERR_INVALID, "the resource version is empty");
    bool good = version.p[0] != '0';
    for (size_t i = 0; i < version.n; i++) good = good && version.p[i] >= '0' && version.p[i] <= '9';
    if (good) return true;
    return err_set(err, ERR_INVALID, "resource version \"%.*s\" is no positive decimal number",
                   STR_ARG(version));
}

bool resource_version_compare(struct str a, struct str b, int *order, struct err *err)
{
    if (!resource_version_check(a, err) || !resource_version_check(b, err)) return false;
    *order = a.n == b.n ? str_cmp(a, b) : (a.n > b.n) - (a.n < b.n);
    return true;
}

/* Resources: copies, names and URL paths; see resource.h. */
#include "kube/kinds/resource.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/kinds/url.h"

void resource_copy(struct resource *out, const struct resource *from)
{
    *out = (struct resource){.group = xstrdup(from->group),
                             .version = xstrdup(from->version),
                             .plural = xstrdup(from->plural),
                             .kind = xstrdup(from->kind),
                             .namespaced = from->namespaced};
}

void resource_clear(struct resource *resource)
{
    free(resource->group);
    free(resource->version);
    free(resource->plural);
    free(resource->kind);
    *resource = (struct resource){0};
}

bool resource_equal(const struct resource *a, const struct resource *b)
{
    return strcmp(a->group, b->group) == 0 && strcmp(a->version, b->version) == 0 &&
           strcmp(a->plural, b->plural) == 0;
}

void resource_name(const struct resource *resource, struct buf *out)
{
    buf_printf(out, "%s%s%s", resource->plural, *resource->group ? "." : "", resource->group);
}

void api_version_cut(struct str api_version, struct str *group, struct str *version)
{
    *version = api_version;
    str_cut(version, '/', group);
    if (!version->p) *version = *group, *group = STR("");
}

void resource_api_version(const struct resource *resource, struct buf *out)
{
    buf_printf(out, "%s%s%s", resource->group, *resource->group ? "/" : "", resource->version);
}

void resource_path(const struct resource *resource, struct str ns, struct buf *out)
{
    buf_puts(out, *resource->group ? "/apis/" : "/api/");
    resource_api_version(resource, out);
    buf_putc(out, '/');
    if (ns.n) {
        buf_puts(out, "namespaces/");
        url_escape(ns, out);
        buf_putc(out, '/');
    }
    buf_puts(out, resource->plural);
}

bool resource_object_path(const struct resource *resource, struct str ns, struct str name,
                          struct str subresource, struct buf *out, struct err *err)
{
    if (ns.n && !url_name_check(ns, err)) return err_wrap(err, "namespace");
    if (!url_name_check(name, err)) return err_wrap(err, "%s", resource->plural);
    if (subresource.n && !url_name_check(subresource, err)) return err_wrap(err, "subresource");
    resource_path(resource, ns, out);
    buf_putc(out, '/');
    url_escape(name, out);
    if (subresource.n) {
        buf_putc(out, '/');
        url_escape(subresource, out);
    }
    return true;
}

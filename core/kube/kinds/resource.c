/* Resources: copies, names and URL paths; see resource.h. */
#include "kube/kinds/resource.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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

bool group_is_within(struct str group, const char *above)
{
    struct str end = str_of(above);
    if (!end.n || !str_ends(group, end)) return false;
    return group.n == end.n || group.p[group.n - end.n - 1] == '.';
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

/* --- names of namespaces */

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
        "\"%.*s\" is not a valid namespace name: lower-case letters, digits and '-', at most %d characters%s",
        shown, name.n ? name.p : "", LABEL_MAX,
        is_pattern(name) ? "; patterns are only supported in namespaces of handlers" : "");
}

/* --- order of resource versions */

bool resource_version_check(struct str version, struct err *err)
{
    if (version.n == 0) return err_set(err, ERR_INVALID, "the resource version is empty");
    bool good = version.p[0] != '0';
    for (size_t i = 0; i < version.n; i++) good = good && version.p[i] >= '0' && version.p[i] <= '9';
    if (good) return true;
    return err_set(err, ERR_INVALID, "invalid resource version \"%.*s\": must be a positive decimal number",
                   STR_ARG(version));
}

bool resource_version_compare(struct str a, struct str b, int *order, struct err *err)
{
    if (!resource_version_check(a, err) || !resource_version_check(b, err)) return false;
    *order = a.n == b.n ? str_cmp(a, b) : (a.n > b.n) - (a.n < b.n);
    return true;
}

bool version_is_newer(struct str version, struct str than)
{
    int order;
    return resource_version_compare(version, than, &order, NULL) && order > 0;
}

bool version_may_be_newer(struct str version, struct str than)
{
    int order;
    return !resource_version_compare(version, than, &order, NULL) || order > 0;
}

/* --- escaping and checking parts of URLs */

static bool unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void url_escape(struct str text, struct buf *out)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (unreserved(text.p[i])) {
            buf_putc(out, text.p[i]);
            continue;
        }
        buf_putc(out, '%');
        buf_putc(out, hex[c >> 4]);
        buf_putc(out, hex[c & 15]);
    }
}

bool url_name_check(struct str name, struct err *err)
{
    if (!name.n) return err_set(err, ERR_INVALID, "a name may not be empty");
    if (str_is(name, ".") || str_is(name, ".."))
        return err_set(err, ERR_INVALID, "a name may not be '%.*s'", STR_ARG(name));
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '/' || name.p[i] == '%')
            return err_set(err, ERR_INVALID, "name \"%.*s\" may not hold '%c'", STR_ARG(name), name.p[i]);
    return true;
}

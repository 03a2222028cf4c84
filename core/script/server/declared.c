/* Declared reads and writes; see declared.h. */
#include "script/server/declared.h"

#include <stdlib.h>
#include <strings.h>

#include "base/array.h"
#include "base/mem.h"
#include "kube/kinds/kinds.h"
#include "kube/kinds/well_known.h"

const struct declarer declares_reads = {
    .name = "k8s.reads",
    .shape = "\"kind:verb\", such as \"pods:list\"",
    .verb_names = "get, list, watch or *",
    .subresource = "log",
    .verbs = {{"get", READ_GET},
              {"list", READ_LIST},
              {"watch", READ_WATCH},
              {"*", READ_GET | READ_LIST | READ_WATCH}},
};

const struct declarer declares_writes = {
    .name = "k8s.writes",
    .shape = "\"kind:verb\" or \"kind/subresource:verb\", such as \"pods:patch\"",
    .verb_names = "create, update, patch, apply, delete or *",
    .takes_unknown = true,
    .verbs = {{"create", WRITE_CREATE},
              {"update", WRITE_UPDATE},
              {"patch", WRITE_PATCH | WRITE_APPLY},
              {"apply", WRITE_APPLY},
              {"delete", WRITE_DELETE},
              {"*", WRITE_CREATE | WRITE_UPDATE | WRITE_PATCH | WRITE_APPLY | WRITE_DELETE}},
};

struct declared_parts {
    struct str kind, subresource;
    struct str group; /* of "*.GROUP"; empty: the kind is no pattern */
    unsigned verbs;
};

static unsigned verbs_of(const struct declarer *declarer, struct str verb)
{
    for (size_t i = 0; i < DECLARED_VERBS_MAX && declarer->verbs[i].name; i++)
        if (str_is(verb, declarer->verbs[i].name)) return declarer->verbs[i].verbs;
    return 0;
}

/* "pods/status": subresources begin with a small letter, as opposed to the kind of "apps/v1/Deployment". */
static bool split_subresource(struct declared_parts *parts)
{
    struct str kind = parts->kind;
    for (size_t i = kind.n; i-- > 0;) {
        if (kind.p[i] != '/') continue;
        if (i + 1 == kind.n) return false;
        if (kind.p[i + 1] < 'a' || kind.p[i + 1] > 'z') return true;
        parts->subresource = (struct str){kind.p + i + 1, kind.n - i - 1};
        parts->kind.n = i;
        return true;
    }
    return true;
}

/* "*" and "*.example.com" are the only patterns. Returns false for any other. */
static bool split_pattern(struct declared_parts *parts)
{
    struct str kind = parts->kind;
    if (!memchr(kind.p, '*', kind.n) || kind.n == 1) return true;
    if (kind.n < 3 || kind.p[0] != '*' || kind.p[1] != '.') return false;
    parts->group = (struct str){kind.p + 2, kind.n - 2};
    return *parts->group.p != '.' && !memchr(parts->group.p, '*', parts->group.n) &&
           !memchr(parts->group.p, '/', parts->group.n);
}

static bool parse(const struct declarer *declarer, struct str text, struct declared_parts *parts,
                  struct err *err)
{
    struct str rest = text;
    *parts = (struct declared_parts){.subresource = STR("")};
    str_cut(&rest, ':', &parts->kind);
    parts->verbs = verbs_of(declarer, rest);
    for (size_t i = 0; i < parts->kind.n; i++)
        if ((unsigned char)parts->kind.p[i] <= ' ')
            return err_set(err, ERR_INVALID, "\"%.*s\": kind must not contain blanks", STR_ARG(text));
    if (!rest.p || !split_subresource(parts) || parts->kind.n == 0)
        return err_set(err, ERR_INVALID, "\"%.*s\" must have the form %s", STR_ARG(text), declarer->shape);
    if (parts->subresource.n && declarer->subresource && !str_is(parts->subresource, declarer->subresource))
        return err_set(err, ERR_INVALID, "\"%.*s\": the only subresource that can be declared is pods/%s",
                       STR_ARG(text), declarer->subresource);
    if (!split_pattern(parts))
        return err_set(
            err, ERR_INVALID,
            "\"%.*s\": the only patterns are \"*\", every kind, and \"*.GROUP\", all kinds of a group "
            "and of those below it",
            STR_ARG(text));
    return parts->verbs ||
           err_set(err, ERR_INVALID, "\"%.*s\": the verb must be %s", STR_ARG(text), declarer->verb_names);
}

static bool same_text(struct str a, const char *b)
{
    return a.n == strlen(b) && strncasecmp(a.p, b, a.n) == 0;
}

bool declare(struct declarations *declared, const struct declarer *declarer, struct str text, struct err *err)
{
    struct declared_parts parts;
    if (!parse(declarer, text, &parts, err)) return false;
    for (size_t i = 0; i < declared->count; i++)
        if (same_text(text, declared->items[i].text)) return true;
    *array_add(declared->items, declared->count) = (struct declared){
        .kind = xstrndup(parts.kind.p, parts.kind.n),
        .subresource = xstrndup(parts.subresource.p, parts.subresource.n),
        .group = parts.group.n ? xstrndup(parts.group.p, parts.group.n) : NULL,
        .text = xstrndup(text.p, text.n),
        .verbs = parts.verbs,
    };
    return true;
}

/* The group that a name has in its words: "widgets.example.com", "example.com/v1/Widget"; empty: none. Of
 * "widgets.v1.example.com" it begins with the version. */
static struct str group_in(struct str kind)
{
    struct str rest = kind, first;
    bool is_path = memchr(kind.p, '/', kind.n) != NULL;
    str_cut(&rest, is_path ? '/' : '.', &first);
    if (!is_path) return rest.p ? rest : STR("");
    return rest.p && memchr(rest.p, '/', rest.n) ? first : STR("");
}

/* Of a kind that nobody knows its name decides. */
static bool is_in_group(const struct declared *one, struct str kind, const struct resource *resource)
{
    return one->group && group_is_within(resource ? str_of(resource->group) : group_in(kind), one->group);
}

/* Another name of the same: "po" for "pods". Versions of a resource are one. */
static bool means(const struct declared *one, const struct declarer *declarer,
                  const struct resource *resource, const struct kinds *kinds)
{
    struct resource meant;
    struct err err;
    if (one->group || !kinds_known(kinds)) return false;
    if (!kinds_resolve(kinds, str_of(one->kind), &meant, &err)) return declarer->takes_unknown && !resource;
    bool same =
        resource && strcmp(meant.group, resource->group) == 0 && strcmp(meant.plural, resource->plural) == 0;
    resource_clear(&meant);
    return same;
}

bool declared_allow(const struct declarations *declared, const struct declarer *declarer, unsigned verb,
                    struct str kind, struct str subresource, const struct resource *resource,
                    const struct kinds *kinds)
{
    for (size_t i = 0; i < declared->count; i++) {
        const struct declared *one = &declared->items[i];
        bool all_kinds = str_is(STR("*"), one->kind) || is_in_group(one, kind, resource);
        if (!(one->verbs & verb)) continue;
        if (all_kinds && !*one->subresource) return true;
        if (!str_is(subresource, one->subresource)) continue;
        if (all_kinds || same_text(kind, one->kind) || means(one, declarer, resource, kinds)) return true;
    }
    return false;
}

bool declared_allow_leases(const struct declarations *declared)
{
    struct catalogue *catalogue = catalogue_well_known();
    unsigned verbs = 0;
    for (size_t i = 0; i < declared->count; i++) {
        const struct declared *one = &declared->items[i];
        struct resource meant;
        struct err err;
        bool is_any = str_is(STR("*"), one->kind) ||
                      (one->group && group_is_within(STR("coordination.k8s.io"), one->group));
        if (*one->subresource) continue;
        if (is_any) verbs |= one->verbs;
        if (is_any || !catalogue_resolve(catalogue, str_of(one->kind), &meant, &err)) continue;
        if (strcmp(meant.group, "coordination.k8s.io") == 0 && strcmp(meant.plural, "leases") == 0)
            verbs |= one->verbs;
        resource_clear(&meant);
    }
    catalogue_free(catalogue);
    return (verbs & (WRITE_CREATE | WRITE_UPDATE)) == (WRITE_CREATE | WRITE_UPDATE);
}

void declarations_clear(struct declarations *declared)
{
    for (size_t i = 0; i < declared->count; i++) {
        free(declared->items[i].kind);
        free(declared->items[i].subresource);
        free(declared->items[i].group);
        free(declared->items[i].text);
    }
    free(declared->items);
    *declared = (struct declarations){0};
}

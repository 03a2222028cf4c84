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
    .verbs = {{"get", READ_GET},
              {"list", READ_LIST},
              {"watch", READ_WATCH},
              {"*", READ_GET | READ_LIST | READ_WATCH}},
};

const struct declarer declares_writes = {
    .name = "k8s.writes",
    .shape = "\"kind:verb\" or \"kind/subresource:verb\", such as \"pods:patch\"",
    .verb_names = "create, update, patch, apply, delete or *",
    .has_subresources = true,
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
    if (!rest.p || (declarer->has_subresources && !split_subresource(parts)) || parts->kind.n == 0)
        return err_set(err, ERR_INVALID, "\"%.*s\" must have the form %s", STR_ARG(text), declarer->shape);
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
        .text = xstrndup(text.p, text.n),
        .verbs = parts.verbs,
    };
    return true;
}

/* Another name of the same: "po" for "pods". Versions of a resource are one. */
static bool means(const struct declared *one, const struct declarer *declarer,
                  const struct resource *resource, const struct kinds *kinds)
{
    struct resource meant;
    struct err err;
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
        bool all_kinds = str_is(STR("*"), one->kind);
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
        bool is_any = str_is(STR("*"), one->kind);
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
        free(declared->items[i].text);
    }
    free(declared->items);
    *declared = (struct declarations){0};
}

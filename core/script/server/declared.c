/* Declared writes; see writes.h. */
#include "script/server/declared.h"

#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "kube/kinds/kinds.h"
#include "kube/kinds/well_known.h"

struct parts {
    struct str kind, subresource, verb;
};

static unsigned verbs_of(struct str verb)
{
    if (str_is(verb, "create")) return WRITE_CREATE;
    if (str_is(verb, "update")) return WRITE_UPDATE;
    if (str_is(verb, "patch")) return WRITE_PATCH | WRITE_APPLY;
    if (str_is(verb, "apply")) return WRITE_APPLY;
    if (str_is(verb, "delete")) return WRITE_DELETE;
    return str_is(verb, "*") ? WRITE_CREATE | WRITE_UPDATE | WRITE_PATCH | WRITE_APPLY | WRITE_DELETE : 0;
}

/* "pods/status": subresources begin with a small letter, as opposed to the kind of "apps/v1/Deployment". */
static bool split_subresource(struct parts *parts)
{
    struct str kind = parts->kind;
    parts->subresource = STR("");
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

static bool parse(struct str text, struct parts *parts, struct err *err)
{
    struct str rest = text;
    *parts = (struct parts){0};
    str_cut(&rest, ':', &parts->kind);
    parts->verb = rest;
    for (size_t i = 0; i < parts->kind.n; i++)
        if ((unsigned char)parts->kind.p[i] <= ' ')
            return err_set(err, ERR_INVALID, "\"%.*s\": a kind has no blanks", STR_ARG(text));
    if (!rest.p || !split_subresource(parts) || parts->kind.n == 0)
        return err_set(err, ERR_INVALID,
                       "\"%.*s\" is no \"kind:verb\" or \"kind/subresource:verb\", such as \"pods:patch\"",
                       STR_ARG(text));
    if (verbs_of(rest)) return true;
    return err_set(err, ERR_INVALID, "\"%.*s\": the verb must be create, update, patch, apply, delete or *",
                   STR_ARG(text));
}

static bool same_text(struct str a, const char *b)
{
    return a.n == strlen(b) && strncasecmp(a.p, b, a.n) == 0;
}

bool writes_declare(struct script_writes *writes, struct str text, struct err *err)
{
    struct parts parts;
    if (!parse(text, &parts, err)) return false;
    for (size_t i = 0; i < writes->count; i++)
        if (same_text(text, writes->items[i].text)) return true;
    if (writes->count == writes->cap) {
        writes->cap = writes->cap ? 2 * writes->cap : 4;
        writes->items = xrealloc(writes->items, writes->cap * sizeof *writes->items);
    }
    writes->items[writes->count++] = (struct declared_write){
        .kind = xstrndup(parts.kind.p, parts.kind.n),
        .subresource = xstrndup(parts.subresource.p, parts.subresource.n),
        .text = xstrndup(text.p, text.n),
        .verbs = verbs_of(parts.verb),
    };
    return true;
}

/* Another name of the same: "po" for "pods". Versions of a resource are one. */
static bool means(const struct declared_write *write, const struct resource *resource,
                  const struct kinds *kinds)
{
    struct resource declared;
    struct err err;
    if (!kinds_resolve(kinds, str_of(write->kind), &declared, &err)) return !resource;
    bool same = resource && strcmp(declared.group, resource->group) == 0 &&
                strcmp(declared.plural, resource->plural) == 0;
    resource_clear(&declared);
    return same;
}

bool writes_allow(const struct script_writes *writes, enum write_verb verb, struct str kind,
                  struct str subresource, const struct resource *resource, const struct kinds *kinds)
{
    for (size_t i = 0; i < writes->count; i++) {
        const struct declared_write *write = &writes->items[i];
        bool all_kinds = str_is(STR("*"), write->kind);
        if (!(write->verbs & verb)) continue;
        if (all_kinds && !*write->subresource) return true;
        if (!str_is(subresource, write->subresource)) continue;
        if (all_kinds || same_text(kind, write->kind) || means(write, resource, kinds)) return true;
    }
    return false;
}

bool writes_allow_leases(const struct script_writes *writes)
{
    struct catalogue *catalogue = catalogue_well_known();
    unsigned verbs = 0;
    for (size_t i = 0; i < writes->count; i++) {
        const struct declared_write *write = &writes->items[i];
        struct resource meant;
        struct err err;
        bool is_any = str_is(STR("*"), write->kind);
        if (*write->subresource) continue;
        if (is_any) verbs |= write->verbs;
        if (is_any || !catalogue_resolve(catalogue, str_of(write->kind), &meant, &err)) continue;
        if (strcmp(meant.group, "coordination.k8s.io") == 0 && strcmp(meant.plural, "leases") == 0)
            verbs |= write->verbs;
        resource_clear(&meant);
    }
    catalogue_free(catalogue);
    return (verbs & (WRITE_CREATE | WRITE_UPDATE)) == (WRITE_CREATE | WRITE_UPDATE);
}

void writes_clear(struct script_writes *writes)
{
    for (size_t i = 0; i < writes->count; i++) {
        free(writes->items[i].kind);
        free(writes->items[i].subresource);
        free(writes->items[i].text);
    }
    free(writes->items);
    *writes = (struct script_writes){0};
}

/* --- Declared live reads */

static unsigned read_verbs_of(struct str verb)
{
    if (str_is(verb, "get")) return READ_GET;
    if (str_is(verb, "list")) return READ_LIST;
    if (str_is(verb, "watch")) return READ_WATCH;
    return str_is(verb, "*") ? READ_GET | READ_LIST | READ_WATCH : 0;
}

static bool parse_read(struct str text, struct str *kind, struct str *verb, struct err *err)
{
    struct str rest = text;
    *kind = (struct str){0};
    str_cut(&rest, ':', kind);
    if (!rest.p || kind->n == 0)
        return err_set(err, ERR_INVALID, "\"%.*s\" is no \"kind:verb\", such as \"pods:list\"",
                       STR_ARG(text));
    for (size_t i = 0; i < kind->n; i++)
        if ((unsigned char)kind->p[i] <= ' ')
            return err_set(err, ERR_INVALID, "\"%.*s\": a kind has no blanks", STR_ARG(text));
    *verb = rest;
    if (read_verbs_of(rest)) return true;
    return err_set(err, ERR_INVALID, "\"%.*s\": the verb must be get, list, watch or *", STR_ARG(text));
}

bool reads_declare(struct script_reads *reads, struct str text, struct err *err)
{
    struct str kind, verb;
    if (!parse_read(text, &kind, &verb, err)) return false;
    for (size_t i = 0; i < reads->count; i++)
        if (same_text(text, reads->items[i].text)) return true;
    if (reads->count == reads->cap) {
        reads->cap = reads->cap ? 2 * reads->cap : 4;
        reads->items = xrealloc(reads->items, reads->cap * sizeof *reads->items);
    }
    reads->items[reads->count++] = (struct declared_read){
        .kind = xstrndup(kind.p, kind.n), .text = xstrndup(text.p, text.n), .verbs = read_verbs_of(verb)};
    return true;
}

/* Another name of the same: "po" for "pods". Versions of a resource are one. */
static bool read_means(const struct declared_read *read, const struct resource *resource,
                       const struct kinds *kinds)
{
    struct resource declared;
    struct err err;
    if (!kinds_resolve(kinds, str_of(read->kind), &declared, &err)) return false;
    bool same =
        strcmp(declared.group, resource->group) == 0 && strcmp(declared.plural, resource->plural) == 0;
    resource_clear(&declared);
    return same;
}

bool reads_allow(const struct script_reads *reads, enum read_verb verb, struct str kind,
                 const struct resource *resource, const struct kinds *kinds)
{
    for (size_t i = 0; i < reads->count; i++) {
        const struct declared_read *read = &reads->items[i];
        if (!(read->verbs & verb)) continue;
        if (str_is(STR("*"), read->kind) || same_text(kind, read->kind)) return true;
        if (resource && read_means(read, resource, kinds)) return true;
    }
    return false;
}

void reads_clear(struct script_reads *reads)
{
    for (size_t i = 0; i < reads->count; i++) {
        free(reads->items[i].kind);
        free(reads->items[i].text);
    }
    free(reads->items);
    *reads = (struct script_reads){0};
}

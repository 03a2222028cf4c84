/* Declared live reads; see reads.h. */
#include "script/server/reads.h"

#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "kube/kinds/kinds.h"

static unsigned verbs_of(struct str verb)
{
    if (str_is(verb, "get")) return READ_GET;
    if (str_is(verb, "list")) return READ_LIST;
    if (str_is(verb, "watch")) return READ_WATCH;
    return str_is(verb, "*") ? READ_GET | READ_LIST | READ_WATCH : 0;
}

static bool parse(struct str text, struct str *kind, struct str *verb, struct err *err)
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
    if (verbs_of(rest)) return true;
    return err_set(err, ERR_INVALID, "\"%.*s\": the verb must be get, list, watch or *", STR_ARG(text));
}

static bool same_text(struct str a, const char *b)
{
    return a.n == strlen(b) && strncasecmp(a.p, b, a.n) == 0;
}

bool reads_declare(struct script_reads *reads, struct str text, struct err *err)
{
    struct str kind, verb;
    if (!parse(text, &kind, &verb, err)) return false;
    for (size_t i = 0; i < reads->count; i++)
        if (same_text(text, reads->items[i].text)) return true;
    if (reads->count == reads->cap) {
        reads->cap = reads->cap ? 2 * reads->cap : 4;
        reads->items = xrealloc(reads->items, reads->cap * sizeof *reads->items);
    }
    reads->items[reads->count++] = (struct declared_read){
        .kind = xstrndup(kind.p, kind.n), .text = xstrndup(text.p, text.n), .verbs = verbs_of(verb)};
    return true;
}

/* Another name of the same: "po" for "pods". Versions of a resource are one. */
static bool means(const struct declared_read *read, const struct resource *resource,
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
        if (resource && means(read, resource, kinds)) return true;
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

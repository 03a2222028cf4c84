/* What is to be done; see fixes.h. */
#include "audit/fixes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct audit_fix *audit_fixes_add(struct audit_fixes *fixes)
{
    if (fixes->count == fixes->cap) {
        fixes->cap = fixes->cap ? fixes->cap * 2 : 64;
        fixes->items = xrealloc(fixes->items, fixes->cap * sizeof *fixes->items);
    }
    struct audit_fix *fix = &fixes->items[fixes->count++];
    *fix = (struct audit_fix){0};
    return fix;
}

void audit_fix_clear(struct audit_fix *fix)
{
    char *texts[] = {fix->reasons, fix->rules,   fix->api_version, fix->kind, fix->ns,
                     fix->name,    fix->version, fix->type,        fix->json};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) free(texts[i]);
    resource_clear(&fix->resource);
}

void audit_fixes_clear(struct audit_fixes *fixes)
{
    for (size_t i = 0; i < fixes->count; i++) audit_fix_clear(&fixes->items[i]);
    free(fixes->items);
    *fixes = (struct audit_fixes){0};
}

/* Those without a name are new objects each time. */
bool audit_fix_is_same_object(const struct audit_fix *a, const struct audit_fix *b)
{
    struct str groups[2], version;
    if (!*a->name || strcmp(a->name, b->name) != 0 || strcmp(a->ns, b->ns) != 0) return false;
    api_version_cut(str_of(a->api_version), &groups[0], &version);
    api_version_cut(str_of(b->api_version), &groups[1], &version);
    return strcmp(a->kind, b->kind) == 0 && str_eq(groups[0], groups[1]);
}

struct audit_fix *audit_fixes_find_manifest(const struct audit_fixes *fixes, const struct audit_fix *fix)
{
    for (size_t i = 0; i < fixes->count; i++)
        if (fixes->items[i].is_manifest && audit_fix_is_same_object(&fixes->items[i], fix))
            return &fixes->items[i];
    return NULL;
}

void audit_fix_add_reasons(struct audit_fix *fix, struct str lines)
{
    char *longer = xasprintf("%s%.*s", fix->reasons, STR_ARG(lines));
    free(fix->reasons);
    fix->reasons = longer;
}

static bool has_rule(const char *rules, const char *id)
{
    size_t len = strlen(id);
    for (const char *at = rules; at && *at; at = strstr(at, ", "), at = at ? at + 2 : NULL)
        if (strncmp(at, id, len) == 0 && (at[len] == ',' || !at[len])) return true;
    return false;
}

void audit_fix_add_rule(struct audit_fix *fix, const char *id)
{
    if (has_rule(fix->rules, id)) return;
    char *longer = fix->rules ? xasprintf("%s, %s", fix->rules, id) : xstrdup(id);
    free(fix->rules);
    fix->rules = longer;
}

const char *audit_fix_type(const struct audit_fix *fix)
{
    return fix->is_manifest ? "manifest" : fix->is_strategic ? "strategic" : "merge";
}

void audit_fix_put_object(const struct audit_fix *fix, struct buf *out)
{
    struct str group, version;
    api_version_cut(str_of(fix->api_version), &group, &version);
    for (const char *c = fix->kind; *c; c++) buf_putc(out, (char)tolower((unsigned char)*c));
    if (group.n) buf_printf(out, ".%.*s", STR_ARG(group));
    buf_printf(out, "/%s", fix->name);
}

/* --- kinds */

/* The short name means the version that the server likes best: a patch for another one must name that. */
static void put_known(const struct resource *resource, const struct catalogue *catalogue, struct buf *out)
{
    struct resource preferred = {0};
    struct err err;
    resource_name(resource, out);
    bool same = catalogue_resolve(catalogue, buf_slice(out), &preferred, &err) &&
                resource_equal(&preferred, resource);
    resource_clear(&preferred);
    if (same) return;
    out->len = 0;
    buf_printf(out, "%s.%s.%s", resource->plural, resource->version, resource->group);
}

/* kubectl takes "Kind.version.group" too, and "Kind" of the core group. */
static void put_unknown(const struct audit_fix *fix, struct buf *out)
{
    struct str group, version;
    api_version_cut(str_of(fix->api_version), &group, &version);
    buf_puts(out, fix->kind);
    if (group.n) buf_printf(out, ".%.*s.%.*s", STR_ARG(version), STR_ARG(group));
}

void audit_fix_resolve(struct audit_fix *fix, const struct catalogue *catalogue)
{
    struct err err;
    struct buf text = {0};
    buf_printf(&text, "%s/%s", fix->api_version, fix->kind);
    bool known = catalogue_resolve(catalogue, buf_slice(&text), &fix->resource, &err);
    text.len = 0;
    if (known)
        put_known(&fix->resource, catalogue, &text);
    else
        put_unknown(fix, &text);
    fix->type = buf_take(&text);
}

/* --- how much there is */

void audit_fixes_sum_up(const struct audit_fixes *fixes, struct buf *out)
{
    buf_printf(out, "%zu finding%s a fix, ", fixes->with, fixes->with == 1 ? " has" : "s have");
    buf_printf(out, "%zu %s none; ", fixes->without, fixes->without == 1 ? "has" : "have");
    buf_printf(out, "%zu object%s", fixes->objects, fixes->objects == 1 ? "" : "s");
    if (fixes->there)
        buf_printf(out, "; %zu manifest%s there already", fixes->there,
                   fixes->there == 1 ? " is of an object that is" : "s are of objects that are");
    if (fixes->still)
        buf_printf(out, "; %zu rule%s with the patch too", fixes->still,
                   fixes->still == 1 ? " fails" : "s fail");
}

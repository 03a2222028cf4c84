/* Fixes to apply; see fixes.h. */
#include "audit/fix/fixes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

/* Hashes with a function of its own: names come from a cluster, and could be chosen to collide in that of
 * uthash. */
#define HASH_FUNCTION(key, len, hash) ((hash) = (unsigned)hash_bytes(key, len))
#include <uthash.h>

/* Fixes of one object. */
struct fixed_object {
    struct buf key;
    size_t manifest; /* its place plus one; 0: there is none */
    bool has_patch;
    UT_hash_handle hh;
};

/* --- by object */

/* In whatever version. False: it has no name, and is a new object each time. */
static bool put_key(const struct audit_fix *fix, struct buf *out)
{
    struct str group, version;
    if (!*fix->name) return false;
    api_version_cut(str_of(fix->api_version), &group, &version);
    buf_printf(out, "%.*s/%s/%s/%s", STR_ARG(group), fix->kind, fix->ns, fix->name);
    return true;
}

static struct fixed_object *find_object(const struct audit_fixes *fixes, const struct audit_fix *fix)
{
    struct buf key = {0};
    struct fixed_object *object = NULL;
    if (put_key(fix, &key)) HASH_FIND(hh, fixes->by_object, key.data, key.len, object);
    buf_clear(&key);
    return object;
}

static void note_object(struct audit_fixes *fixes, const struct audit_fix *fix)
{
    struct fixed_object *object = find_object(fixes, fix);
    if (!object) {
        object = NEW(struct fixed_object);
        if (!put_key(fix, &object->key)) {
            free(object);
            return;
        }
        HASH_ADD_KEYPTR(hh, fixes->by_object, object->key.data, object->key.len, object);
    }
    if (!fix->is_manifest)
        object->has_patch = true;
    else if (!object->manifest)
        object->manifest = fixes->count;
}

static void forget_objects(struct audit_fixes *fixes)
{
    struct fixed_object *object, *next;
    HASH_ITER (hh, fixes->by_object, object, next) {
        HASH_DEL(fixes->by_object, object);
        buf_clear(&object->key);
        free(object);
    }
}

/* --- all of them */

void audit_fixes_add(struct audit_fixes *fixes, const struct audit_fix *fix)
{
    *array_add(fixes->items, fixes->count) = *fix;
    note_object(fixes, fix);
}

void audit_fix_clear(struct audit_fix *fix)
{
    char *texts[] = {fix->rules, fix->api_version, fix->kind, fix->ns,
                     fix->name,  fix->version,     fix->type, fix->json};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) free(texts[i]);
    buf_clear(&fix->reasons);
    resource_clear(&fix->resource);
}

void audit_fixes_clear(struct audit_fixes *fixes)
{
    for (size_t i = 0; i < fixes->count; i++) audit_fix_clear(&fixes->items[i]);
    free(fixes->items);
    forget_objects(fixes);
    *fixes = (struct audit_fixes){0};
}

struct audit_fix *audit_fixes_find_manifest(const struct audit_fixes *fixes, const struct audit_fix *fix)
{
    const struct fixed_object *object = find_object(fixes, fix);
    return object && object->manifest ? &fixes->items[object->manifest - 1] : NULL;
}

bool audit_fixes_have_patch(const struct audit_fixes *fixes, const struct audit_fix *fix)
{
    const struct fixed_object *object = find_object(fixes, fix);
    return object && object->has_patch;
}

/* --- one of them */

void audit_fix_add_reasons(struct audit_fix *fix, struct str lines)
{
    buf_str(&fix->reasons, lines);
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
        buf_printf(out, "; %zu manifest%s", fixes->there,
                   fixes->there == 1 ? " is for an object that exists" : "s are for objects that exist");
    if (fixes->still)
        buf_printf(out, "; %zu rule%s with the patch too", fixes->still,
                   fixes->still == 1 ? " fails" : "s fail");
}

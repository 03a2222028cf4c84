/* Patches, manifests and the objects they are of; see fixer_values.h. */
#include "audit/fix/fixer_values.h"

#include <stdlib.h>
#include <string.h>

#include "informer/shared/shared_factory.h"
#include "informer/store/indexer.h"
#include "object/value/json.h"
#include "object/value/merge.h"

bool fix_pack(struct packer *packer, struct buf *text, struct root **out, struct err *err)
{
    static const struct pack_type type = {.api_version = STR("v1"), .kind = STR("Fix"), .nameless = true};
    memset(buf_reserve(text, TAPE_PADDING), 0, TAPE_PADDING);
    return pack_text(packer, text->data, text->len, &type, out, err);
}

static struct value metadata(struct value object, struct str field)
{
    return value_field(value_field(object, STR("metadata")), field);
}

static bool is_text(struct value v)
{
    return value_type(v) == VALUE_STRING;
}

bool fix_is_manifest(struct value fix)
{
    return is_text(value_field(fix, STR("apiVersion"))) && is_text(value_field(fix, STR("kind")));
}

static bool same(struct value a, struct value b)
{
    struct text texts[2];
    return str_eq(value_str(a, &texts[0]), value_str(b, &texts[1]));
}

bool fix_is_same_object(struct value a, struct value b)
{
    return same(value_field(a, STR("apiVersion")), value_field(b, STR("apiVersion"))) &&
           same(value_field(a, STR("kind")), value_field(b, STR("kind"))) &&
           same(metadata(a, STR("namespace")), metadata(b, STR("namespace"))) &&
           same(metadata(a, STR("name")), metadata(b, STR("name")));
}

/* --- what they are called */

/* No name has a zero byte; what is behind one must not be cut off, as the rest may be another's name. */
static char *text_of(struct value v)
{
    struct text text;
    struct str s = value_str(v, &text);
    struct buf out = {0};
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i])
            buf_putc(&out, s.p[i]);
        else
            buf_puts(&out, "\xef\xbf\xbd");
    }
    return buf_take(&out);
}

void fix_name(struct audit_fix *fix, struct value object, const struct catalogue *catalogue)
{
    fix->api_version = text_of(value_field(object, STR("apiVersion")));
    fix->kind = text_of(value_field(object, STR("kind")));
    fix->ns = text_of(metadata(object, STR("namespace")));
    fix->name = text_of(metadata(object, STR("name")));
    fix->version = text_of(metadata(object, STR("resourceVersion")));
    audit_fix_resolve(fix, catalogue);
}

/* {"metadata":{"namespace":"shop"}} merged into it. */
static bool put_in_namespace(struct packer *packer, struct value manifest, struct str ns, struct buf *out)
{
    struct buf wrapped = {0};
    struct root *root;
    struct err err;
    buf_puts(&wrapped, "{\"fix\":{\"metadata\":{\"namespace\":");
    buf_json_string(&wrapped, ns);
    buf_puts(&wrapped, "}}}");
    bool ok = fix_pack(packer, &wrapped, &root, &err);
    if (ok) {
        merge_write(out, manifest, value_field(root_value(root), STR("fix")));
        root_unref(root);
    }
    buf_clear(&wrapped);
    return ok;
}

void fix_manifest(struct packer *packer, struct audit_fix *fix, struct value manifest, struct root *object,
                  const struct catalogue *catalogue)
{
    struct text text;
    struct buf json = {0};
    struct str ns = root_namespace(object, &text);
    fix->is_manifest = true;
    fix_name(fix, manifest, catalogue);
    bool lacks = ns.n && !*fix->ns && fix->resource.plural && fix->resource.namespaced;
    if (lacks && put_in_namespace(packer, manifest, ns, &json)) {
        free(fix->ns);
        fix->ns = text_of(metadata(root_value(object), STR("namespace")));
    } else {
        json_write(&json, manifest);
    }
    fix->json = buf_take(&json);
}

bool fix_lock(struct packer *packer, const struct audit_fix *fix, struct str version, struct buf *out,
              struct err *err)
{
    struct buf wrapped = {0};
    struct root *root;
    buf_printf(&wrapped, "{\"fix\":%s,\"lock\":{\"metadata\":{\"resourceVersion\":", fix->json);
    buf_json_string(&wrapped, version);
    buf_puts(&wrapped, "}}}");
    bool ok = fix_pack(packer, &wrapped, &root, err);
    if (ok) {
        merge_write(out, value_field(root_value(root), STR("fix")),
                    value_field(root_value(root), STR("lock")));
        root_unref(root);
    }
    buf_clear(&wrapped);
    return ok;
}

/* --- Manifests and the objects of the audit */

/* In whatever version. */
static bool is_of(const struct informer_claim *claim, const struct resource *resource)
{
    const struct resource *own = claim_resource(claim);
    return own && strcmp(own->group, resource->group) == 0 && strcmp(own->plural, resource->plural) == 0;
}

static bool is_cached(const struct shared_factory *factory, const struct audit_fix *fix)
{
    struct informer_claim *claim = NULL;
    while (fix->resource.plural && (claim = shared_factory_next_claim(factory, claim))) {
        if (!is_of(claim, &fix->resource)) continue;
        struct indexer *cache = claim_indexer(claim);
        if (cache && indexer_get(cache, str_of(fix->ns), str_of(fix->name))) return true;
    }
    return false;
}

void fixes_mark_there(struct audit_fixes *fixes, const struct shared_factory *factory)
{
    for (size_t i = 0; i < fixes->count; i++) {
        struct audit_fix *fix = &fixes->items[i];
        if (!fix->is_manifest) continue;
        fix->is_patched = audit_fixes_have_patch(fixes, fix);
        fix->is_there = fix->is_patched || is_cached(factory, fix);
        fixes->there += fix->is_there;
    }
}

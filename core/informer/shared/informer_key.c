/* Identity of an informer; see informer_key.h. */
#include "informer/shared/informer_key.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "object/pack/projection.h"
#include "object/value/selector.h"

/* Returns the selector in canonical form, as requests send it. */
static char *canonical_labels(const char *text)
{
    struct selector *selector = selector_parse(str_of(text), NULL);
    if (!selector) return xstrdup(text); /* the server reports what is wrong with it */
    struct str canonical = selector_text(selector);
    char *copy = xstrndup(canonical.p ? canonical.p : "", canonical.n);
    selector_free(selector);
    return copy;
}

/* Returns the term before the next comma that is not escaped by a backslash; moves `*text` behind it, or to
 * NULL at the end. */
static char *take_term(const char **text)
{
    const char *at = *text;
    while (*at && *at != ',') at += at[0] == '\\' && at[1] ? 2 : 1;
    char *term = xstrndup(*text, (size_t)(at - *text));
    *text = *at ? at + 1 : NULL;
    return term;
}

/* Rewrites "a==b" as "a=b". */
static void join_equals(char *term)
{
    char *first = strchr(term, '=');
    if (first && first > term && first[-1] == '!') return;
    if (first && first[1] == '=') memmove(first, first + 1, strlen(first));
}

static int compare_terms(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the terms sorted, each once, so that claims that differ in order share an informer. Values are not
 * interpreted: only the server knows what they mean. */
static char *canonical_fields(const char *text)
{
    char **terms = NULL;
    size_t count = 0;
    struct buf out = {0};
    while (text && *text) {
        join_equals(*array_add(terms, count) = take_term(&text));
    }
    if (count) qsort(terms, count, sizeof *terms, compare_terms);
    for (size_t i = 0; i < count; i++)
        if (*terms[i] && (i == 0 || strcmp(terms[i], terms[i - 1]) != 0))
            buf_printf(&out, "%s%s", out.len ? "," : "", terms[i]);
    for (size_t i = 0; i < count; i++) free(terms[i]);
    free(terms);
    return out.len ? buf_take(&out) : xstrdup("");
}

void informer_key_init(struct informer_key *key, const struct resource *resource,
                       const struct lw_scope *scope)
{
    resource_copy(&key->resource, resource);
    key->cluster = NULL;
    key->namespace_ = xstrdup(resource->namespaced ? scope->namespace_ : "");
    key->namespace_selector =
        canonical_labels(resource->namespaced && scope->namespace_selector ? scope->namespace_selector : "");
    key->label_selector = canonical_labels(scope->label_selector);
    key->field_selector = canonical_fields(scope->field_selector);
    key->projection = scope->projection ? projection_ref(scope->projection) : NULL;
    key->metadata_only = scope->metadata_only;
    key->shard = SHARD_BY_NOTHING;
    key->transform = (struct transform){0};
}

void informer_key_clear(struct informer_key *key)
{
    resource_clear(&key->resource);
    free(key->namespace_);
    free(key->namespace_selector);
    free(key->label_selector);
    free(key->field_selector);
    projection_unref(key->projection);
}

static const char *text_of(const struct projection *projection)
{
    return projection ? projection_text(projection) : "";
}

bool informer_key_equal(const struct informer_key *a, const struct informer_key *b)
{
    return resource_equal(&a->resource, &b->resource) && strcmp(a->namespace_, b->namespace_) == 0 &&
           strcmp(a->namespace_selector, b->namespace_selector) == 0 &&
           strcmp(a->label_selector, b->label_selector) == 0 &&
           strcmp(a->field_selector, b->field_selector) == 0 && a->metadata_only == b->metadata_only &&
           strcmp(text_of(a->projection), text_of(b->projection)) == 0 && a->shard == b->shard &&
           a->transform.fn == b->transform.fn && a->transform.ctx == b->transform.ctx;
}

struct lw_scope informer_key_scope(const struct informer_key *key)
{
    return (struct lw_scope){
        .namespace_ = key->namespace_,
        .namespace_selector = key->namespace_selector,
        .label_selector = key->label_selector,
        .field_selector = key->field_selector,
        .projection = key->projection,
        .metadata_only = key->metadata_only,
    };
}

void informer_scope_describe(const struct lw_scope *scope, const struct transform *transform, struct buf *out)
{
    if (*scope->namespace_) buf_printf(out, " in %s", scope->namespace_);
    if (scope->namespace_selector && *scope->namespace_selector)
        buf_printf(out, " in namespaces with labels %s", scope->namespace_selector);
    if (*scope->label_selector) buf_printf(out, " with labels %s", scope->label_selector);
    if (*scope->field_selector) buf_printf(out, " with field selector %s", scope->field_selector);
    if (scope->metadata_only)
        buf_puts(out, ", metadata only");
    else if (scope->projection)
        buf_printf(out, ", %s", text_of(scope->projection));
    if (transform->fn) buf_printf(out, ", transformed by %s", transform->owner);
}

void informer_shard_describe(enum shard_by shard, struct buf *out)
{
    if (shard == SHARD_BY_NAMESPACE)
        buf_puts(out, ", shared by namespace");
    else if (shard == SHARD_BY_UID)
        buf_puts(out, ", shared");
}

void informer_key_describe(const struct informer_key *key, struct buf *out)
{
    const struct lw_scope scope = informer_key_scope(key);
    if (key->cluster) buf_printf(out, "%s: ", key->cluster);
    resource_name(&key->resource, out);
    informer_scope_describe(&scope, &key->transform, out);
    informer_shard_describe(key->shard, out);
}

void informer_key_identify(const struct informer_key *key, struct buf *out)
{
    const struct resource *resource = &key->resource;
    if (*resource->group) buf_printf(out, "%s/", resource->group);
    buf_printf(out, "%s ", resource->version);
    informer_key_describe(key, out);
}

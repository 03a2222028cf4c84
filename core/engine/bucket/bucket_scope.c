/* Objects that one list or watch of a bucket is about; see bucket_scope.h. */
#include "engine/bucket/bucket_scope.h"

#include <stdlib.h>
#include <string.h>

#include "engine/bucket/bucket_key.h"
#include "object/pack/projection.h"
#include "object/value/selector.h"

/* Returns the name of "metadata.name=NAME", which keys tell; empty for any other selector of fields. */
static struct str name_of(const char *selector)
{
    struct str rest = str_of(selector), key;
    if (!str_cut(&rest, '=', &key) || !str_is(key, "metadata.name")) return (struct str){0};
    if (rest.n > 0 && *rest.p == '=') rest = (struct str){rest.p + 1, rest.n - 1};
    for (size_t i = 0; i < rest.n; i++)
        if (strchr(",=!\\", rest.p[i])) return (struct str){0};
    return rest;
}

void bucket_scope_read(struct bucket_scope *of, const struct resource *resource, const struct lw_scope *scope)
{
    struct buf api_version = {0};
    struct buf text = {0};
    struct str name = name_of(scope->field_selector ? scope->field_selector : "");
    *of = (struct bucket_scope){0};
    err_clear(&of->err);
    resource_copy(&of->resource, resource);
    resource_api_version(resource, &api_version);
    of->api_version = buf_take(&api_version);
    of->scope = (struct lw_scope){.metadata_only = scope->metadata_only,
                                  .packer = scope->packer,
                                  .admits = scope->admits,
                                  .admits_ctx = scope->admits_ctx};
    if (scope->projection) of->scope.projection = projection_ref(scope->projection);
    if (nonempty(scope->field_selector) && name.n == 0)
        err_set(&of->err, ERR_INVALID,
                "field selector \"%s\": only an API server evaluates field selectors other than "
                "metadata.name=NAME",
                scope->field_selector);
    else if (nonempty(scope->label_selector))
        of->selector = selector_parse(str_of(scope->label_selector), &of->err);
    bucket_filter(&of->resource, str_of(scope->namespace_ ? scope->namespace_ : ""), name, &text);
    of->filter = buf_take(&text);
    of->is_one = name.n > 0 && nonempty(scope->namespace_);
}

bool bucket_scope_has(const struct bucket_scope *of, const struct root *object)
{
    struct value metadata = value_field(root_value(object), STR("metadata"));
    return !of->selector || selector_matches(of->selector, value_field(metadata, STR("labels")));
}

void bucket_scope_clear(struct bucket_scope *of)
{
    resource_clear(&of->resource);
    projection_unref(of->scope.projection);
    selector_free(of->selector);
    free(of->api_version);
    free(of->filter);
}

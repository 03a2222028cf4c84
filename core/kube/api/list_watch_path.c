/* Paths and queries of lists and watches; see list_watch_path.h. */
#include "kube/api/list_watch_path.h"

#include <stdio.h>

#include "kube/kinds/resource.h"

static void param(struct buf *out, char *separator, const char *key, const char *value)
{
    if (!value || !*value) return;
    buf_putc(out, *separator);
    *separator = '&';
    buf_puts(out, key);
    buf_putc(out, '=');
    url_escape(str_of(value), out);
}

static void param_int(struct buf *out, char *separator, const char *key, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    if (value > 0) param(out, separator, key, text);
}

void list_watch_path(const struct resource *resource, const struct lw_scope *scope,
                     const struct lw_options *options, struct buf *out)
{
    bool watch = options->verb == LW_WATCH;
    bool page = options->continue_token && *options->continue_token; /* P-2 */
    char separator = '?';
    resource_path(resource, str_of(resource->namespaced ? scope->namespace_ : NULL), out);
    param(out, &separator, "allowWatchBookmarks", watch && options->allow_watch_bookmarks ? "true" : NULL);
    param(out, &separator, "continue", options->continue_token);
    param(out, &separator, "fieldSelector", scope->field_selector);
    param(out, &separator, "labelSelector", scope->label_selector);
    param_int(out, &separator, "limit", options->limit);
    if (!page) {
        param(out, &separator, "resourceVersion", options->resource_version);
        param(out, &separator, "resourceVersionMatch", options->resource_version_match);
    }
    param(out, &separator, "sendInitialEvents", watch && options->send_initial_events ? "true" : NULL);
    param(out, &separator, "shardSelector", options->shard_selector);
    param_int(out, &separator, "timeoutSeconds", options->timeout_seconds);
    param(out, &separator, "watch", watch ? "true" : NULL);
}

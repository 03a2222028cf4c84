/* Objects that the lists and watches of an informer are about, as a bucket can tell: a kind, a namespace and
 * a name by their keys, labels by their values. Owner: the source; constant. Any thread. */
#pragma once
#include <stdbool.h>

#include "kube/api/list_watch.h"
#include "kube/kinds/resource.h"
#include "object/value/value.h"

struct selector;

struct bucket_scope {
    struct resource resource;
    struct lw_scope scope; /* without texts */
    char *api_version;
    char *filter;              /* of keys */
    bool is_one;               /* one object, by namespace and name: settings that all engines have */
    struct selector *selector; /* NULL: everything, or an error */
    struct err err;            /* no call can succeed */
};

/* Clear it in any case. */
void bucket_scope_read(struct bucket_scope *of, const struct resource *resource,
                       const struct lw_scope *scope);
/* Returns whether an object with a key of the filter has the labels. */
bool bucket_scope_has(const struct bucket_scope *of, const struct root *object);
void bucket_scope_clear(struct bucket_scope *of);

/* The URL of a list or a watch, in the very form of client-go's reflector: keys sorted, empty values
 * left out. Owner: everything borrowed. May be called anywhere. */
#pragma once
#include "base/buf.h"
#include "kube/api/list_watch.h"
#include "kube/kinds/resource.h"

void list_watch_path(const struct resource *resource, const struct lw_scope *scope,
                     const struct lw_options *options, struct buf *out);

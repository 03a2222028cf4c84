/* Caches of an engine that an audit may evaluate rules on: those that have all objects of a kind, as the
 * server has them. Owner: claims are the engine's. In a child that was forked from it. */
#pragma once
#include "base/buf.h"
#include "informer/shared/shared_factory.h"
#include "kube/kinds/resource.h"

/* `ns` "": of all namespaces. NULL when there is none; `why` (optional) is appended "the engine has no cache
 * of it". */
struct informer_claim *audit_cache_of(const struct shared_factory *factory, const struct resource *resource,
                                      const char *ns, struct buf *why);
/* Returns a claim whose cache may be incomplete, as a script that does not load rules uses it; NULL: none. */
struct informer_claim *audit_cache_like(const struct shared_factory *factory,
                                        const struct resource *resource);

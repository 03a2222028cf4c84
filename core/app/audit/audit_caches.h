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
/* One that is perhaps not whole: what a script has that does not load as a rule's. NULL: there is none. */
struct informer_claim *audit_cache_like(const struct shared_factory *factory,
                                        const struct resource *resource);

/* What the rules of an audit of a cluster look at: each kind of each namespace once, in the order of the
 * rules. Owner: whoever has the struct, zeroed at first, until audit_targets_clear; caches are borrowed, and
 * names of namespaces are those of the scripts. On the main thread. */
#pragma once
#include "app/audit/audit_scripts.h"
#include "informer/store/indexer.h"
#include "kube/kinds/resource.h"

struct audit_target {
    struct resource resource;
    const char *namespace_; /* "": all, or the kind has none */
    struct indexer *cache;  /* NULL: none has it */
};

struct audit_targets {
    struct audit_target *items;
    size_t count;
};

/* Of rules that are asked. A kind that the catalogue does not have is none. */
void audit_targets_find(struct audit_targets *targets, const struct audit_scripts *scripts,
                        const struct catalogue *catalogue);
void audit_targets_clear(struct audit_targets *targets);

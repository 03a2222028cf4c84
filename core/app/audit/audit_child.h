/* A child that was forked from an engine to ask rules about a part of its caches: it sees them as they were
 * in that moment, writes what it finds into a pipe, and ends. Nothing of the engine is used but its memory,
 * and nothing of that is written that others could see. Owner: the child; everything is borrowed. In the
 * child, before anything else. */
#pragma once
#include <stddef.h>
#include <sys/types.h>

#include "audit/rules/auditor.h"
#include "informer/shared/shared_factory.h"

struct script_host;

struct audit_child_options {
    const struct shared_factory *factory;
    const struct catalogue *catalogue;
    const struct script_host *host; /* of the engine's scripts */
    struct script *const *scripts;  /* the engine's: asked when the order has none */
    size_t script_count;
    int order, result;  /* descriptors: audit_order.h, audit/found/stream.h */
    size_t part, parts; /* which part of the objects */
    pid_t parent;
};

_Noreturn void audit_child_run(const struct audit_child_options *options);

/* --- audit_part.c */

/* Asks the rules, and writes to `result`. False when they could not be loaded, which it has told there. */
bool audit_part(const struct audit_child_options *options, int order, int result);

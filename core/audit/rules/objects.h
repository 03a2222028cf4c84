/* The objects of an input, all in memory, for audits whose rules look at more than one object: they are the
 * server that caches are filled from. Owner: the command; objects are held by references. It must outlive
 * the factory. On one thread, which is that of both loops. */
#pragma once
#include <stddef.h>

#include "audit/rules/auditor.h"
#include "kube/api/list_watch.h"
#include "net/loop.h"

struct audit_objects;

struct audit_objects *audit_objects_new(struct loop *loop);
void audit_objects_free(struct audit_objects *objects);
/* A reference of its own; the file's name is copied. */
void audit_objects_add(struct audit_objects *objects, const struct audit_subject *subject);
size_t audit_objects_count(const struct audit_objects *objects);
struct audit_subject audit_objects_at(const struct audit_objects *objects, size_t i);

/* A `new_source` of a factory whose `ctx` is struct audit_objects: lists have the objects of the resource's
 * group and kind in the scope's namespace; nothing changes afterwards. */
struct list_watch *audit_objects_source(void *objects, const struct resource *resource,
                                        const struct lw_scope *scope);

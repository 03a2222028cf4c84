/* Manifests of objects that are there already. A rule gives a manifest of what it misses; where such an
 * object stands it is somebody's, and may be quite another one: it is told, and not overwritten. Owner:
 * whoever runs the audit, on the thread of its caches, before these end. */
#pragma once
#include "audit/fix/fixes.h"

struct shared_factory;

/* Marks those that the caches have, and those that another fix is a patch of. What no rule uses is not in a
 * cache of an audit of files, and passes by unseen. */
void fixes_mark_there(struct audit_fixes *fixes, const struct shared_factory *factory);

/* Tests and names of the fixes that rules return, for fixer.c. Owner: values are borrowed, buffers the
 * caller's. On the pool's thread. */
#pragma once
#include <stdbool.h>

#include "audit/fix/fixes.h"
#include "object/pack/pack.h"
#include "object/value/value.h"

/* JSON as an object, which may lack a name and even a type; `text` is changed behind its end. */
bool fix_pack(struct packer *packer, struct buf *text, struct root **out, struct err *err);
/* Returns whether the fix is a manifest: it has a kind of its own. */
bool fix_is_manifest(struct value fix);
/* The same apiVersion, kind, namespace and name. */
bool fix_is_same_object(struct value a, struct value b);
/* Fills in what the object is called, and what its kind is. */
void fix_name(struct audit_fix *fix, struct value object, const struct catalogue *catalogue);
/* The same for a manifest, and its text. What has namespaces and does not say its own is in that of the
 * object for which it is made. */
void fix_manifest(struct packer *packer, struct audit_fix *fix, struct value manifest, struct root *object,
                  const struct catalogue *catalogue);
/* Appends what is sent: the fix, and that the object must still be of that version. */
bool fix_lock(struct packer *packer, const struct audit_fix *fix, struct str version, struct buf *out,
              struct err *err);

/* --- Manifests of objects that already exist. A rule returns a manifest of an object that it misses; an
 * object that stands there belongs to another owner, and may be quite different: it is reported, and not
 * overwritten. Owner: the runner of the audit, on the thread of its caches, before these end. */

struct shared_factory;

/* Marks those that the caches have, and those that another fix is a patch of. What no rule uses is not in a
 * cache of an audit of files, and passes by unseen. */
void fixes_mark_there(struct audit_fixes *fixes, const struct shared_factory *factory);

/* Keys of a bucket: "objects.GROUP.VERSION.PLURAL.NAMESPACE.NAME", "_" for no group and no namespace, and
 * three others. Characters that subjects of NATS give a meaning, or do not allow, are "=" and their two
 * hexadecimal digits. Owner: the caller's buffer. Any thread. */
#pragma once
#include "base/buf.h"
#include "kube/kinds/resource.h"

#define BUCKET_KEY_PUBLISHER "publisher" /* who writes, since when, what: see bucket_record.h */
#define BUCKET_KEY_KINDS     "kinds"     /* all kinds of the cluster, as an APIGroupDiscoveryList */
/* Its version is the sequence up to which marks of deleted keys are, or will soon be, forgotten. */
#define BUCKET_KEY_FORGOTTEN "forgotten"

void bucket_key(const struct resource *resource, struct str ns, struct str name, struct buf *out);
/* Of all objects of a kind, in one namespace if `ns` is not empty, of one name if `name` is not. */
void bucket_filter(const struct resource *resource, struct str ns, struct str name, struct buf *out);
/* The namespace ("" for none) and the name of an object's key; false for another one. Replaces what the
 * buffers have. */
bool bucket_key_read(struct str key, struct buf *ns, struct buf *name);

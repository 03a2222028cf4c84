/* Names an object from the start of its JSON text, if it is too large to be parsed. Owner: everything is
 * borrowed. May be called anywhere. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

struct object_head {
    struct str event_type; /* of a watch event: "ADDED" */
    struct str kind, ns, name, uid;
    bool has_key; /* name and namespace are all there is: the end of metadata, or both, was seen */
    bool whole;   /* the text is complete: a name that was not found does not exist */
};

/* Finds the identity of an object in `head`, with escapes. `event`: the object is the field `object` of a
 * watch event. Borrows from `head`. */
void object_head_find(struct str head, bool event, struct object_head *out);
/* Finds the namespace alone, and reads no further. Returns false if the object has none, or none that can be
 * taken as it stands there. */
bool object_head_namespace(struct str text, bool event, struct str *ns);
/* Likewise the uid. */
bool object_head_uid(struct str text, bool event, struct str *uid);
/* Appends "Pod shop/web-1", as far as kind, namespace and name stand in `head`, or "an object". */
void object_head_name(const struct object_head *head, struct buf *out);

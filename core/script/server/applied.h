/* Recognises applies that change nothing: the response has the version of the script's last apply of the
 * object, or the version in one of its caches. Owner: the wait that embeds the struct; the script owns the
 * known versions. On the engine thread; nothing here raises. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kube/api/object_request.h"
#include "script/vm/state.h"

struct applied {
    uint64_t last, cached;               /* hashes of versions; 0: not known */
    const struct cluster_parts *cluster; /* of the object; borrowed */
};

/* Notes the known versions of the object. Call before the request is sent. */
void applied_begin(struct applied *applied, struct script *script, const struct cluster_parts *cluster,
                   const struct object_request *request);
/* Notes the object of the response, which may be NULL. Returns whether the request was an apply that changed
 * nothing. */
bool applied_same(const struct applied *applied, struct script *script, const struct object_request *request,
                  const struct root *object);

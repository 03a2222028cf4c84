/* One object of a cluster, by a list of its name alone: packed like the objects of other lists. Owner:
 * stateless. On the main thread, outside of any callback: runs its loop. */
#pragma once
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "informer/reflect/refusals.h"
#include "kube/api/client.h"
#include "kube/kinds/resource.h"
#include "net/loop.h"
#include "object/pack/pack.h"

struct list_single {
    struct loop *loop;
    struct kube_client *client;
    struct packer *packer;
    struct object_place place;
    const struct projection *projection; /* NULL: everything */
    const char *selector;                /* selector that its labels must match; "": any */
    int64_t wait_ms;
    struct refusals *refusals; /* receives it if it is refused */
};

/* Returns a reference. NULL with ERR_NONE: the object does not exist, its labels do not match, or it is
 * refused. */
struct root *list_alone(const struct list_single *alone, struct err *err);

/* One object of a cluster, by a list of its name alone: packed like those of other lists. Owner: nothing is
 * kept. On the main thread, outside of any callback: its loop is turned here. */
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
    const struct projection *projection; /* NULL: whole */
    const char *selector;                /* that its labels match; "": whatever they are */
    int64_t wait_ms;
    struct refusals *refusals; /* gets it when it is refused */
};

/* A reference. NULL with ERR_NONE: there is no such object, its labels do not match, or it is refused. */
struct root *list_alone(const struct list_single *alone, struct err *err);

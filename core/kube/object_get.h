/* One object, read from the server and packed.
 * Owner: the I/O thread. `done` comes on that thread, once, never from inside the start. */
#pragma once
#include "kube/client.h"
#include "kube/resource.h"
#include "object/pool.h"

struct object_get;

/* `resource`, `ns` ("" for a kind without namespaces) and `name` are copied. `done` takes a reference to the
 * object, NULL with an error. A server that is busy is asked again when it says so (H-3). */
struct object_get *object_get_start(struct kube_client *client, const struct resource *resource,
                                    struct str ns, struct str name,
                                    void (*done)(void *ctx, struct root *object, const struct err *err),
                                    void *ctx);
/* No callback comes after it. */
void object_get_cancel(struct object_get *get);

/* Events that a spec tells a handler of, as its informer would. Owner: the spec. */
#pragma once
#include "core/script/support/cluster.h"
#include "script/handlers/handler.h"

/* A pod of the namespace "shop"; a reference for the caller. */
struct root *feed_pod(struct cluster *c, const char *name, int version, int uid);
/* '+' (add), '=' (update from `old_object`), '-' (delete of what the cache had as `old_object`). Borrows the
 * objects. */
void feed(struct script_handler *handler, char what, struct root *old_object, struct root *object,
          const struct event_info *info);
/* The handler that the script has made first. */
struct script_handler *feed_handler(struct script *script);

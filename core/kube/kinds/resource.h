/* The server's resources: what discovery says, names as kubectl takes them, and URL paths. Nothing here knows
 * any kind by its name: all are as in client-go's dynamic informers (F-8). Owner: `struct resource` values
 * are plain copies. A catalogue belongs to the I/O thread; a finished one is immutable and may be read
 * anywhere while a reference is held. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct kube_client;

/* SCOPE_ANY: nobody tells whether the kind is namespaced, so whoever names an object decides. */
enum scope { SCOPE_CLUSTER, SCOPE_NAMESPACED, SCOPE_ANY };

struct resource {
    char *group;           /* "" for the core group */
    char *version;         /* "v1" */
    char *plural;          /* "deployments" */
    char *kind;            /* "Deployment" */
    enum scope namespaced; /* true for all but SCOPE_CLUSTER */
};

/* An object, or a collection when it has no name. NULL and "" are none. Owner: whoever says so where one is
 * kept. */
struct object_place {
    const struct resource *resource;
    const char *namespace_, *name, *subresource; /* "shop", "web", "status" */
};

void resource_copy(struct resource *out, const struct resource *from);
void resource_clear(struct resource *resource);
/* The same in the same version. */
bool resource_equal(const struct resource *a, const struct resource *b);
/* "pods" or "deployments.apps": as messages name it (F-12). */
void resource_name(const struct resource *resource, struct buf *out);
/* "v1" or "apps/v1". */
void resource_api_version(const struct resource *resource, struct buf *out);
/* "apps/v1" into "apps" and "v1", "v1" into "" and "v1"; both borrowed. */
void api_version_cut(struct str api_version, struct str *group, struct str *version);
/* "/api/v1/namespaces/shop/pods"; `ns` empty for all namespaces or cluster scope (H-12). */
void resource_path(const struct resource *resource, struct str ns, struct buf *out);
/* "/api/v1/namespaces/shop/pods/web-1/status"; `subresource` may be empty. ERR_INVALID for names that may not
 * stand in a path. */
bool resource_object_path(const struct resource *resource, struct str ns, struct str name,
                          struct str subresource, struct buf *out, struct err *err);

struct catalogue;

/* `name` as kubectl takes it: pods, po, Pod, pod, deployments.apps, deployments.v1.apps, apps/v1/Deployment,
 * v1/Pod, widgets.example.com. Returns false: ERR_NOT_FOUND (unknown), or ERR_INVALID for an ambiguous bare
 * name, with the candidates in the text. */
bool catalogue_resolve(const struct catalogue *catalogue, struct str name, struct resource *out,
                       struct err *err);
/* Returns whether the catalogue has the group of `name`, in the version of `name`, if it has one, and no such
 * kind there in any version. */
bool catalogue_group_lacks(const struct catalogue *catalogue, struct str name);
/* The kind that "apps/v1/deployments", "apps/v1/deployment" and "apps/v1/deploy" mean, whatever the version,
 * as an object of the group has to name it; the catalogue's. NULL: it is named so, or nothing is meant. */
const char *catalogue_kind_meant(const struct catalogue *catalogue, struct str type);
/* The resource at `index` of those it has, each version its own; NULL behind the last. */
const struct resource *catalogue_at(const struct catalogue *catalogue, size_t index);
/* "group/version: cause" of each group that did not answer; "" when all did. A name that is missing may live
 * there. */
const char *catalogue_failures(const struct catalogue *catalogue);
/* Returns whether discovery goes on, because groups have not responded yet, which the failures name. */
bool catalogue_is_partial(const struct catalogue *catalogue);
/* The plural of what was meant by a name that is unknown, "deployments.apps"; false when none is near. */
bool catalogue_nearest(const struct catalogue *catalogue, struct str name, struct buf *out);
/* Adds to an ERR_NOT_FOUND of catalogue_resolve which name was meant, and which groups did not answer. */
void catalogue_explain(const struct catalogue *catalogue, struct str name, struct err *err);
/* A new reference, on the thread that got the catalogue from discovery. */
struct catalogue *catalogue_ref(const struct catalogue *catalogue);
/* Gives a reference back. */
void catalogue_free(struct catalogue *catalogue);

/* True when `name` says its group ("widgets.example.com", "example.com/v1/Widget"): such a kind may come
 * later. */
bool resource_name_has_group(struct str name);

/* Asks the server, aggregated form first, the legacy documents else. `done` takes the catalogue; NULL with an
 * error. */
struct discovery;
struct discovery *discovery_start(struct kube_client *client,
                                  void (*done)(void *ctx, struct catalogue *catalogue, const struct err *err),
                                  void *ctx);
/* Calls `partial` with what is known while groups keep discovery waiting, each time that more is. It returns
 * whether it took the catalogue; else the next one comes later. Call right after discovery_start. */
void discovery_on_partial(struct discovery *discovery,
                          bool (*partial)(void *ctx, struct catalogue *catalogue));
void discovery_cancel(struct discovery *discovery);

/* --- Names of namespaces: DNS-1123 labels, as the server demands. Anything else would be requested as a name
 * that nothing has, or as another path. Owner: nobody. May be called anywhere, from any thread. */

/* False with an error that quotes the text, and says of a pattern where patterns belong. */
bool namespace_name_check(struct str name, struct err *err);

/* --- Order of resource versions (RV-1): decimal numbers of any length, compared as text. Valid only within
 * one resource of one server (RV-2). Owner: nobody. May be called anywhere, from any thread. */

/* Decimal, positive, without leading zeros: not "", not "0". False with an error that quotes the text. */
bool resource_version_check(struct str version, struct err *err);
/* Negative, 0 or positive in `*order`; false when one of them is no resource version. */
bool resource_version_compare(struct str a, struct str b, int *order, struct err *err);

/* --- Pieces of URLs: escaping, and which names may stand in a path (H-12).
 * Owner: everything borrowed. May be called anywhere. */

/* Appends `text` with all but letters, digits and -._~ as %XX. */
void url_escape(struct str text, struct buf *out);
/* A name may not be empty, "." or "..", nor hold '/' or '%'. */
bool url_name_check(struct str name, struct err *err);

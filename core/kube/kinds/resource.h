/* The server's resources: results of discovery, names as kubectl takes them, and URL paths. No kind is
 * special: all are as in client-go's dynamic informers (F-8). Owner: `struct resource` values are plain
 * copies. A catalogue belongs to the I/O thread; a finished one is immutable and may be read anywhere while a
 * reference is held. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct kube_client;

/* SCOPE_ANY: unknown whether the kind is namespaced, so the caller that names an object decides. */
enum scope { SCOPE_CLUSTER, SCOPE_NAMESPACED, SCOPE_ANY };

struct resource {
    char *group;           /* "" for the core group */
    char *version;         /* "v1" */
    char *plural;          /* "deployments" */
    char *kind;            /* "Deployment" */
    enum scope namespaced; /* true for all but SCOPE_CLUSTER */
};

/* An object, or a collection if it has no name. NULL and "" are none. Owner: as stated where one is stored.
 */
struct object_place {
    const struct resource *resource;
    const char *namespace_, *name, *subresource; /* "shop", "web", "status" */
};

void resource_copy(struct resource *out, const struct resource *from);
void resource_clear(struct resource *resource);
/* Returns whether both are the same resource in the same version. */
bool resource_equal(const struct resource *a, const struct resource *b);
/* Appends "pods" or "deployments.apps", as messages name it (F-12). */
void resource_name(const struct resource *resource, struct buf *out);
/* Appends "v1" or "apps/v1". */
void resource_api_version(const struct resource *resource, struct buf *out);
/* Returns whether `group` is "example.com" or below it, as "apps.example.com" is. */
bool group_is_within(struct str group, const char *above);
/* Splits "apps/v1" into "apps" and "v1", "v1" into "" and "v1"; both borrowed. */
void api_version_cut(struct str api_version, struct str *group, struct str *version);
/* Appends "/api/v1/namespaces/shop/pods"; `ns` empty for all namespaces or cluster scope (H-12). */
void resource_path(const struct resource *resource, struct str ns, struct buf *out);
/* Appends "/api/v1/namespaces/shop/pods/web-1/status"; `subresource` may be empty. Sets ERR_INVALID for names
 * that may not be part of a path. */
bool resource_object_path(const struct resource *resource, struct str ns, struct str name,
                          struct str subresource, struct buf *out, struct err *err);

/* Verbs of a kind, as discovery lists them: bit i stands for kind_verbs[i]. */
enum { KIND_VERBS = 8 };
extern const char *const kind_verbs[KIND_VERBS];

struct catalogue;

/* Resolves a name as kubectl takes it: pods, po, Pod, pod, deployments.apps, deployments.v1.apps,
 * apps/v1/Deployment, v1/Pod, widgets.example.com. Returns false: ERR_NOT_FOUND (unknown), or ERR_INVALID for
 * an ambiguous bare name, with the candidates in the text. */
bool catalogue_resolve(const struct catalogue *catalogue, struct str name, struct resource *out,
                       struct err *err);
/* Returns whether the catalogue has the group of `name`, in the version of `name`, if it has one, and no such
 * kind there in any version. */
bool catalogue_group_lacks(const struct catalogue *catalogue, struct str name);
/* Returns the kind that "apps/v1/deployments", "apps/v1/deployment" and "apps/v1/deploy" mean, in any
 * version, as an object of the group has to name it; borrowed from the catalogue. NULL: the name is correct,
 * or means no kind. */
const char *catalogue_kind_meant(const struct catalogue *catalogue, struct str type);
/* Returns the resource at `index`; each version is one of its own. NULL after the last. */
const struct resource *catalogue_at(const struct catalogue *catalogue, size_t index);
/* Returns the verbs of the resource at `index`; 0 if no discovery told them. */
unsigned catalogue_verbs_at(const struct catalogue *catalogue, size_t index);
/* Returns "group/version: cause" of each group that did not respond, which may have a kind that is missing;
 * "" if all did. */
const char *catalogue_failures(const struct catalogue *catalogue);
/* Returns whether discovery goes on, because groups have not responded yet, which the failures name. */
bool catalogue_is_partial(const struct catalogue *catalogue);
/* Returns whether the kind of an unknown name may be in a group that did not respond: in its own one, or,
 * without one, in any of which discovery still waits for. */
bool catalogue_may_have(const struct catalogue *catalogue, struct str name);
/* Appends the plural of the kind that an unknown name most likely means, "deployments.apps"; returns false if
 * none is near. */
bool catalogue_nearest(const struct catalogue *catalogue, struct str name, struct buf *out);
/* Adds to an ERR_NOT_FOUND of catalogue_resolve the nearest name, and the groups that did not respond. */
void catalogue_explain(const struct catalogue *catalogue, struct str name, struct err *err);
/* Returns a new reference. On the thread that got the catalogue from discovery. */
struct catalogue *catalogue_ref(const struct catalogue *catalogue);
/* Releases a reference. */
void catalogue_free(struct catalogue *catalogue);

/* Returns whether `name` has its group ("widgets.example.com", "example.com/v1/Widget"): such a kind may come
 * later. */
bool resource_name_has_group(struct str name);

/* Sends requests for discovery: aggregated form first, else the legacy documents. `done` takes the catalogue;
 * NULL with an error. */
struct discovery;
struct discovery *discovery_start(struct kube_client *client,
                                  void (*done)(void *ctx, struct catalogue *catalogue, const struct err *err),
                                  void *ctx);
/* Calls `partial` with the groups known so far while others delay discovery, each time that there are more.
 * It returns whether it took the catalogue; otherwise it is called again later. Call right after
 * discovery_start. */
void discovery_on_partial(struct discovery *discovery,
                          bool (*partial)(void *ctx, struct catalogue *catalogue));
void discovery_cancel(struct discovery *discovery);

/* --- Names of namespaces: DNS-1123 labels, as the server requires. Other texts would be names of nothing, or
 * parts of other paths. May be called anywhere, from any thread. */

/* Returns false with an error that quotes the text, and mentions patterns if it is one. */
bool namespace_name_check(struct str name, struct err *err);

/* --- Order of resource versions (RV-1): decimal numbers of any length, compared as text. Valid only within
 * one resource of one server (RV-2). May be called anywhere, from any thread. */

/* Returns whether the version is decimal, positive and without leading zeros: not "", not "0". The error
 * quotes the text. */
bool resource_version_check(struct str version, struct err *err);
/* Sets `*order` to a negative number, 0 or a positive one; returns false if one of them is not a resource
 * version. */
bool resource_version_compare(struct str a, struct str b, int *order, struct err *err);
/* Returns whether `version` is newer than the other one; false if they cannot be compared. */
bool version_is_newer(struct str version, struct str than);
/* Likewise; true if they cannot be compared. */
bool version_may_be_newer(struct str version, struct str than);

/* --- Parts of URLs: escaping, and checks of names (H-12). Owner: everything borrowed. May be called
 * anywhere. */

/* Appends `text`, with all but letters, digits and -._~ as %XX. */
void url_escape(struct str text, struct buf *out);
/* Returns false if a name is empty, "." or "..", or contains '/' or '%'. */
bool url_name_check(struct str name, struct err *err);

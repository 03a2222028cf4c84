/* Permissions of a client, which the server reviews (SelfSubjectAccessReview): one request for each, some at
 * once. Owner: the I/O thread. `done` comes on that thread, once, never from inside the start. */
#pragma once
#include "kube/api/client.h"

/* One verb on one resource or path, as RBAC has them. */
struct access_check {
    const char *ns;       /* "": in all namespaces, or a kind that has none */
    const char *group;    /* "*": all */
    const char *resource; /* "pods", "pods/status"; "*": all */
    const char *name;     /* of one object, as rules with resourceNames may allow; "": any */
    const char *path;     /* of no resource, instead of these; "" for none */
    const char *verb;
    bool allowed; /* the response */
};

struct access_review;

/* Starts the reviews. The checks and their strings are borrowed until `done`, which receives the first error,
 * if any. */
struct access_review *access_review_start(struct kube_client *client, struct access_check *checks,
                                          size_t count, void (*done)(void *ctx, const struct err *err),
                                          void *ctx);
/* Cancels the reviews; no callback follows. */
void access_review_cancel(struct access_review *review);

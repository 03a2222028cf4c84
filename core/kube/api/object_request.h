/* Description of a request about one object, from its caller to the wire: a new property of requests is a
 * field here, its part in object_request.c, and the caller that fills it in.
 * Owner: the caller, of a request and all that it points to; a copy owns its own. May be used on any thread.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fence.h"
#include "kube/kinds/resource.h"

enum object_verb {
    OBJECT_GET,
    OBJECT_CREATE,
    OBJECT_UPDATE,
    OBJECT_PATCH,
    OBJECT_APPLY,
    OBJECT_DELETE,
    OBJECT_TABLE, /* a list as a Table: of the object, or, without a name, of all in the place */
    OBJECT_TEXT,  /* GET of a path, whose response is a text */
};

/* Texts may be NULL or "" for none. */
struct object_request {
    enum object_verb verb;
    struct object_place
        place;              /* a create without a subresource goes to the collection: its body has the name */
    const char *path;       /* of a text, instead of the place: with its query, escaped */
    size_t limit;           /* of a text: bytes */
    struct str body;        /* sent when `p` is not NULL */
    const char *patch_type; /* of a patch: the type of its body */
    const char *manager;    /* of fields */
    const char *selector, *continue_; /* of a table: labels of its objects; token of its next page */
    bool force, dry_run;              /* a delete with a body says there what it wants, with all of this */
    int64_t timeout_ms;               /* for the whole; 0: --request-timeout */
    bool urgent;                      /* --kube-api-qps does not hold it back */
    bool once;                        /* see kube_call.h, as the next two */
    bool own_connection;
    struct fence *fence;
};

/* A deep copy with a reference to the fence. */
struct object_request *object_request_copy(const struct object_request *request);
/* Frees a copy. NULL is allowed. */
void object_request_free(struct object_request *copy);
/* "PATCH" */
const char *object_request_method(const struct object_request *request);
/* Media type of the response; NULL: JSON. */
const char *object_request_accept(const struct object_request *request);
/* The type of the body; NULL when there is none. */
const char *object_request_type(const struct object_request *request);
/* Appends "fieldManager=kubelua&dryRun=All". */
void object_request_query(const struct object_request *request, struct buf *out);
/* Appends "/api/v1/namespaces/shop/pods/web/status?dryRun=All". False for a name that may not stand in a path
 * (H-12). */
bool object_request_path(const struct object_request *request, struct buf *out, struct err *err);

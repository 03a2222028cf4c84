/* Requests of fuzz targets to a simulator in the process, with bodies of any kind, and mutations of such
 * bodies that stay JSON. An input is a JSON list of objects. Owner: results are new references. One thread.
 */
#pragma once
#include "base/buf.h"
#include "sim/api/inside.h"
#include "sim/text/tree.h"

struct fuzz_reply {
    int code;
    json_t *body; /* NULL: no JSON */
};

/* Returns the input as a list, with a cluster of its own; NULL if it is none. */
json_t *fuzz_begin(const uint8_t *data, size_t size);
/* Ends the cluster, and takes the list; NULL is allowed. */
void fuzz_end(json_t *list);
/* Returns the path of the body's object, or of its collection, in the namespace "default"; NULL if its kind
 * is neither one of Kubernetes nor defined by a CustomResourceDefinition of the list. */
char *fuzz_path(const json_t *list, const json_t *body, bool collection);
/* Returns whether the kind is none of Kubernetes' own. */
bool fuzz_is_custom(const json_t *body);
/* Sends the body, which may be NULL. A failure must be a Status that names the field for what is invalid, and
 * no failure of the server. */
struct fuzz_reply fuzz_send(const char *method, const char *path, const char *query, const json_t *body);
/* Shows the reply and aborts if it is not good. */
void fuzz_check(bool good, const struct fuzz_reply *reply);
void fuzz_reply_clear(struct fuzz_reply *reply);

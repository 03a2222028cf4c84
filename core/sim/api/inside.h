/* Simulator without HTTP, for a caller in the same process: requests and responses as strings, on the clock
 * of a loop that is moved by hand. Faults are rules of its own (app/inside/inside_faults.h). Owner: its
 * creator; everything on the loop's thread. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "net/loop.h"

struct sim_inside;
struct sim_stream;

/* Creates one, with the namespaces that every cluster has. */
struct sim_inside *sim_inside_new(struct loop *loop);
/* Streams must be closed. */
void sim_inside_free(struct sim_inside *inside);

struct sim_inside_request {
    const char *method, *target; /* "/api/v1/pods?watch=1", escaped as in HTTP */
    const char *accept, *content_type;
    const char *agent; /* names the manager of what has no fieldManager; NULL: "kubelua" */
    struct str body;
};

/* Subject of a request. Strings are valid until sim_inside_about_clear. */
struct sim_inside_about {
    const char *verb;                          /* "get", "list", "watch", "create", ...; "" of no resource */
    const char *kind, *resource, *api_version; /* "Deployment", "deployments.apps", "apps/v1"; NULL: none */
    char *namespace_, *name, *subresource;     /* NULL: none */
    char *qualified;                           /* what `resource` points at */
    bool dry_run;
};

struct sim_inside_response {
    int code;
    int retry_after_s; /* 0 without */
    const char *content_type;
    struct buf body;           /* or */
    struct sim_stream *stream; /* a watch, to be read by sim_inside_read */
};

void sim_inside_about(struct sim_inside *inside, const struct sim_inside_request *request,
                      struct sim_inside_about *about);
void sim_inside_about_clear(struct sim_inside_about *about);
/* Fills an empty response. */
void sim_inside_serve(struct sim_inside *inside, const struct sim_inside_request *request,
                      struct sim_inside_response *response);
/* Responds with an error instead, as the server would. `reason` and `message` may be NULL. */
void sim_inside_refuse(int code, const char *reason, const char *message, int retry_after_s,
                       struct sim_inside_response *response);
void sim_inside_response_clear(struct sim_inside_response *response);

/* Appends the present events of a watch; returns false if it ended. */
bool sim_inside_read(struct sim_stream *stream, struct buf *out);
void sim_inside_close(struct sim_stream *stream);

/* Has the cluster serve a kind that it may not have. */
void sim_inside_add_kind(struct sim_inside *inside, const char *group, const char *version,
                         const char *plural, const char *name, bool namespaced);
/* Stores the objects of a JSON text, as a file for `kubelua sim --load` has them: one with a uid as it is, in
 * the place of what has its name. */
bool sim_inside_put(struct sim_inside *inside, struct str json, struct err *err);
/* Removes the object of a path, regardless of finalizers and grace period; returns false if it does not
 * exist. */
bool sim_inside_remove(struct sim_inside *inside, const char *path);
/* Ends open watches of a resource ("pods", "deployments.apps"; "" all); with `expire` every version so far is
 * also too old, so that clients list again. ERR_NOT_FOUND. */
bool sim_inside_end_watches(struct sim_inside *inside, const char *resource, bool expire, struct err *err);

/* Internals shared by requests that write: write_request.c, patch_request.c, body.c, delete_request.c and
 * those of subresources, which alone include it. Owner and thread as in write_request.h. */
#pragma once
#include <string.h>

#include "sim/api/write_request.h"
#include "sim/store/write.h"

struct writing {
    struct sim_api *api;
    const struct sim_request *request;
    const struct sim_target *target;
    struct sim_reply *reply;
    struct sim_writer by;
    const struct sim_kind *takes; /* kind of the body; NULL: that of the target */
    bool strict, ignores_unknown; /* how unknown and duplicate fields are judged; neither: by a warning */
};

/* --- write_request.c */

/* Responds to all writes except most deletes. Clears `written`. */
void sim_write_respond(struct writing *writing, struct sim_written *written);

/* Is it a write of the object's Scale? */
static inline bool sim_write_is_scale(const struct writing *writing)
{
    return writing->target->subresource && strcmp(writing->target->subresource, "scale") == 0;
}
/* Updates the object, and responds. Where an update may create it, the body is built from NULL. */
void sim_write_changed(struct writing *writing, const char *key, sim_body_fn *body, void *ctx,
                       bool may_create);

/* --- patch_request.c */

/* Patches or applies, and responds. */
/* Returns false and responds if it is no type of a patch. */
bool sim_patch_has_type(const struct writing *w);
void sim_patch_one(struct writing *writing, const char *key);
/* Returns why the options of the request are refused; NULL if they are not. A new Status. */
json_t *sim_write_options_of(const struct sim_request *request, const struct sim_kind *kind);

/* --- delete_request.c: each responds */

void sim_delete_one(struct writing *writing, const char *key);
void sim_delete_collection(struct writing *writing);

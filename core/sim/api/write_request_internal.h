/* Internals shared by requests that write: write_request.c, body.c and delete_request.c, which alone include
 * it. Owner and thread as in write_request.h. */
#pragma once
#include "sim/api/write_request.h"
#include "sim/store/write.h"

struct writing {
    struct sim_api *api;
    const struct sim_request *request;
    const struct sim_target *target;
    struct sim_reply *reply;
    struct sim_writer by;
    bool strict, ignores_unknown; /* how unknown and duplicate fields are judged; neither: by a warning */
};

/* --- write_request.c */

/* Returns the body; NULL and a response if it is not JSON; `what` names the expected content. A new
 * reference. */
json_t *sim_write_body(const struct writing *writing, const char *what);
/* Responds to all writes except most deletes. Clears `written`. */
void sim_write_respond(struct writing *writing, struct sim_written *written);

/* --- delete_request.c: each responds */

void sim_delete_one(struct writing *writing, const char *key);
void sim_delete_collection(struct writing *writing);

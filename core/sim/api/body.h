/* Bodies of writes and the options that tell how to read them: fieldValidation and dryRun. Owner: new
 * references are returned. Called on the connection's thread, without the store's lock. */
#pragma once
#include "sim/api/write_request_internal.h"

/* Reads the options of the query, which were checked (write_options.h). */
void sim_body_options(struct writing *writing);
/* Parses a body that is JSON and decodes it as the kind's; NULL and a response if it is wrong. */
json_t *sim_body_read(const struct writing *writing);

/* A patch, and what makes the patched object of it. */
struct sim_patch_body {
    const struct writing *writing;
    sim_body_fn *body;
    void *ctx;
    bool strategic, applied;
};

/* A sim_body_fn over a struct sim_patch_body: the patched object, decoded as the kind's. */
json_t *sim_body_patched(void *ctx, const struct sim_kind *kind, const json_t *old,
                         struct sim_refusal *refusal);

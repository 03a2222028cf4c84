/* Changes of objects: what requests and scenarios have in common. Each works on what it read without the
 * store's lock, and starts over when another write was faster. Owner: results hold a reference on their
 * object; sim_written_clear gives it back. Called without the store's lock. */
#pragma once
#include "base/err.h"
#include "sim/object/object_rules.h"
#include "sim/store/api.h"

struct sim_written {
    struct sim_object *object; /* as it is now, or was when it was removed; NULL with a refusal */
    json_t *refusal;           /* a Status, new reference; NULL when it is done */
    json_t *before;            /* the object before an update; a new reference, or NULL */
    bool created, removed;
};

/* Returns the body of an update, from the present object; NULL with a refusal. A new reference. */
typedef json_t *sim_body_fn(void *ctx, const struct sim_kind *kind, const json_t *old,
                            struct sim_refusal *refusal);

/* Who writes. Without a manager the owners of fields stay as the body has them. */
struct sim_writer {
    const char *manager;
    bool dry_run;
    bool checked; /* by the rules for its kind: a request; what is loaded may be a part of an object */
};

void sim_write_create(struct sim_api *api, const struct sim_served *served, const char *namespace_,
                      const json_t *body, struct sim_writer by, struct sim_written *written);
/* `subresource` NULL: the object itself. */
void sim_write_update(struct sim_api *api, const struct sim_served *served, const char *key,
                      const char *subresource, sim_body_fn *body, void *ctx, struct sim_writer by,
                      struct sim_written *written);
/* Writes an object as requests would: first the object, then its status, if it has one. */
void sim_write_whole(struct sim_api *api, const struct sim_served *served, const char *namespace_,
                     json_t *object, struct sim_written *written);
/* Clears `written`. False with an error when it was refused; that the object is gone may be no error. */
bool sim_write_accepted(struct sim_api *api, struct sim_written *written, bool may_be_gone, struct err *err);
/* `options` is a DeleteOptions, or NULL. */
void sim_write_delete(struct sim_api *api, const struct sim_served *served, const char *key,
                      const json_t *options, bool dry_run, struct sim_written *written);
void sim_written_clear(struct sim_api *api, struct sim_written *written);

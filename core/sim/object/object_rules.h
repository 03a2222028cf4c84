/* Rules of writes, applied to an object before it is stored: names, uid, generation, status, finalizers,
 * graceful deletion. Owner: a new reference each; what is handed in is borrowed and not changed. The store
 * sets resourceVersion itself. May be called anywhere. */
#pragma once
#include "sim/object/kind.h"

struct sim_now {
    int64_t seconds;    /* since the epoch */
    const char *uid;    /* a fresh uid */
    const char *suffix; /* five characters for generateName */
    bool tried;         /* of a dry run, which does not get as far as the storage */
    bool checked; /* by the rules for its kind, as a request is; not what is loaded, which may be a part */
};

/* Refusal: a Status to respond with, owned by the caller; NULL if nothing was refused. */
struct sim_refusal {
    json_t *status;
    bool tried;   /* set by the caller of an update: of a dry run, which names storage in other words */
    bool patched; /* set by the body of an update: it is a patch, whose uid must not change */
    /* Set by the caller, NULL: no. Whether another object of the kind than that of the key has this text in
     * its spec. */
    bool (*is_taken)(void *ctx, const char *key, const char *text);
    void *ctx;
};

/* Takes the status; false. */
static inline bool sim_refuse(struct sim_refusal *refusal, json_t *status)
{
    refusal->status = status;
    return false;
}

/* Returns the object to store, without resourceVersion. `ns` is the path's namespace, NULL for cluster-scoped
 * kinds. */
json_t *sim_prepare_create(const struct sim_kind *kind, const json_t *body, const char *ns,
                           const struct sim_now *now, struct sim_refusal *refusal);

/* Whether the body is of the object that the path names; `ns` is NULL for cluster-scoped kinds. */
bool sim_check_identity(const char *name, const char *ns, const json_t *body, struct sim_refusal *refusal);
/* Refuses a body that is not patched and has another uid than the object. */
bool sim_check_uid(const struct sim_kind *kind, const json_t *old, const json_t *body,
                   struct sim_refusal *refusal);
/* The object to store, with the resourceVersion of `old`, which is the stored one; it is equal to `old`
 * (json_equal) when the write changes nothing, and then nothing is stored. `subresource` is NULL, "status",
 * "finalize" (of namespaces) or "binding" (of pods, the only way to set spec.nodeName). The uid and the
 * resourceVersion in the body, when they are there, must be those of `old`: else 409. */
json_t *sim_prepare_update(const struct sim_kind *kind, const json_t *old, const json_t *body,
                           const char *subresource, struct sim_refusal *refusal);
/* Part of a kind that requests to a subresource leave alone; "" of a subresource is the object itself. */
struct sim_alone {
    const char *kind, *subresource, *name, *below; /* `below` NULL: all of it */
};

/* Returns the next of them, counted from `*at`; NULL at the end. */
const struct sim_alone *sim_next_alone(const struct sim_kind *kind, const char *subresource, size_t *at);
/* Whether an update of that name may create the object: a uid in the body must be that of one that exists.
 * Removes the resourceVersion from the body. */
bool sim_check_created_by_update(const struct sim_kind *kind, json_t *body, const char *name, const char *ns,
                                 struct sim_refusal *refusal);
/* After an update: the object was waiting for its last finalizer. It is removed instead of being stored; the
 * watch event has the state before. */
bool sim_is_finished(const struct sim_kind *kind, const json_t *object);

enum sim_delete_step {
    SIM_DELETE_REMOVE, /* `*updated` is NULL: remove at once; else store it as an update first, then remove it
                        */
    SIM_DELETE_UPDATE, /* store `*updated` (equal to `old`: nothing to do); something else will remove it
                          later */
    SIM_DELETE_REFUSED, /* respond with the refusal */
};

/* `options` is a DeleteOptions, or NULL. The propagation policies Orphan and Foreground set their finalizers,
 * as in a server without controllers: nobody here takes them away. */
enum sim_delete_step sim_prepare_delete(const struct sim_kind *kind, const json_t *old, const json_t *options,
                                        const struct sim_now *now, json_t **updated,
                                        struct sim_refusal *refusal);

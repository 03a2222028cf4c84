/* Paths of the webhooks of all scripts: each belongs to one script, whatever its generation. Owner: the
 * engine, longer than its scripts. On the engine thread, but for the functions that say so. */
#pragma once
#include "base/err.h"
#include "script/work/webhook.h"

struct webhook_paths;

/* Each may be NULL. */
struct webhook_paths_options {
    /* There will be a path where there was none: returns false and sets err if nothing can be served. */
    bool (*begin)(void *ctx, struct err *err);
    /* Paths came or went. */
    void (*changed)(void *ctx);
    void *ctx;
};

struct webhook_paths *webhook_paths_new(const struct webhook_paths_options *options);
/* NULL is allowed. */
void webhook_paths_free(struct webhook_paths *paths);
size_t webhook_paths_count(struct webhook_paths *paths);
/* Returns the webhook of the running generation; NULL: none has the path. */
struct webhook *webhook_paths_find(struct webhook_paths *paths, const char *path);
/* Checks the head of a request. Returns false, and sets the response, if it is refused: 404, 405 or 401. Sets
 * the most bytes that its body may have. On any thread. */
bool webhook_paths_admit(struct webhook_paths *paths, const struct webhook_request *head, size_t *body_max,
                         struct webhook_response *response);
/* Checks the signature of a whole request by the key of its webhook, unless the script returns that for each
 * request. Returns the version of the paths that it holds for; or 0, and sets the response, if the request is
 * refused: 401. Takes time by the body. On any thread. */
uint64_t webhook_paths_verify(struct webhook_paths *paths, const struct webhook_request *request,
                              struct webhook_response *response);
/* Returns whether the request was verified, and by the rules that hold now. */
bool webhook_paths_is_verified(const struct webhook_paths *paths, const struct webhook_request *request);

/* --- for the life of scripts */

/* Returns false and sets err, with the place of the webhook, if another script has a path of this one, or
 * nothing can be served. Changes no path. */
bool webhooks_fit(const struct script *script, struct err *err);
/* The paths of `from` are those of `to` from now on; NULL: it had none. */
void webhooks_handover(struct script *from, struct script *to);
/* The script has no path any more. */
void webhooks_leave(struct script *script);

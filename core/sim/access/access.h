/* Who may do what: authentication of requests, and their authorization, always or by RBAC. Owner:
 * sim_access_free. Any thread, without the store's lock. */
#pragma once
#include "base/embedded_file.h"
#include "base/err.h"
#include "sim/access/rbac.h"
#include "sim/access/user.h"
#include "sim/store/api.h"
#include "sim/store/request.h"

/* Roles and bindings that every cluster has: one text, to be loaded. */
extern const struct embedded_file sim_access_policy[];

struct sim_access_options {
    const char *token_file; /* static tokens (user.h); NULL: none */
    bool rbac;              /* else everybody may do everything */
};

/* Creates it; NULL with an error that names the file. */
struct sim_access *sim_access_new(struct sim_api *api, const struct sim_access_options *options,
                                  struct err *err);
void sim_access_free(struct sim_access *access);
/* Token for the kubeconfig; NULL if clients need none: kubectl asks for a name where a server with TLS has
 * none. */
const char *sim_access_token(const struct sim_access *access, bool has_tls);
struct sim_users *sim_access_users(const struct sim_access *access);

/* Finds out who sends the request, or whom it impersonates: a new reference. NULL after an answer 401 or 403.
 */
json_t *sim_access_identify(struct sim_access *access, const struct sim_request *request,
                            struct sim_reply *reply);
/* Returns whether the user may send the request; else answers 403. */
bool sim_access_admit(struct sim_access *access, const struct sim_request *request, const json_t *user,
                      struct sim_reply *reply);
/* `why` gets a new text, or NULL; attributes as in rbac.h. */
bool sim_access_allows(struct sim_access *access, const json_t *user, const json_t *attributes, char **why);
/* Returns the rules that a user has in a namespace. A new reference. */
json_t *sim_access_rules(struct sim_access *access, const json_t *user, const char *namespace_);

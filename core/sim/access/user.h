/* Users of requests: bearer tokens, and impersonation. A user is an object as in a SelfSubjectReview:
 * username, uid, groups, extra. Owner: sim_users_free; users are new references. Any thread. */
#pragma once
#include <jansson.h>

#include "base/err.h"
#include "sim/store/request.h"

struct sim_users;

/* `token_file` has lines "token,user,uid,group list" as kube-apiserver reads them, NULL: none. With
 * `is_strict`, tokens that nobody has are refused; else they are anybody's. NULL with an error that names the
 * file and the line. */
struct sim_users *sim_users_new(const char *token_file, bool is_strict, struct err *err);
void sim_users_free(struct sim_users *users);
bool sim_users_are_strict(const struct sim_users *users);
/* Token of a user who may do everything; a new one at each start. */
const char *sim_users_admin_token(const struct sim_users *users);

/* Audience of tokens for the server itself. */
#define SIM_AUDIENCE "https://kubernetes.default.svc"

/* Service account that gets a token. */
struct sim_account {
    const char *namespace_, *name, *uid;
    json_t *audiences;
    int64_t until_s;
};

/* Returns a new token, by which the server knows the account until then. */
char *sim_users_issue(struct sim_users *users, const struct sim_account *account);
/* Returns the user of a token; NULL if nobody has it. Tokens of accounts must be for one of the `wanted`
 * audiences (NULL: the server's); `*audiences` gets those, of other tokens NULL. */
json_t *sim_user_of_token(struct sim_users *users, const char *token, const json_t *wanted,
                          json_t **audiences);
/* Returns who sends the request; NULL if nobody has its token. */
json_t *sim_user_of_request(struct sim_users *users, const struct sim_request *request);

/* Returns whom a request with the header Impersonate-User impersonates, and the attributes (rbac.h) of what
 * one needs to be allowed for that: a new array. */
json_t *sim_user_impersonated(const struct sim_request *request);

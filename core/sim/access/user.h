/* Users of requests: bearer tokens, and impersonation. A user is an object as in a SelfSubjectReview:
 * username, uid, groups, extra. Owner: sim_users_free; users are new references. Constant after it was made;
 * any thread. */
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

/* Returns the user of a token; NULL if nobody has it. */
json_t *sim_user_of_token(const struct sim_users *users, const char *token);
/* Returns who sends the request; NULL if nobody has its token. */
json_t *sim_user_of_request(const struct sim_users *users, const struct sim_request *request);

/* Returns whom the request impersonates; NULL if nobody. */
json_t *sim_user_impersonated(const struct sim_request *request);

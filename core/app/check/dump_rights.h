/* Roles and bindings of a dump, asked what a user may do, as the server's RBAC authorizer answers.
 * Owner: the dump; texts are copied. */
#pragma once
#include <stdbool.h>

#include "kube/api/access_review.h"
#include "object/parse/tape.h"

struct dump_rights;

/* "system:serviceaccount:NS:NAME" has the groups of service accounts besides those named. */
struct dump_user {
    const char *name;
    const char *const *groups;
    size_t group_count;
};

struct dump_rights *dump_rights_new(void);
void dump_rights_free(struct dump_rights *rights);
/* Takes in a Role, ClusterRole, RoleBinding or ClusterRoleBinding; anything else is left alone. */
void dump_rights_add(struct dump_rights *rights, const struct tape *tape, size_t at, struct str kind);
/* There is no binding in it, so that nobody could do anything. */
bool dump_rights_empty(const struct dump_rights *rights);
/* Answers each question. */
void dump_rights_check(const struct dump_rights *rights, const struct dump_user *user,
                       struct access_check *questions, size_t count);

/* RBAC rules as they are gathered and as YAML: one ClusterRole, and a Role for each namespace.
 * Owner: the command. Texts are copied. */
#pragma once
#include "app/check/script_rights.h"
#include "base/buf.h"

struct rbac_rules;

struct rbac_rules *rbac_rules_new(void);
void rbac_rules_free(struct rbac_rules *rules);
/* `ns` "": in all namespaces, and for kinds that have none. `resource` may name a subresource, "pods/status";
 * "*" for group and resource stands for all. */
void rbac_rules_add(struct rbac_rules *rules, const char *ns, const char *group, const char *resource,
                    unsigned verbs);
/* The least rules that allow all that was added, as YAML documents whose roles have this name; nothing for no
 * rules. */
void rbac_rules_print(struct rbac_rules *rules, const char *name, struct buf *out);

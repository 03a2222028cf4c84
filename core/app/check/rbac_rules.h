/* RBAC rules as they are gathered and as YAML: one ClusterRole, and a Role for each namespace.
 * Owner: the command. Texts are copied. */
#pragma once
#include <stdbool.h>

#include "app/check/script_rights.h"
#include "base/buf.h"
#include "engine/reload/script_files.h"
#include "informer/leader/leadership.h"
#include "kube/kinds/resource.h"

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

/* --- Permissions that scripts need: they are loaded, never started, and what they registered becomes rules.
 * Owner: the command, on the main thread. */

struct options;

struct rbac_scripts {
    const struct script_files *files;
    const struct options *options; /* limits, trust and modules of scripts */
    const struct catalogue *catalogue;
    bool is_server;                /* the catalogue is a server's, else that of the well-known kinds */
    const char *default_namespace; /* of informers that name none; "" all */
    struct lease_config lease;     /* of elections that name none */
    bool fixes;                    /* with what kubelua audit --apply takes */
    bool elects;                   /* scripts that do not ask for an election take part in that one */
};

/* False when a script does not load or a kind is unknown; each cause was printed to stderr. */
bool rbac_scripts_add_rules(const struct rbac_scripts *plan, struct rbac_rules *rules);

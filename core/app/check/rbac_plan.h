/* Which rights scripts need: they are loaded, never started, and what they registered becomes rules.
 * Owner: the command, on the main thread. */
#pragma once
#include <stdbool.h>

#include "app/check/rbac_rules.h"
#include "engine/reload/script_files.h"
#include "informer/leader/leadership.h"
#include "kube/kinds/resource.h"

struct options;

struct rbac_plan {
    const struct script_files *files;
    const struct options *options; /* limits, trust and modules of scripts */
    const struct catalogue *catalogue;
    bool is_server;                /* the catalogue is a server's, else that of the well-known kinds */
    const char *default_namespace; /* of informers that name none; "" all */
    struct lease_wish lease;       /* of elections that name none */
    bool fixes;                    /* with what kubelua audit --apply takes */
    bool elects;                   /* scripts that do not ask for an election take part in that one */
};

/* False when a script does not load or a kind is unknown; each cause was printed to stderr. */
bool rbac_plan_add(const struct rbac_plan *plan, struct rbac_rules *rules);

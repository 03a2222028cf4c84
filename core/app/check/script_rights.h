/* Permissions that a loaded script needs: list and watch of its informers, what it declares by k8s.reads and
 * k8s.writes, leases of its election, and Events. The catalogue resolves kinds. Owner: the command, on the
 * main thread; nothing is kept. */
#pragma once
#include "kube/kinds/resource.h"
#include "script/generation/script.h"

enum rbac_verb {
    RBAC_GET = 1,
    RBAC_LIST = 2,
    RBAC_WATCH = 4,
    RBAC_CREATE = 8,
    RBAC_UPDATE = 16,
    RBAC_PATCH = 32,
    RBAC_DELETE = 64,
};
enum { RBAC_VERBS = 7 };

/* In the order in which rules name them: "get", "list", ... */
extern const char *const rbac_verb_names[RBAC_VERBS];

/* One resource. `ns` "": in all namespaces, and for kinds that have none. `resource` may name a subresource,
 * "pods/status"; "*" for group and resource stands for all. */
struct script_right {
    const char *ns, *group, *resource;
    const char *name; /* of the one object that is asked for; "": any. A create never names one */
    unsigned verbs;
    bool namespaced;
    const char *what;                    /* as the script names it: "pods", "pods/status:patch" */
    const struct inventory_entry *place; /* NULL: not known */
};

struct script_rights_visitor {
    /* All texts are valid for the call. */
    void (*right)(void *ctx, const struct script_right *right);
    /* The catalogue does not know a kind; `place` is of what named it, NULL: not known. Optional. */
    void (*unknown)(void *ctx, struct str kind, const struct inventory_entry *place, const struct err *err);
    void *ctx;
};

void script_each_right(const struct script *script, const struct catalogue *catalogue,
                       const struct script_rights_visitor *visitor);
/* Visits the further permissions that writing the fixes of its rules takes (kubelua audit --apply), as far as
 * they are known: patch of the kinds of rules that have a fix. The function above reports kinds that the
 * catalogue does not know. */
void script_each_fix_right(const struct script *script, const struct catalogue *catalogue,
                           const struct script_rights_visitor *visitor);

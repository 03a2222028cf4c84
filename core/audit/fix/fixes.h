/* Fixes of an audit for its findings: a patch for an object, or a manifest of one that is missing. Owner:
 * whoever runs the audit; audit_fixes_clear frees all. On one thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "kube/kinds/resource.h"

/* One thing to do. */
struct audit_fix {
    bool is_manifest;          /* of an object of its own; else a patch of one that was audited */
    bool is_strategic;         /* the patch is a strategic merge patch (strategic.h); else a merge patch */
    bool is_there, is_patched; /* of a manifest: its object is there; another fix patches it */
    struct buf reasons;        /* lines: findings, and findings that the fix leaves */
    char *rules;               /* their ids, ", " between them */
    char *api_version, *kind;  /* of the object, as the next ones */
    char *ns, *name;           /* `ns` may be empty, and `name` of a manifest */
    char *version;             /* its resourceVersion when it was audited; empty: not known */
    struct resource resource;  /* `plural` NULL: the catalogue does not have the kind */
    char *type;                /* as kubectl takes it: "pods", "deployments.apps", "Widget.v1.example.com" */
    char *json;
};

struct fixed_object;

struct audit_fixes {
    struct audit_fix *items;
    size_t count;
    struct fixed_object *by_object;
    size_t with, without;   /* findings that are failures */
    size_t objects;         /* for which there is something to do */
    size_t still;           /* rules that fail for an object with its patch too */
    size_t there;           /* manifests of objects that are there already */
    size_t written, failed; /* of --apply */
};

/* Adds a fix, taking its strings. */
void audit_fixes_add(struct audit_fixes *fixes, const struct audit_fix *fix);
void audit_fix_clear(struct audit_fix *fix);
void audit_fixes_clear(struct audit_fixes *fixes);
/* The manifest of the same object, in whatever version and whatever it says; NULL: there is none. Until the
 * next one is added. Those without a name are new objects each time. */
struct audit_fix *audit_fixes_find_manifest(const struct audit_fixes *fixes, const struct audit_fix *fix);
/* One of them is a patch of the same object. */
bool audit_fixes_have_patch(const struct audit_fixes *fixes, const struct audit_fix *fix);
/* Appends lines to its reasons. */
void audit_fix_add_reasons(struct audit_fix *fix, struct str lines);
/* Adds a rule, which it may have. */
void audit_fix_add_rule(struct audit_fix *fix, const char *id);
/* Finds `resource` and `type` for what apiVersion and kind say. */
void audit_fix_resolve(struct audit_fix *fix, const struct catalogue *catalogue);

/* "manifest", or of a patch what kubectl patch calls --type. */
const char *audit_fix_type(const struct audit_fix *fix);
/* Appends "deployment.apps/web", as kubectl names what it wrote. */
void audit_fix_put_object(const struct audit_fix *fix, struct buf *out);
/* "2 findings have a fix, 1 has none; 1 object". */
void audit_fixes_sum_up(const struct audit_fixes *fixes, struct buf *out);

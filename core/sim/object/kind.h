/* The resources that the simulated API server serves: built-in ones and those of CustomResourceDefinitions.
 * Owner: the server's store; a kind is never freed while the process runs, only marked gone. Guarded by the
 * store's lock. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "schema/schema.h"

struct sim_kind {
    const char *group; /* "" for the core group */
    const char *version;
    const char *plural, *singular, *kind;
    const char *list_kind;          /* kind + "List", unless a CRD has another */
    const char *const *short_names; /* ends with NULL; may be NULL */
    const char *const *categories;  /* ends with NULL; may be NULL */
    /* Labels that field selectors know besides metadata.name and metadata.namespace: dotted paths into the
     * object, ends with NULL; may be NULL. */
    const char *const *field_labels;
    enum schema_names names; /* most are subdomains; those of namespaces and services labels */
    bool namespaced;
    bool has_status;           /* serves the status subresource */
    bool has_scale;            /* serves the scale subresource */
    bool has_generation;       /* metadata.generation counts changes of what is wanted */
    bool keeps_first_status;   /* a create may bring a status although there is a subresource (nodes) */
    bool graceful;             /* deletes of scheduled objects wait for the grace period (pods) */
    bool returns_deleted;      /* a delete returns the object, not a Status */
    bool needs_version;        /* an update without a resourceVersion is refused */
    bool created_by_update;    /* a PUT of an object that is not there creates it */
    bool no_delete_collection; /* namespaces */
    bool custom;               /* defined by a CRD */
    bool ending;               /* its CRD is being deleted */
    bool unstored;             /* has no objects: reviews */
    bool not_storage;          /* another version of the same CRD is the stored one */
    bool hidden;               /* its CRD serves no version: it has objects that nobody sees */
    bool gone;                 /* its CRD was deleted */
    const struct schema_kind *schema; /* of built-in kinds, else NULL; borrowed */
    const json_t *scale;              /* paths of a CRD's scale; NULL: none, or those of Deployments */
    const json_t *structural;         /* of a custom kind: its openAPIV3Schema; NULL: any object fits */
    const struct sim_kind *stored; /* another version, in which Kubernetes' own kind is stored; else NULL */
    const json_t *conversion;      /* to and from it (object/convert.h) */
    const char *deprecation;       /* warning in each response; NULL: none */
    const json_t *printer_columns; /* of its tables (lua/sim/tables.lua), NULL or empty: name and age */
};

/* Creates a kind of that group and version. `names` is as in a CRD. The caller owns it, and may set
 * everything else. */
struct sim_kind *sim_kind_new(const char *group, const char *version, const json_t *names);
/* Creates one of Kubernetes' own, which is never freed. */
struct sim_kind *sim_kind_of_schema(const struct schema_kind *schema);
/* NULL is allowed. */
void sim_kind_free(struct sim_kind *kind);

/* Is it served? Of Kubernetes' own kinds, some of those that a server has are. */
bool sim_has_subresource(const struct sim_kind *kind, const char *name);
/* Sets the next of them, counted from `*at`; `version` is NULL for that of the kind. Returns false at the
 * end.
 */
bool sim_next_subresource(const struct sim_kind *kind, size_t *at, struct schema_subresource *sub);
/* Path of the number that a Scale sets: a CRD says so; others have it where Deployments do. */
const char *sim_scale_path(const struct sim_kind *kind);
/* Is it Kubernetes' own kind of that name? */
bool sim_kind_is(const struct sim_kind *kind, const char *name);
/* Is it the kind of Namespaces? */
bool sim_is_namespace(const struct sim_kind *kind);
/* Do its objects get the labels of their template where they have none of their own? */
bool sim_takes_labels(const struct sim_kind *kind);
/* "v1" or "apps/v1": the apiVersion of the kind's objects; a new string. */
char *sim_api_version(const struct sim_kind *kind);
/* "pods" or "deployments.apps": how messages name the resource; a new string. */
char *sim_qualified_resource(const struct sim_kind *kind);
/* "Pod" or "Deployment.apps": how messages of invalid objects name the kind; a new string. */
char *sim_qualified_kind(const struct sim_kind *kind);

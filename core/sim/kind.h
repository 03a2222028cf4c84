/* The resources that the simulated API server serves: built-in ones and those of CustomResourceDefinitions.
 * Owner: the server's store; a kind is never freed while the process runs, only marked gone. Guarded by the
 * store's lock. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct sim_column {
    const char *name, *type, *format, *description;
    int priority; /* 0 always, 1 with -o wide */
};

struct sim_kind {
    const char *group; /* "" for the core group */
    const char *version;
    const char *plural, *singular, *kind;
    const char *list_kind;          /* kind + "List" */
    const char *const *short_names; /* ends with NULL; may be NULL */
    const char *const *categories;  /* ends with NULL; may be NULL */
    /* Labels that field selectors know besides metadata.name and metadata.namespace: dotted paths into the
     * object, ends with NULL; may be NULL. */
    const char *const *field_labels;
    bool namespaced;
    bool has_status; /* serves the status subresource */
    bool has_scale;
    bool graceful;    /* deletes of scheduled objects wait for the grace period (pods) */
    bool gone;        /* its CRD was deleted */
    bool not_storage; /* another version of the same CRD is the one that objects are kept in */
    const struct sim_column *columns;
    size_t column_count;
    /* One table cell per column from an object, a new array; NULL: name and age only. */
    json_t *(*cells)(const struct sim_kind *kind, const json_t *object, int64_t now_s);
    /* additionalPrinterColumns of a CRD's version; owned by the kind, NULL for built-in kinds. */
    const json_t *printer_columns;
};

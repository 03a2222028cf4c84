/* The resources that the simulated API server serves: built-in ones and those of CustomResourceDefinitions.
 * Owner: the server's store; a kind is never freed while the process runs, only marked gone. Guarded by the store's lock. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

struct sim_column {
    const char *name, *type, *format, *description;
    int priority; /* 0 always, 1 with -o wide */
};

struct sim_kind {
    const char *group; /* "" for the core group */
    const char *version;
    const char *plural, *singular, *kind;
    const char *const *short_names; /* ends with NULL; may be NULL */
    const char *const *categories;  /* ends with NULL; may be NULL */
    bool namespaced;
    bool has_status;   /* serves the status subresource */
    bool has_scale;
    bool graceful;     /* deletes of scheduled objects wait for the grace period (pods) */
    bool gone;         /* its CRD was deleted */
    const struct sim_column *columns;
    size_t column_count;
    /* One table cell per column from an object; NULL: name and age only. */
    json_t *(*cells)(const json_t *object);
    /* Columns of a CRD's additionalPrinterColumns; borrowed JSON, NULL for built-in kinds. */
    const json_t *printer_columns;
};

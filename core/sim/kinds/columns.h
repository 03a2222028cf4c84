/* Columns and cells of Tables, as the real server's printers show each built-in kind.
 * Owner: the layouts are constant; cells gives a new array. May be called anywhere. */
#pragma once
#include "sim/object/kind.h"

struct sim_layout {
    const struct sim_column *columns;
    size_t count;
    json_t *(*cells)(const struct sim_kind *kind, const json_t *object, int64_t now_s);
};

extern const struct sim_layout sim_layout_pods, sim_layout_nodes, sim_layout_namespaces,
    sim_layout_deployments, sim_layout_replicasets, sim_layout_services, sim_layout_configmaps,
    sim_layout_secrets, sim_layout_leases, sim_layout_events, sim_layout_crds;

/* Columns that several layouts share. */
#define SIM_COLUMN_NAME                                                                               \
    {                                                                                                 \
        "Name", "string", "name", "Name must be unique within a namespace, and cannot be updated.", 0 \
    }
#define SIM_COLUMN_AGE                                                                                \
    {                                                                                                 \
        "Age", "string", "", "The time since this object was created, by the clock of the server.", 0 \
    }

/* Append one cell. */
void sim_cell_text(json_t *cells, const char *text);
void sim_cell_age(json_t *cells, const json_t *object, int64_t now_s);
/* "<none>" for the empty string. */
const char *sim_or_none(const char *text);
/* Conditions of `row` of a pod that ran to its end; NULL for one that did not. */
json_t *sim_pod_row_conditions(const json_t *pod);

/* Columns and cells of Tables, as the real server's printers show each kind. A column is a JSON object as in
 * the additionalPrinterColumns of a CRD. Those of kinds.json have a `cell` besides, the name of a function;
 * `jsonPath` may be a list there, of which the first path that leads to a text counts, `otherwise` is shown
 * where there is nothing, `field`, `template` and `max` are for some functions, and the type is "string"
 * where none is given. Owner: each function gives a new reference. May be called anywhere. */
#pragma once
#include <stdint.h>

#include <jansson.h>

typedef json_t *sim_cell_fn(const json_t *object, const json_t *column, int64_t now_s);

json_t *sim_column_definition(const json_t *column);
sim_cell_fn sim_cell;

/* columns_pod.c */
sim_cell_fn sim_cell_pod_ready, sim_cell_pod_status, sim_cell_pod_restarts, sim_cell_pod_gates;
/* columns_workload.c */
sim_cell_fn sim_cell_ingress_addresses, sim_cell_service_addresses, sim_cell_service_ports,
    sim_cell_node_status, sim_cell_node_roles, sim_cell_node_kernel, sim_cell_event_last_seen,
    sim_cell_event_object, sim_cell_event_source, sim_cell_event_message, sim_cell_event_count;
/* columns_rest.c */
sim_cell_fn sim_cell_job_status, sim_cell_job_completions, sim_cell_job_duration, sim_cell_targets,
    sim_cell_phase, sim_cell_access_modes, sim_cell_claim_capacity, sim_cell_class_name, sim_cell_claim_state,
    sim_cell_quota, sim_cell_ingress_ports, sim_cell_ingress_parameters, sim_cell_endpoints,
    sim_cell_slice_ports, sim_cell_slice_endpoints, sim_cell_subjects, sim_cell_parent, sim_cell_controller,
    sim_cell_request_condition, sim_cell_requested_duration, sim_cell_policy_parameters, sim_cell_shares,
    sim_cell_condition;
/* Conditions of `row` of a pod that ran to its end; NULL for one that did not. */
json_t *sim_pod_row_conditions(const json_t *pod);

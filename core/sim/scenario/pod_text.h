/* The text of a generated pod in the parts of which it is put together.
 * Owner: nobody, it is constant. May be used anywhere. */
#pragma once

enum sim_pod_part {
    SIM_POD_HEAD,      /* metadata, up to the containers in managedFields */
    SIM_POD_FIELDS,    /* one container there */
    SIM_POD_MIDDLE,    /* the rest of metadata, the spec up to its containers */
    SIM_POD_CONTAINER, /* one container */
    SIM_POD_SPEC,      /* the rest of the spec, the status up to the containers */
    SIM_POD_STATUS,    /* one container's status */
    SIM_POD_TAIL,
    SIM_POD_PARTS,
};

extern const char *const sim_pod_text[SIM_POD_PARTS];

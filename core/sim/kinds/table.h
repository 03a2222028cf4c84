/* Other forms of objects that a client may request by its Accept header: Tables and PartialObjectMetadata.
 * Owner: each function returns a new reference; arguments are borrowed and not changed. Everything may be
 * called anywhere. */
#pragma once
#include "base/str.h"
#include "sim/object/kind.h"

enum sim_form {
    SIM_FORM_JSON,
    SIM_FORM_TABLE,
    SIM_FORM_PARTIAL,
    SIM_FORM_PARTIAL_LIST,
    SIM_FORM_UNACCEPTABLE, /* respond 406 */
};

/* Forms that a server has besides JSON. */
struct sim_spoken {
    bool tables, protobuf;
    bool partial_protobuf; /* PartialObjectMetadata has protobuf even if the kind itself has none */
};
struct sim_media {
    enum sim_form form;
    bool protobuf, yaml; /* the object is encoded so, instead of as JSON */
    bool beta;           /* the form is one of meta.k8s.io/v1beta1 */
};

/* Returns the first form in an Accept header that the server has; NULL and "" are JSON. Tables have no
 * protobuf. */
struct sim_media sim_negotiate_media(const char *accept, const struct sim_spoken *spoken);
/* Likewise, of an object of the kind. */
struct sim_media sim_negotiate_of(const struct sim_kind *kind, const char *accept);
/* Returns whether a server has a handler of its own kinds for the header: a type with a wildcard behind the
 * slash is not enough, as it is for kinds of CustomResourceDefinitions. */
bool sim_is_routed(const char *accept);

/* Returns a 400 for an `include_object` that no Table has; NULL if it has it. */
json_t *sim_table_refused(const char *include_object);
/* The definitions of its columns. */
json_t *sim_table_columns(const struct sim_kind *kind);
/* A list with the cells of an object, and with its conditions or null. */
json_t *sim_table_cells(const struct sim_kind *kind, json_t *object, int64_t now_s);

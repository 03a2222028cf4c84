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

/* One of the media types of an Accept header, with its relevant parameters. */
struct sim_clause {
    struct str type, as, group, version;
    double q;
};
struct sim_clause sim_read_clause(struct str text);

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

/* Makes the form, with all that is in it, one of meta.k8s.io/v1beta1, in place. */
void sim_form_to_beta(json_t *object);

/* Returns a 400 for an `include_object` that no Table has; NULL if it has it. */
json_t *sim_table_refused(const char *include_object);
/* A meta.k8s.io/v1 Table of `n` objects. `rv` (NULL: that of the one object) and `continue_token` may be
 * NULL. `include_object` is as in the query, NULL and "" mean Metadata. Later events of a watch come without
 * column definitions. */
json_t *sim_table(const struct sim_kind *kind, json_t *const *objects, size_t n, const char *rv,
                  const char *continue_token, const char *include_object, bool with_columns, int64_t now_s);
/* One more row of it, for a table that has too many objects to hold them all as JSON. */
json_t *sim_table_row(const struct sim_kind *kind, json_t *object, const char *include_object, int64_t now_s);

/* The part of an object that every kind has: its shape, its order and the rules for what may stand there.
 * Owner: what is given is a new reference; what is handed in is borrowed.
 * May be called anywhere. */
#pragma once
#include "sim/lua/lua.h"
#include "sim/object/object_rules.h"

/* Returns false with a 400 if the body is not an object of this kind and version, or its metadata has values
 * of wrong types. A built-in kind may omit kind and apiVersion. */
bool sim_check_body(const struct sim_kind *kind, const json_t *body, struct sim_refusal *refusal);
/* Returns false with a 422 if a custom object is of another kind, which a server looks at late. */
bool sim_check_kind(const struct sim_kind *kind, const json_t *body, struct sim_refusal *refusal);
/* Returns the error in the types of metadata, in Go's words; a new string, NULL if they are right. */
char *sim_metadata_error(const json_t *metadata);
/* For Lua: of metadata, returns that error or nil, what Go makes of it, and its unknown fields. */
int sim_lua_read_metadata(lua_State *L);
/* Returns a deep copy with kind, apiVersion and metadata first, the metadata in order. */
json_t *sim_normalized(const struct sim_kind *kind, const json_t *body);
/* Likewise, as decoded by the types of a built-in kind, so that two states can be compared: what was loaded
 * lacks the zeros that Go writes. An object that does not fit its kind stays as it is. */
json_t *sim_typed(const struct sim_kind *kind, const json_t *body);
/* Puts the fields of metadata in the server's order, without empty and unknown ones. */
void sim_tidy_metadata(json_t *object);
/* Checks of metadata; a create makes all of them. */
enum sim_metadata_checks {
    SIM_CHECK_NAME = 1,
    SIM_CHECK_LABELS = 2, /* annotations and owners, too */
    SIM_CHECK_FINALIZERS = 4,
    SIM_CHECK_KNOWN_FINALIZERS = 8, /* of Kubernetes' own kinds, without a domain */
    SIM_CHECK_ALL = 15
};

/* Appends the causes of the checks of the object's metadata, a set of them. */
void sim_metadata_causes(const struct sim_kind *kind, const json_t *object, int checks, json_t *causes);
/* Returns false with a refusal if the object, with its defaults, must not follow `old`; `given` is the body,
 * and `update` has the causes of what no update may do, which it takes. */
bool sim_check_update(const struct sim_kind *kind, const json_t *old, const json_t *object,
                      const json_t *given, const char *subresource, json_t *update,
                      struct sim_refusal *refusal);

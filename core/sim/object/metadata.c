/* Shape and rules of metadata; see metadata.h. */
#include "sim/object/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/object/kind.h"
#include "sim/object/status.h"
#include "sim/text/json_error.h"
#include "sim/text/tree.h"
#include "sim/validate/decode.h"

/* selfLink, which no server fills any more, and what is unknown are dropped. */
static const char *const fields[] = {
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
};

/* Refuses a body that cannot be read as an object of the kind, with the server's message; takes `why`. */
static bool refuse(const struct sim_kind *kind, const json_t *body, char *why, struct sim_refusal *refusal)
{
    const char *given = sim_text_at(body, "kind"), *version = sim_text_at(body, "apiVersion");
    const char *slash = strchr(version, '/');
    json_t *status = sim_status_bad_request("%s in version \"%s\" cannot be handled as a %s: %s",
                                            *given ? given : kind->kind,
                                            slash      ? slash + 1
                                            : *version ? version
                                                       : kind->version,
                                            kind->kind, why);
    free(why);
    return sim_refuse(refusal, status);
}

/* The message has the name of the other kind. */
bool sim_check_kind(const struct sim_kind *kind, const json_t *body, struct sim_refusal *refusal)
{
    json_t *given = json_object_get(body, "kind");
    if (!kind->custom || strcmp(sim_text_at(given, ""), kind->kind) == 0) return true;
    struct sim_kind named = {.group = kind->group, .kind = json_string_value(given)};
    char *must = xasprintf("must be %s", kind->kind);
    json_t *status = sim_status_invalid(&named, sim_text_at(body, "metadata.name"), "FieldValueInvalid",
                                        "kind", given, must);
    free(must);
    return sim_refuse(refusal, status);
}

/* Checks kind and version. Custom objects must have them, and only the version is compared at first; others
 * are looked up by them, and may omit them. */
static bool check_kind(const struct sim_kind *kind, const json_t *body, struct sim_refusal *refusal)
{
    const char *given = sim_text_at(body, "kind"), *version = sim_text_at(body, "apiVersion");
    char *expected = sim_api_version(kind);
    bool same_version = (!*version && !kind->custom) || strcmp(version, expected) == 0,
         same_kind = !*given || strcmp(given, kind->kind) == 0;
    bool good = true;
    if (kind->custom && !*given)
        good = sim_refuse(refusal,
                          sim_status_bad_request(
                              "the object provided is unrecognized (must be of type %s): Object 'Kind' is "
                              "missing",
                              kind->kind));
    else if (kind->custom && json_is_null(json_object_get(body, "apiVersion")))
        good = sim_refuse(refusal, sim_status_bad_request(
                                       "%s in version \"\" cannot be handled as a %s: .apiVersion accessor "
                                       "error: <nil> is of the type <nil>, expected string",
                                       given, kind->kind));
    else if (!same_version && kind->custom)
        good = sim_refuse(refusal,
                          sim_status_bad_request(
                              "the API version in the data (%s) does not match the expected API version (%s)",
                              version, expected));
    else if (!same_version || (!same_kind && !kind->custom))
        good = refuse(kind, body,
                      xasprintf("no kind \"%s\" is registered for version \"%s\" in scheme "
                                "\"pkg/runtime/scheme.go:111\"",
                                *given ? given : kind->kind, *version ? version : expected),
                      refusal);
    free(expected);
    return good;
}

char *sim_metadata_error(const json_t *metadata)
{
    struct sim_decoding decoding = {0};
    if (!metadata || json_is_null(metadata)) return NULL;
    if (!json_is_object(metadata))
        return xasprintf("json: cannot unmarshal %s into Go value of type v1.ObjectMeta",
                         sim_json_type(metadata));
    json_decref(sim_decode(schema_type("meta/v1.ObjectMeta"), metadata, &decoding));
    json_decref(decoding.unknown);
    return decoding.error;
}

int sim_lua_read_metadata(lua_State *L)
{
    json_t *metadata = sim_lua_value(L, 1);
    struct sim_decoding decoding = {.error = sim_metadata_error(metadata)};
    json_t *typed =
        decoding.error ? NULL : sim_decode(schema_type("meta/v1.ObjectMeta"), metadata, &decoding);
    lua_pushstring(L, decoding.error);
    sim_lua_push_new(L, typed);
    sim_lua_push_new(L, decoding.unknown);
    free(decoding.error);
    json_decref(metadata);
    return 3;
}

bool sim_check_body(const struct sim_kind *kind, const json_t *body, struct sim_refusal *refusal)
{
    const json_t *metadata = json_object_get(body, "metadata");
    if (!json_is_object(body))
        return sim_refuse(
            refusal, sim_status_bad_request(
                         "the object provided is unrecognized (must be of type %s): the body is not JSON "
                         "object",
                         kind->kind));
    if (!check_kind(kind, body, refusal)) return false;
    char *error = sim_metadata_error(metadata);
    return !error || refuse(kind, body, error, refusal);
}

static bool is_empty(const json_t *value)
{
    return !value || json_is_null(value) || (json_is_object(value) && json_object_size(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_string(value) && json_string_length(value) == 0);
}

void sim_tidy_metadata(json_t *object)
{
    json_t *tidy = json_object(), *metadata = json_object_get(object, "metadata");
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        json_t *value = json_object_get(metadata, fields[i]);
        if (!is_empty(value)) json_object_set(tidy, fields[i], value);
    }
    json_object_set_new(object, "metadata", tidy);
}

json_t *sim_normalized(const struct sim_kind *kind, const json_t *body)
{
    json_t *copy = json_object(), *value;
    char *api_version = sim_api_version(kind);
    const char *key;
    json_object_set_new(copy, "kind", json_string(kind->kind));
    json_object_set_new(copy, "apiVersion", json_string(api_version));
    json_object_set_new(copy, "metadata", json_deep_copy(json_object_get(body, "metadata")));
    sim_tidy_metadata(copy);
    json_object_foreach ((json_t *)body, key, value) {
        if (!json_object_get(copy, key)) json_object_set_new(copy, key, json_deep_copy(value));
    }
    free(api_version);
    return copy;
}

/* Returns a body as its types write it; NULL: it does not fit, or is of a custom kind. */
static json_t *decoded(const struct sim_kind *kind, const json_t *body)
{
    struct sim_decoding decoding = {0};
    const struct schema_type *type = schema_type_of_kind(kind->schema);
    json_t *object = type ? sim_decode(type, body, &decoding) : NULL;
    json_decref(decoding.unknown);
    free(decoding.error);
    return object;
}

json_t *sim_typed(const struct sim_kind *kind, const json_t *body)
{
    json_t *values = decoded(kind, body);
    if (!values) return sim_normalized(kind, body);
    char *api_version = sim_api_version(kind);
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string(kind->kind));
    json_object_set_new(object, "apiVersion", json_string(api_version));
    sim_tidy_metadata(values);
    json_object_set(object, "metadata", json_object_get(values, "metadata"));
    json_object_update_missing(object, values);
    json_decref(values);
    free(api_version);
    return object;
}

/* Shape and rules of metadata; see metadata.h. */
#include "sim/object/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/object/kind.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"
#include "sim/validate/decode.h"

/* selfLink, which no server fills any more, and what is unknown are dropped. */
static const struct {
    const char *name;
    json_type type;
} fields[] = {
    {"name", JSON_STRING},
    {"generateName", JSON_STRING},
    {"namespace", JSON_STRING},
    {"uid", JSON_STRING},
    {"resourceVersion", JSON_STRING},
    {"generation", JSON_INTEGER},
    {"creationTimestamp", JSON_STRING},
    {"deletionTimestamp", JSON_STRING},
    {"deletionGracePeriodSeconds", JSON_INTEGER},
    {"labels", JSON_OBJECT},
    {"annotations", JSON_OBJECT},
    {"ownerReferences", JSON_ARRAY},
    {"finalizers", JSON_ARRAY},
    {"managedFields", JSON_ARRAY},
};

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "object";
    case JSON_ARRAY: return "array";
    case JSON_STRING: return "string";
    case JSON_TRUE:
    case JSON_FALSE: return "bool";
    default: return "number";
    }
}

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

static bool wrong_type(const struct sim_kind *kind, const json_t *body, const char *field,
                       const json_t *value, const char *wanted, struct sim_refusal *refusal)
{
    return refuse(kind, body,
                  xasprintf("json: cannot unmarshal %s into Go struct field ObjectMeta.%s of type %s",
                            type_name(value), *field ? field : "metadata", wanted),
                  refusal);
}

static const char *wanted_type(json_type type)
{
    switch (type) {
    case JSON_INTEGER: return "int64";
    case JSON_OBJECT: return "map[string]string";
    case JSON_ARRAY: return "[]string";
    default: return "string";
    }
}

/* Refuses a custom object of another kind, whose name the message has. */
static bool other_kind(const struct sim_kind *kind, const json_t *body, struct sim_refusal *refusal)
{
    struct sim_kind named = *kind;
    json_t *given = json_object_get(body, "kind");
    named.kind = json_string_value(given);
    char *must = xasprintf("must be %s", kind->kind);
    json_t *status = sim_status_invalid(&named, sim_text_at(body, "metadata.name"), "FieldValueInvalid",
                                        "kind", given, must);
    free(must);
    return sim_refuse(refusal, status);
}

/* Checks kind and version. Custom objects must have them, and only the version is compared; others are looked
 * up by them, and may omit them. */
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
    else if (!same_version && kind->custom)
        good = sim_refuse(refusal,
                          sim_status_bad_request(
                              "the API version in the data (%s) does not match the expected API version (%s)",
                              version, expected));
    else if (!same_kind && kind->custom)
        good = other_kind(kind, body, refusal);
    else if (!same_version || !same_kind)
        good = refuse(kind, body,
                      xasprintf("no kind \"%s\" is registered for version \"%s\" in scheme "
                                "\"pkg/runtime/scheme.go:111\"",
                                *given ? given : kind->kind, *version ? version : expected),
                      refusal);
    free(expected);
    return good;
}

/* Checks that the values of labels and annotations, and finalizers, are strings. */
static bool check_strings(const struct sim_kind *kind, const json_t *body, const char *field,
                          struct sim_refusal *refusal)
{
    const json_t *value = json_object_get(json_object_get(body, "metadata"), field);
    const char *key;
    json_t *item;
    size_t i;
    json_object_foreach ((json_t *)value, key, item) {
        if (!json_is_string(item)) return wrong_type(kind, body, field, item, "string", refusal);
    }
    json_array_foreach (value, i, item) {
        if (!json_is_string(item)) return wrong_type(kind, body, field, item, "string", refusal);
    }
    return true;
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
    if (metadata && !json_is_null(metadata) && !json_is_object(metadata))
        return wrong_type(kind, body, "", metadata, "v1.ObjectMeta", refusal);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const json_t *value = json_object_get(metadata, fields[i].name);
        if (value && !json_is_null(value) && json_typeof(value) != fields[i].type)
            return wrong_type(kind, body, fields[i].name, value, wanted_type(fields[i].type), refusal);
    }
    return check_strings(kind, body, "labels", refusal) &&
           check_strings(kind, body, "annotations", refusal) &&
           check_strings(kind, body, "finalizers", refusal);
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
        json_t *value = json_object_get(metadata, fields[i].name);
        if (!is_empty(value)) json_object_set(tidy, fields[i].name, value);
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

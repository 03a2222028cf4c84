/* Shape and rules of metadata; see metadata.h. */
#include "sim/object/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/object/kind.h"
#include "sim/object/status.h"
#include "sim/text/names.h"
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

enum { ANNOTATIONS_MAX = 256 * 1024 };

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
    return refuse(
        kind, body,
        xasprintf("json: cannot unmarshal %s into Go struct field ObjectMeta.metadata%s%s of type %s",
                  type_name(value), *field ? "." : "", field, wanted),
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

/* Checks kind and version. Custom objects must have them, and only the version is compared; others are looked
 * up by them, and may omit them. */
static bool check_kind(const struct sim_kind *kind, const json_t *body, struct sim_refusal *refusal)
{
    const char *given = sim_text_at(body, "kind"), *version = sim_text_at(body, "apiVersion");
    char *expected = sim_api_version(kind);
    bool same_version = !*version || strcmp(version, expected) == 0,
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
    else if (!same_version && same_kind)
        good = refuse(kind, body,
                      xasprintf("no kind \"%s\" is registered for version \"%s\"", kind->kind, version),
                      refusal);
    else if (!same_kind)
        good = refuse(kind, body, xasprintf("it is of kind \"%s\"", given), refusal);
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

/* Adds a cause for the string, if there are `problems`; empties them. */
static void add_problems(json_t *causes, const char *field, const char *text, struct buf *problems)
{
    json_t *value = sim_string(text);
    if (problems->len)
        json_array_append_new(causes, sim_cause("FieldValueInvalid", field, value, buf_text(problems)));
    json_decref(value);
    buf_clear(problems);
}

/* Checks a prefix of generated names. The suffix makes a dash at its end valid. */
static bool check_prefix(bool (*check)(struct str, struct buf *), const char *prefix, struct buf *problems)
{
    char *likely = xstrdup(prefix);
    size_t n = strlen(likely);
    if (n > 1 && likely[n - 1] == '-') {
        likely[n - 2] = 'a';
        n--;
    }
    bool good = check((struct str){likely, n}, problems);
    free(likely);
    return good;
}

static void check_name(const struct sim_kind *kind, json_t *causes, const json_t *metadata)
{
    struct buf problems = {0};
    const char *name = sim_text_at(metadata, "name"), *prefix = sim_text_at(metadata, "generateName");
    static bool (*const checks[])(struct str, struct buf *) = {[SCHEMA_SUBDOMAIN] = sim_check_subdomain,
                                                               [SCHEMA_LABEL] = sim_check_label,
                                                               [SCHEMA_PATH] = sim_check_segment};
    bool (*check)(struct str, struct buf *) = checks[kind->names];
    if (*prefix && !check_prefix(check, prefix, &problems))
        add_problems(causes, "metadata.generateName", prefix, &problems);
    if (!*name)
        json_array_append_new(causes, sim_cause("FieldValueRequired", "metadata.name", NULL,
                                                "name or generateName is required"));
    else if (!check(str_of(name), &problems))
        add_problems(causes, "metadata.name", name, &problems);
}

static void check_labels(json_t *causes, const json_t *labels)
{
    struct buf problems = {0};
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)labels, key, value) {
        sim_check_key(str_of(key), &problems);
        add_problems(causes, "metadata.labels", key, &problems);
        sim_check_label_value(str_of(json_string_value(value)), &problems);
        add_problems(causes, "metadata.labels", json_string_value(value), &problems);
    }
}

static void check_annotations(json_t *causes, const json_t *annotations)
{
    struct buf problems = {0};
    const char *key;
    json_t *value;
    size_t size = 0;
    json_object_foreach ((json_t *)annotations, key, value) {
        /* As for labels, but capitals are valid in the prefix too. */
        char *lower = sim_lower(key);
        sim_check_key(str_of(lower), &problems);
        add_problems(causes, "metadata.annotations", key, &problems);
        size += strlen(key) + json_string_length(value);
        free(lower);
    }
    if (size > ANNOTATIONS_MAX)
        json_array_append_new(causes, sim_cause("FieldValueTooLong", "metadata.annotations", NULL,
                                                "may not be more than 262144 bytes"));
}

static void check_owners(json_t *causes, const json_t *owners)
{
    static const char *const required[][2] = {{"apiVersion", "version must not be empty"},
                                              {"kind", "must not be empty"},
                                              {"name", "must not be empty"},
                                              {"uid", "must not be empty"}};
    size_t i;
    json_t *owner;
    json_array_foreach (owners, i, owner) {
        for (size_t f = 0; f < ARRAY_LEN(required); f++) {
            if (*sim_text_at(owner, required[f][0])) continue;
            struct buf problems = {0};
            char *field = xasprintf("metadata.ownerReferences.%s", required[f][0]);
            buf_puts(&problems, required[f][1]);
            add_problems(causes, field, "", &problems);
            free(field);
        }
    }
}

json_t *sim_metadata_causes(const struct sim_kind *kind, const json_t *metadata)
{
    json_t *causes = json_array(), *finalizer;
    struct buf problems = {0};
    size_t i;
    check_name(kind, causes, metadata);
    check_labels(causes, json_object_get(metadata, "labels"));
    check_annotations(causes, json_object_get(metadata, "annotations"));
    check_owners(causes, json_object_get(metadata, "ownerReferences"));
    json_array_foreach (json_object_get(metadata, "finalizers"), i, finalizer) {
        sim_check_key(str_of(json_string_value(finalizer)), &problems);
        add_problems(causes, "metadata.finalizers", json_string_value(finalizer), &problems);
    }
    return causes;
}

/* Options of requests that write; see write_options.h. */
#include "sim/api/write_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/object/kind.h"
#include "sim/object/status.h"
#include "sim/text/json_error.h"
#include "sim/text/text.h"
#include "sim/text/tree.h"
#include "sim/validate/decode.h"

enum { MANAGER_MAX = 128 };

static json_t *invalid(const char *kind, json_t *causes)
{
    const struct sim_kind named = {.group = "meta.k8s.io", .kind = kind};
    if (json_array_size(causes)) return sim_status_invalid_causes(&named, "", causes);
    json_decref(causes);
    return NULL;
}

static void add(json_t *causes, const char *type, const char *field, json_t *value, const char *detail)
{
    json_array_append_new(causes, sim_cause(type, field, value, detail));
    json_decref(value);
}

static void check_manager(json_t *causes, const char *manager)
{
    if (strlen(manager) > MANAGER_MAX)
        add(causes, "FieldValueTooLong", "fieldManager", NULL, "may not be more than 128 bytes");
    for (size_t i = 0; manager[i]; i++) {
        unsigned char c = (unsigned char)manager[i];
        if (c >= 0x20 && c != 0x7f) continue;
        char *detail = xasprintf("invalid character U+%04X (at position %zu)", c, i);
        add(causes, "FieldValueInvalid", "fieldManager", sim_string(manager), detail);
        free(detail);
    }
}

/* `values` is a list, of which the only valid element is "All". */
static void check_dry_run(json_t *causes, json_t *values)
{
    size_t i;
    json_t *value;
    json_array_foreach (values, i, value) {
        if (strcmp(sim_text_at(value, ""), "All") == 0) continue;
        add(causes, "FieldValueNotSupported", "dryRun", json_incref(values), "supported values: \"All\"");
        break;
    }
}

/* All values of a parameter. */
static json_t *values_of(const struct sim_request *request, const char *key)
{
    json_t *values = json_array();
    for (size_t i = 0; i < request->query_count; i++)
        if (strcmp(request->query[i].key, key) == 0)
            json_array_append_new(values, sim_string(request->query[i].value));
    return values;
}

static const char *query(const struct sim_request *request, const char *key)
{
    const char *value = sim_query(request, key);
    return value ? value : "";
}

json_t *sim_write_options_refused(const struct sim_request *request, enum sim_write_verb verb)
{
    static const char *const kinds[] = {"CreateOptions", "UpdateOptions", "PatchOptions", "PatchOptions"};
    static const char *const validations[] = {"", "Ignore", "Strict", "Warn"};
    const char *manager = query(request, "fieldManager"), *validation = query(request, "fieldValidation");
    json_t *causes = json_array(), *dry_run = values_of(request, "dryRun");
    bool known = false;
    if (verb == SIM_WRITE_APPLY && !*manager)
        add(causes, "FieldValueRequired", "fieldManager", NULL, "is required for apply patch");
    if (verb == SIM_WRITE_PATCH && sim_query(request, "force"))
        add(causes, "FieldValueForbidden", "force", NULL, "may not be specified for non-apply patch");
    check_manager(causes, manager);
    check_dry_run(causes, dry_run);
    for (size_t i = 0; i < ARRAY_LEN(validations); i++)
        known = known || strcmp(validation, validations[i]) == 0;
    if (!known)
        add(causes, "FieldValueNotSupported", "fieldValidation", sim_string(validation),
            "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"");
    json_decref(dry_run);
    return invalid(kinds[verb], causes);
}

/* --- DeleteOptions */

/* Kind and version are read before the rest. */
static json_t *wrong_head(const json_t *body)
{
    static const char *const fields[] = {"kind", "apiVersion"};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const json_t *value = json_object_get(body, fields[i]);
        if (value && !json_is_null(value) && !json_is_string(value))
            return sim_status_bad_request("couldn't get version/kind; json parse error: json: cannot "
                                          "unmarshal %s into Go struct field .%s of type string",
                                          sim_json_type(value), fields[i]);
    }
    return NULL;
}

static json_t *read_body(struct str text, json_t **refusal)
{
    char *why = NULL;
    struct sim_decoding decoding = {0};
    json_t *body = sim_parse_body(text, &why), *options = NULL;
    *refusal = why ? sim_status_bad_request("couldn't get version/kind; json parse error: %s", why)
                   : wrong_head(body);
    free(why);
    const char *kind = sim_text_at(body, "kind"), *version = sim_text_at(body, "apiVersion");
    if (!*refusal && *kind && strcmp(kind, "DeleteOptions") != 0)
        *refusal = sim_status_bad_request(
            "no kind \"%s\" is registered for version \"%s\" in scheme \"pkg/runtime/scheme.go:111\"", kind,
            *version ? version : "meta.k8s.io/v1");
    if (!*refusal)
        options = json_is_object(body) ? sim_decode(schema_type("meta/v1.DeleteOptions"), body, &decoding)
                                       : json_object();
    if (decoding.error) *refusal = sim_status_bad_request("%s", decoding.error);
    free(decoding.error);
    json_decref(decoding.unknown);
    json_decref(body);
    return options;
}

static json_t *read_query(const struct sim_request *request, json_t **refusal)
{
    int64_t seconds = 0;
    const char *grace = sim_query(request, "gracePeriodSeconds"),
               *policy = sim_query(request, "propagationPolicy"),
               *orphan = sim_query(request, "orphanDependents");
    if (grace && !sim_parse_int64(grace, &seconds)) {
        *refusal =
            sim_status_bad_request("strconv.ParseInt: parsing \"%s\": %s", grace, sim_number_problem(grace));
        return NULL;
    }
    json_t *options = json_object(), *dry_run = values_of(request, "dryRun");
    if (grace) json_object_set_new(options, "gracePeriodSeconds", json_integer(seconds));
    if (policy) json_object_set_new(options, "propagationPolicy", sim_string(policy));
    if (orphan)
        json_object_set_new(options, "orphanDependents",
                            json_boolean(sim_query_true(request, "orphanDependents")));
    if (json_array_size(dry_run)) json_object_set(options, "dryRun", dry_run);
    json_decref(dry_run);
    return options;
}

static json_t *check_delete(const json_t *options)
{
    static const char *const policies[] = {"Foreground", "Background", "Orphan"};
    json_t *causes = json_array(), *policy = json_object_get(options, "propagationPolicy");
    bool known = !json_is_string(policy);
    for (size_t i = 0; i < ARRAY_LEN(policies); i++)
        known = known || strcmp(json_string_value(policy), policies[i]) == 0;
    if (json_is_string(policy) && json_is_boolean(json_object_get(options, "orphanDependents")))
        add(causes, "FieldValueInvalid", "propagationPolicy", json_incref(policy),
            "orphanDependents and deletionPropagation cannot be both set");
    if (!known)
        add(causes, "FieldValueNotSupported", "propagationPolicy", json_incref(policy),
            "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"");
    check_dry_run(causes, json_object_get(options, "dryRun"));
    return invalid("DeleteOptions", causes);
}

json_t *sim_delete_options_read(const struct sim_request *request, json_t **refusal)
{
    *refusal = NULL;
    json_t *options = request->body.n ? read_body(request->body, refusal) : read_query(request, refusal);
    if (options) *refusal = check_delete(options);
    if (!*refusal) return options;
    json_decref(options);
    return NULL;
}

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

static json_t *invalid(const char *kind, json_t *causes)
{
    const struct sim_kind named = {.group = "meta.k8s.io", .kind = kind};
    if (json_array_size(causes)) return sim_status_invalid_causes(&named, "", causes);
    json_decref(causes);
    return NULL;
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

json_t *sim_write_options_refused(const struct sim_request *request, enum sim_write_verb verb)
{
    static const char *const kinds[] = {"CreateOptions", "UpdateOptions", "PatchOptions", "PatchOptions"};
    static const char *const texts[] = {"fieldManager", "fieldValidation", "force"};
    if (!request->query_count && verb != SIM_WRITE_APPLY) return NULL;
    json_t *causes = json_array();
    lua_State *L = sim_lua_take("sim.options", "problems");
    lua_pushstring(L, verb == SIM_WRITE_APPLY ? "apply" : kinds[verb]);
    sim_lua_push_new(L, values_of(request, "dryRun"));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) lua_pushstring(L, sim_query(request, texts[i]));
    sim_add_causes(causes, L);
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
    json_t *causes = json_array();
    lua_State *L = sim_lua_take("sim.options", "delete_problems");
    sim_lua_push(L, options);
    sim_add_causes(causes, L);
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

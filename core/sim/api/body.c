/* Bodies of writes; see body.h. */
#include "sim/api/body.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/api/encode.h"
#include "sim/api/subresource.h"
#include "sim/managed/apply.h"
#include "sim/managed/element.h"
#include "sim/object/crd.h"
#include "sim/object/metadata.h"
#include "sim/object/status.h"
#include "sim/text/json_error.h"
#include "sim/text/tree.h"
#include "sim/validate/decode.h"
#include "sim/validate/duplicates.h"
#include "sim/validate/structural.h"

/* --- Options */

void sim_body_options(struct writing *w)
{
    const char *validation = sim_query(w->request, "fieldValidation");
    w->strict = validation && strcmp(validation, "Strict") == 0;
    w->ignores_unknown = validation && strcmp(validation, "Ignore") == 0;
    w->by.dry_run = sim_query(w->request, "dryRun") != NULL;
}

/* --- Bodies */

/* "strict decoding error: unknown field ..., duplicate field ..." */
static char *strict_error(const json_t *problems)
{
    struct buf text = {0};
    size_t i;
    json_t *problem;
    buf_puts(&text, "strict decoding error: ");
    json_array_foreach ((json_t *)problems, i, problem)
        buf_printf(&text, "%s%s", i ? ", " : "", json_string_value(problem));
    return buf_take(&text);
}

/* Takes the problems, may be NULL: warns of them, or returns the message that refuses the body. */
static char *judge(const struct writing *w, json_t *problems)
{
    char *error = NULL;
    if (w->strict && json_array_size(problems)) error = strict_error(problems);
    if (!w->strict && !w->ignores_unknown && json_array_size(problems)) {
        if (!w->reply->warnings) w->reply->warnings = json_array();
        json_array_extend(w->reply->warnings, problems);
    }
    json_decref(problems);
    return error;
}

/* NULL for a custom kind. */
static const struct schema_type *type_of(const struct sim_kind *kind)
{
    return schema_type_of_kind(kind->schema);
}

/* Decodes the metadata, which no schema has, and adds its unknown fields. Returns what is wrong with it. */
static char *decode_metadata(json_t *object, json_t *problems)
{
    struct sim_decoding decoding = {0};
    json_t *metadata = json_object_get(object, "metadata");
    char *error = sim_metadata_error(metadata);
    if (error || !metadata) return error;
    json_t *part = json_pack("{s:O}", "metadata", metadata);
    json_t *decoded = sim_decode(schema_type("meta/v1.PartialObjectMetadata"), part, &decoding);
    if (decoded) json_object_set(object, "metadata", json_object_get(decoded, "metadata"));
    if (decoding.unknown) json_array_extend(problems, decoding.unknown);
    json_decref(decoding.unknown);
    json_decref(decoded);
    json_decref(part);
    return decoding.error;
}

/* Likewise the metadata of resources within the object. */
static char *read_embedded(const struct sim_kind *kind, json_t *object, json_t *problems)
{
    lua_State *L = sim_lua_take("sim.checks.embedded", "read_body");
    sim_lua_push(L, object);
    sim_lua_push(L, kind->structural);
    sim_lua_push(L, problems);
    sim_lua_push_function(L, sim_lua_read_metadata, NULL);
    json_t *found = sim_lua_call(L);
    char *error = found ? xstrdup(sim_text_at(found, "")) : NULL;
    json_decref(found);
    return error;
}

/* Prunes a body of a custom kind, and sets its defaults. An apply leaves null where it took all elements. */
static json_t *decode_custom(const struct writing *w, const struct sim_kind *kind, const json_t *body,
                             json_t *duplicates, bool converts, char **error)
{
    json_t *object = json_deep_copy(body), *path;
    json_t *unknown = sim_structural_prune(kind->structural, object, converts);
    size_t i;
    if (!duplicates) duplicates = json_array();
    *error = decode_metadata(object, duplicates);
    json_array_foreach (unknown, i, path)
        json_array_append_new(duplicates, sim_textf("unknown field \"%s\"", json_string_value(path)));
    json_decref(unknown);
    if (!*error) *error = read_embedded(kind, object, duplicates);
    sim_structural_default(kind->structural, object);
    if (converts) json_array_clear(duplicates); /* an apply has looked for unknown fields in its own way */
    if (*error)
        json_decref(duplicates);
    else
        *error = judge(w, duplicates);
    if (!*error) return object;
    json_decref(object);
    return NULL;
}

/* Decodes a body of the kind; takes the duplicate fields that it has. NULL with a message. A body that is of
 * another kind is left to be refused for that. `converts`: it comes from a strategic merge patch or an apply,
 * whose results are no text. */
static json_t *decode(const struct writing *w, const struct sim_kind *kind, const json_t *body,
                      json_t *duplicates, bool converts, char **error)
{
    const struct schema_type *type = type_of(kind);
    const char *given = sim_text_at(body, "kind");
    struct sim_decoding decoding = {.keeps = true, .converts = converts};
    const char *version = sim_text_at(body, "apiVersion");
    char *own = sim_api_version(kind);
    bool other = !type || !json_is_object(body) || (*given && strcmp(given, kind->kind) != 0) ||
                 (*version && strcmp(version, own) != 0);
    free(own);
    if (kind->structural && json_is_object(body))
        return decode_custom(w, kind, body, duplicates, converts, error);
    json_t *object = other ? json_incref((json_t *)body) : sim_decode(type, body, &decoding), *field;
    size_t i;
    *error = decoding.error;
    json_array_foreach (decoding.unknown, i, field)
        if (duplicates && !sim_has_text(duplicates, json_string_value(field)))
            json_array_append(duplicates, field);
    if (duplicates) {
        json_decref(decoding.unknown);
        decoding.unknown = duplicates;
    }
    if (*error)
        json_decref(decoding.unknown);
    else
        *error = judge(w, decoding.unknown);
    if (!*error) return object;
    json_decref(object);
    return NULL;
}

/* Objects that were loaded may not fit their kind: a patch of such a one is not blamed for it. */
static bool fits(const struct sim_kind *kind, const json_t *object)
{
    struct sim_decoding decoding = {0};
    json_decref(sim_decode(type_of(kind), object, &decoding));
    bool good = !decoding.error;
    free(decoding.error);
    json_decref(decoding.unknown);
    return good;
}

/* The kind of the body. */
static const struct sim_kind *kind_of(const struct writing *w)
{
    if (w->takes) return w->takes;
    return sim_write_is_scale(w) ? &sim_scale_kind : w->target->served->kind;
}

static void refuse(const struct writing *w, char *error)
{
    const struct sim_kind *kind = kind_of(w);
    bool unknown =
        w->target->served->kind->custom && !kind->custom; /* a Scale, to the server of custom kinds */
    sim_reply_status(
        w->reply,
        unknown ? sim_status_bad_request(
                      "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"")
                : sim_status_bad_request("%s in version \"%s\" cannot be handled as a %s: %s", kind->kind,
                                         kind->version, kind->kind, error));
    free(error);
}

#define MISSING_KIND "Object 'Kind' is missing in "
#define UNREAD       "couldn't get version/kind; json parse error: "

/* Kind and version are read before the rest, and must be strings. */
static char *head_problem(const struct writing *w, const json_t *body)
{
    static const char *const fields[] = {"apiVersion", "kind"};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const json_t *value = json_object_get(body, fields[i]);
        if (value && !json_is_string(value) && !json_is_null(value))
            return xasprintf(UNREAD "json: cannot unmarshal %s into Go struct field .%s of type string",
                             sim_json_type(value), fields[i]);
    }
    if (kind_of(w)->custom && !*sim_text_at(body, "kind"))
        return xasprintf(MISSING_KIND "'%.*s'", STR_ARG(w->request->body));
    const char *version = sim_text_at(body, "apiVersion");
    if (strchr(version, '/') == strrchr(version, '/')) return NULL;
    return xasprintf("unexpected GroupVersion string: %s", version);
}

/* Parses the body, of null an empty object; NULL and a response if it is not an object. */
static json_t *parse(const struct writing *w, json_t **duplicates)
{
    json_error_t problem;
    char *why = NULL;
    struct err err;
    json_t *body = sim_parse(w->request->body, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &problem);
    if (!body && json_error_code(&problem) == json_error_duplicate_key)
        *duplicates = sim_duplicates(w->request->body, type_of(kind_of(w)), false);
    if (!json_is_object(body)) {
        json_decref(body);
        body = sim_parse_body(w->request->body, &why);
    }
    char *error = why ? xasprintf(UNREAD "%s", why) : head_problem(w, body);
    if (sim_has_type(w->request, "application/yaml")) {
        json_decref(sim_read_yaml(w->request->body, false, &err));
        free(error);
        error = xstrdup(err.text);
    }
    free(why);
    if (!error && json_is_object(body)) return body;
    json_decref(body);
    if (!error) return json_object();
    if (w->ignores_unknown && strncmp(error, MISSING_KIND, strlen(MISSING_KIND)) == 0) {
        refuse(w, error);
        return NULL;
    }
    char *summary = sim_body_summary(w->request->body);
    sim_reply_status(
        w->reply, sim_status_bad_request("the object provided is unrecognized (must be of type %s): %s (%s)",
                                         kind_of(w)->kind, error, summary));
    free(error);
    free(summary);
    return NULL;
}

json_t *sim_body_read(const struct writing *w)
{
    json_t *duplicates = NULL, *object = NULL, *body = parse(w, &duplicates);
    if (!body) {
        json_decref(duplicates);
        return NULL;
    }
    char *error = NULL;
    object = decode(w, kind_of(w), body, duplicates, false, &error);
    json_decref(body);
    if (error) refuse(w, error);
    return object;
}

json_t *sim_body_of_subresource(struct writing *w, const struct sim_kind *kind, const char *name)
{
    w->takes = kind;
    json_t *body = sim_body_read(w);
    const char *own = sim_text_at(body, "metadata.name"), *ns = sim_text_at(body, "metadata.namespace");
    struct sim_refusal refusal = {0};
    if (!body) return NULL;
    bool is_old = strcmp(sim_text_at(body, "apiVersion"), "policy/v1beta1") == 0; /* which is the same */
    if (!is_old && (!sim_check_body(kind, body, &refusal) || !sim_check_kind(kind, body, &refusal)))
        sim_reply_status(w->reply, refusal.status);
    else if (*ns && strcmp(ns, w->target->namespace_) != 0)
        sim_reply_status(w->reply,
                         sim_status_bad_request("the namespace of the provided object does not match "
                                                "the namespace sent on the request"));
    else if (name && strcmp(own, name) != 0)
        sim_reply_status(w->reply,
                         sim_status_bad_request("name in URL does not match name in %s object", kind->kind));
    else
        return body;
    json_decref(body);
    return NULL;
}

/* The same of one that was applied. */
static json_t *unconverted(const json_t *given, const json_t *object, char *error)
{
    const char *version = sim_text_at(object, "apiVersion"), *kind = sim_text_at(object, "kind"),
               *core = strchr(version, '/') ? "" : "/";
    char *message =
        xasprintf("failed to convert new object (%s/%s; %s%s, Kind=%s) to proper version: unable to "
                  "convert unstructured object to %s%s, Kind=%s: %s",
                  sim_text_at(given, "metadata.namespace"), sim_text_at(object, "metadata.name"), core,
                  version, kind, core, version, kind, error);
    json_t *status = sim_status(500, NULL, message, NULL, NULL);
    free(message);
    free(error);
    return status;
}

/* Refuses a patched object that Go could not read; takes the reason. */
static json_t *unreadable(const struct sim_patch_body *patch, const json_t *patched, char *error)
{
    struct sim_kind none = {.group = "", .kind = ""};
    struct buf text = {0};
    bool bytes = strncmp(error, "illegal base64", strlen("illegal base64")) == 0;
    if (bytes && (patch->applied || patch->strategic)) {
        char *why = xasprintf("error decoding from json: %s", error);
        free(error);
        error = why;
    }
    if (patch->applied) return unconverted(((const struct sim_apply *)patch->ctx)->given, patched, error);
    if (patch->strategic)
        sim_put_go_value(&text, patch->ctx);
    else
        sim_put_json(&text, patched);
    json_t *value = sim_string(buf_text(&text));
    json_t *status = sim_status_invalid(&none, "", "FieldValueInvalid", "patch", value, error);
    json_decref(value);
    buf_clear(&text);
    free(error);
    return status;
}

/* A server takes an object without a version for one of another type, which has no fields. */
static json_t *of_no_version(const struct sim_patch_body *patch, const json_t *patched)
{
    const char **keys = sim_sorted_keys(patched);
    json_t *problems = json_array();
    for (size_t i = 0; keys[i]; i++)
        if (strcmp(keys[i], "kind") != 0 && strcmp(keys[i], "apiVersion") != 0)
            json_array_append_new(problems, sim_textf("unknown field \"%s\"", keys[i]));
    free(keys);
    char *error = judge(patch->writing, problems);
    if (error) return unreadable(patch, patched, error);
    return sim_status_bad_request("the name of the object (%s based on URL) was undeterminable: name must be "
                                  "provided",
                                  patch->writing->target->name);
}

/* Returns why a patch must not change kind or version so, NULL if it has not. A strategic merge patch never
 * does: the result is of the kind. */
static json_t *moved(const struct sim_patch_body *patch, const struct sim_kind *kind, json_t *patched)
{
    if (patch->applied) return NULL; /* which is refused in other words */
    if (kind->custom && !*sim_text_at(patched, "kind")) {
        char *text = json_dumps(patched, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
        char *error = xasprintf("Object 'Kind' is missing in '%s'", text);
        free(text);
        return unreadable(patch, patched, error);
    }
    const char *given = sim_text_at(patched, "kind"), *version = sim_text_at(patched, "apiVersion");
    if (!*version && !patch->strategic)
        return kind->custom
                   ? sim_status_internal("Object 'apiVersion' is missing in 'object has no apiVersion field'")
                   : of_no_version(patch, patched);
    char *own = sim_api_version(kind), *must = NULL;
    json_t *status = NULL;
    bool other_version = *version && strcmp(version, own) != 0,
         other = *given && strcmp(given, kind->kind) != 0;
    if (patch->strategic) {
        json_object_set_new(patched, "kind", sim_string(kind->kind));
        json_object_set_new(patched, "apiVersion", sim_string(own));
    } else if ((other || other_version) && !kind->custom) {
        status = unreadable(patch, patched,
                            xasprintf("no kind \"%s\" is registered for version \"%s\" in scheme "
                                      "\"pkg/runtime/scheme.go:111\"",
                                      given, version));
    } else if (other_version) {
        const char *slash = strchr(version, '/');
        char *group = xasprintf("%.*s", slash ? (int)(slash - version) : 0, version);
        struct sim_kind named = {.group = group, .kind = *given ? given : kind->kind};
        must = xasprintf("must be %s", own);
        status = sim_status_invalid(&named, sim_text_at(patched, "metadata.name"), "FieldValueInvalid",
                                    "apiVersion", json_object_get(patched, "apiVersion"), must);
        free(group);
    }
    free(must);
    free(own);
    return status;
}

json_t *sim_body_patched(void *ctx, const struct sim_kind *kind, const json_t *old,
                         struct sim_refusal *refusal)
{
    const struct sim_patch_body *patch = ctx;
    char *error = NULL;
    refusal->patched = true;
    json_array_clear(patch->writing->reply->warnings); /* of a try that another write was faster than */
    json_t *patched = patch->body(patch->ctx, kind, old, refusal);
    if (!patched) return NULL;
    if (json_is_object(patched)) refusal->status = moved(patch, kind, patched);
    if (json_is_array(patched))
        refusal->status = unreadable(
            patch, patched,
            xstrdup("couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value "
                    "of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                    "\"json:\\\"kind,omitempty\\\"\" }"));
    if (refusal->status) {
        json_decref(patched);
        return NULL;
    }
    json_t *metadata = json_object_get(patched, "metadata");
    char *wrong = patch->applied && kind->custom ? sim_metadata_error(metadata) : NULL;
    if (wrong) { /* a time, which a server takes for none; all else was looked at by its shape */
        json_object_del(metadata, "creationTimestamp");
        json_object_del(metadata, "deletionTimestamp");
    }
    free(wrong);
    json_t *twice = patch->applied ? NULL : sim_duplicates(patch->writing->request->body, NULL, false);
    json_t *object = decode(patch->writing, kind, patched, twice, patch->strategic || patch->applied, &error);
    if (error && old && !kind->custom && !fits(kind, old)) {
        free(error);
        return patched;
    }
    if (error) refusal->status = unreadable(patch, patched, error);
    json_decref(patched);
    return object;
}

/* Status objects; the messages are those of apimachinery's errors, which clients and users know by heart. */
#include "sim/object/status.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/object/kind.h"
#include "sim/text/tree.h"

/* In Go's %q, as far as names go. */
static char *quoted(const char *text)
{
    struct buf b = {0};
    buf_json_string(&b, str_of(text));
    return buf_take(&b);
}

static json_t *details_of(const char *name, const char *group, const char *kind)
{
    return json_pack("{so* ss* ss*}", "name", nonempty(name) ? sim_string(name) : NULL, "group",
                     nonempty(group), "kind", nonempty(kind));
}

/* Takes `message` and `details`, both may be NULL; empty details are left out, as is a zero code. */
static json_t *status_of(int code, const char *reason, json_t *message, json_t *details)
{
    bool bare = json_object_size(details) == 0;
    json_t *status = json_pack("{ss ss s{} ss so* ss* sO* so*}", "kind", "Status", "apiVersion", "v1",
                               "metadata", "status", code < 300 ? "Success" : "Failure", "message", message,
                               "reason", nonempty(reason), "details", bare ? NULL : details, "code",
                               code ? json_integer(code) : NULL);
    json_decref(details);
    return status;
}

json_t *sim_status(int code, const char *reason, const char *message, const struct sim_kind *kind,
                   const char *name)
{
    json_t *details = details_of(name, kind ? kind->group : NULL, kind ? kind->plural : NULL);
    return status_of(code, reason, message ? sim_string(message) : NULL, details);
}

json_t *sim_status_success(const struct sim_kind *kind, const char *name, const char *uid)
{
    json_t *details = details_of(name, kind->group, kind->plural);
    if (uid && *uid) json_object_set_new(details, "uid", sim_string(uid));
    return status_of(0, NULL, NULL, details);
}

int sim_status_code(const json_t *status)
{
    return (int)sim_int_at(status, "code", 200);
}

/* General messages, used if there is no other. */
static const struct general {
    int code;
    const char *reason, *message;
} generals[] = {
    {400, "BadRequest", "the server rejected our request for an unknown reason"},
    {401, "Unauthorized", "the server has asked for the client to provide credentials"},
    {403, "Forbidden", NULL},
    {404, "NotFound", "the server could not find the requested resource"},
    {405, "MethodNotAllowed", "the server does not allow this method on the requested resource"},
    {409, "Conflict", "the server reported a conflict"},
    {410, "Expired", NULL},
    {415, "UnsupportedMediaType", "415: Unsupported Media Type"},
    {422, "Invalid", "the server rejected our request due to an error in our request"},
    {429, "TooManyRequests", "the server has received too many requests and has asked us to try again later"},
    {500, "InternalError", NULL},
    {503, "ServiceUnavailable", "the server is currently unable to handle the request"},
    {504, "Timeout",
     "the server was unable to return a response in the time allotted, but may still be processing the "
     "request"},
};

static const struct general *general_of(int code)
{
    for (size_t i = 0; i < ARRAY_LEN(generals); i++)
        if (generals[i].code == code) return &generals[i];
    return NULL;
}

const char *sim_status_reason(int code)
{
    const struct general *general = general_of(code);
    return general ? general->reason : NULL;
}

json_t *sim_status_generic(int code)
{
    const struct general *general = general_of(code);
    if (general && general->message)
        return status_of(code, general->reason, json_string(general->message), NULL);
    return status_of(
        code, code >= 500 ? "InternalError" : NULL,
        sim_textf("the server responded with the status code %d but did not return more information", code),
        NULL);
}

json_t *sim_status_internal(const char *why)
{
    return status_of(500, "InternalError", sim_textf("Internal error occurred: %s", why),
                     json_pack("{s[{ss}]}", "causes", "message", why));
}

json_t *sim_status_bad_request(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_t *status = status_of(400, "BadRequest", sim_vtextf(format, args), NULL);
    va_end(args);
    return status;
}

/* `format` has two %s: the qualified resource and the quoted name. */
static json_t *about(int code, const char *reason, const struct sim_kind *kind, const char *name,
                     const char *before, const char *after)
{
    char *resource = sim_qualified_resource(kind), *quote = quoted(name);
    json_t *message = sim_textf("%s%s %s%s", before, resource, quote, after);
    free(resource);
    free(quote);
    return status_of(code, reason, message, details_of(name, kind->group, kind->plural));
}

json_t *sim_status_not_found(const struct sim_kind *kind, const char *name)
{
    return about(404, "NotFound", kind, name, "", " not found");
}

json_t *sim_status_already_exists(const struct sim_kind *kind, const char *name)
{
    return about(409, "AlreadyExists", kind, name, "", " already exists");
}

json_t *sim_status_conflict(const struct sim_kind *kind, const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *why = xvasprintf(format, args), *after = xasprintf(": %s", why);
    va_end(args);
    json_t *status = about(409, "Conflict", kind, name, "Operation cannot be fulfilled on ", after);
    free(why);
    free(after);
    return status;
}

json_t *sim_status_modified(const struct sim_kind *kind, const char *name)
{
    return sim_status_conflict(
        kind, name,
        "the object has been modified; please apply your changes to the latest version and "
        "try again");
}

json_t *sim_status_forbidden(const struct sim_kind *kind, const char *name, const char *why)
{
    char *after = xasprintf(" is forbidden: %s", why);
    json_t *status = about(403, "Forbidden", kind, name, "", after);
    free(after);
    return status;
}

static const char lua_failed[] = "Lua of the simulator failed, as its log says";

json_t *sim_status_invalid_causes(const struct sim_kind *kind, const char *name, json_t *causes)
{
    if (sim_has_equal(causes, json_null())) {
        json_decref(causes);
        return sim_status_internal(lua_failed);
    }
    if (kind->stored) kind = kind->stored;
    struct buf text = {0};
    char *qualified = sim_qualified_kind(kind), *quote = quoted(name);
    size_t i;
    json_t *cause, *shown = json_array(); /* each once */
    json_array_foreach (causes, i, cause)
        if (!sim_has_equal(shown, cause)) json_array_append(shown, cause);
    size_t n = json_array_size(shown);
    buf_printf(&text, "%s %s is invalid: %s", qualified, quote, n > 1 ? "[" : "");
    json_array_foreach (shown, i, cause)
        buf_printf(&text, "%s%s: %s", i ? ", " : "", sim_text_at(cause, "field"),
                   sim_text_at(cause, "message"));
    if (n > 1) buf_putc(&text, ']');
    json_decref(shown);

    json_t *details = details_of(name, kind->group, kind->kind);
    json_object_set_new(details, "causes", causes);
    json_t *status = status_of(422, "Invalid", sim_string(buf_text(&text)), details);
    buf_clear(&text);
    free(qualified);
    free(quote);
    return status;
}

json_t *sim_status_invalid(const struct sim_kind *kind, const char *name, const char *type, const char *field,
                           const json_t *value, const char *detail)
{
    json_t *causes = json_array();
    json_array_append_new(causes, sim_cause(type, field, value, detail));
    return sim_status_invalid_causes(kind, name, causes);
}

static json_t *too_many(const char *message, const char *cause, const json_t *seconds)
{
    return status_of(429, "TooManyRequests", sim_string(message),
                     json_pack("{s[{ss ss}] sO*}", "causes", "reason", "DisruptionBudget", "message", cause,
                               "retryAfterSeconds", json_is_integer(seconds) ? seconds : NULL));
}

json_t *sim_status_said(const json_t *found, const struct sim_kind *kind, const char *name)
{
    const char *first = sim_text_at(json_array_get(found, 1), ""),
               *second = sim_text_at(json_array_get(found, 2), "");
    const struct sim_kind missing = {.group = "", .plural = first};
    json_t *causes;
    switch (json_integer_value(json_array_get(found, 0))) {
    case 0: return sim_status_internal(lua_failed);
    case 400: return sim_status_bad_request("%s", first);
    case 403: return sim_status_forbidden(kind, name, first);
    case 404: return sim_status_not_found(&missing, second);
    case 422:
        sim_add_found(causes = json_array(), json_array_get(found, 1));
        return sim_status_invalid_causes(kind, name, causes);
    case 429: return too_many(first, second, json_array_get(found, 3));
    default:
        return json_array_get(found, 2) ? sim_status_internal(first)
                                        : sim_status(500, NULL, first, NULL, NULL);
    }
}

json_t *sim_status_not_acceptable(bool watch)
{
    const char *types =
        watch ? "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
              : "application/json, application/yaml, application/vnd.kubernetes.protobuf";
    return status_of(406, "NotAcceptable",
                     sim_textf("only the following media types are accepted: %s", types), NULL);
}

json_t *sim_status_other_form(const struct sim_kind *kind, const char *form, bool is_list)
{
    const char *dot = strchr(kind->group, '.');
    struct str package = {kind->group, dot ? (size_t)(dot - kind->group) : strlen(kind->group)};
    if (package.n == 0 || str_is(package, "events")) package = STR("core");
    if (kind->custom && !is_list) return sim_status(500, NULL, "content is not a list", NULL, NULL);
    if (kind->custom) package = STR("unstructured");
    const char *name = kind->custom ? "Unstructured" : kind->kind, *end = is_list ? "List" : "";
    if (is_list && !kind->custom) name = kind->list_kind, end = "";
    json_t *message = sim_textf("you requested %s, but the requested object is %s list (*%.*s.%s%s)", form,
                                is_list ? "a" : "not a", STR_ARG(package), name, end);
    return status_of(406, "NotAcceptable", message, NULL);
}

json_t *sim_status_unsupported_media(const char *accepted)
{
    json_t *message = sim_textf(
        "the body of the request was in an unknown format - accepted media types include: %s", accepted);
    return status_of(415, "UnsupportedMediaType", message, NULL);
}

json_t *sim_status_too_large(uint64_t version, uint64_t current)
{
    json_t *details = json_pack("{s:[{s:s,s:s}],s:i}", "causes", "reason", "ResourceVersionTooLarge",
                                "message", "Too large resource version", "retryAfterSeconds", 1);
    return status_of(504, "Timeout",
                     sim_textf("Timeout: Too large resource version: %llu, current: %llu",
                               (unsigned long long)version, (unsigned long long)current),
                     details);
}

json_t *sim_status_too_old(uint64_t version, uint64_t oldest)
{
    return status_of(410, "Expired",
                     sim_textf("too old resource version: %llu (%llu)", (unsigned long long)version,
                               (unsigned long long)oldest),
                     NULL);
}

json_t *sim_status_expired(const char *message, const char *continue_token)
{
    json_t *status = status_of(410, "Expired", sim_string(message), NULL);
    if (continue_token)
        json_object_set_new(sim_submap(status, "metadata"), "continue", sim_string(continue_token));
    return status;
}

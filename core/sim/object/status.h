/* Status objects with the texts of a real API server, the body of every answer that is no object (contract
 * H-8). Owner: each function returns a new reference. Everything may be called anywhere. */
#pragma once
#include "sim/object/kind.h"
#include "sim/validate/cause.h"

/* Returns the general form. A NULL or "" `reason`, and NULL `kind` and `name`, are omitted. Code below 300:
 * Success. */
json_t *sim_status(int code, const char *reason, const char *message, const struct sim_kind *kind,
                   const char *name);
/* Returns the Status of a delete that does not return the object: details name it and its uid. It has no
 * code. */
json_t *sim_status_success(const struct sim_kind *kind, const char *name, const char *uid);
/* Returns the HTTP code to respond with. */
int sim_status_code(const json_t *status);

/* Returns the reason of a code; NULL if it has none. */
const char *sim_status_reason(int code);
/* Returns the server's general message for 404, 405, 409, 415, 422 and others, without further details. A
 * JSON patch that does not apply is such a 422, a path that does not exist such a 404. */
json_t *sim_status_generic(int code);
/* 500 of what a server did not expect. */
json_t *sim_status_internal(const char *why);
json_t *sim_status_bad_request(const char *format, ...) __attribute__((format(printf, 1, 2)));
json_t *sim_status_not_found(const struct sim_kind *kind, const char *name);
json_t *sim_status_already_exists(const struct sim_kind *kind, const char *name);
/* 409 `Operation cannot be fulfilled on pods "x": <why>`. */
json_t *sim_status_conflict(const struct sim_kind *kind, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns the conflict of an update with an old resourceVersion. */
json_t *sim_status_modified(const struct sim_kind *kind, const char *name);
/* 403 of what roles have nothing to do with: `pods "x" is forbidden: <why>`. */
json_t *sim_status_forbidden(const struct sim_kind *kind, const char *name, const char *why);

/* 422 with an array of causes, which it takes. */
json_t *sim_status_invalid_causes(const struct sim_kind *kind, const char *name, json_t *causes);
/* The Status of a refusal by a function of lua/sim/: a list of 400 and a message, 403, name and reason, 404,
 * plural and name, 422 and problems (cause.h), 429, message, cause and seconds or false, or 500, a message
 * and, as of a server that did not expect it, true. `kind` and `name` are of 403 and 422. A new reference;
 * of anything but a list, such as NULL after an error in Lua, it is a 500. */
json_t *sim_status_said(const json_t *found, const struct sim_kind *kind, const char *name);
/* 422 with one cause. */
json_t *sim_status_invalid(const struct sim_kind *kind, const char *name, const char *type, const char *field,
                           const json_t *value, const char *detail);

/* 406 and 415; `accepted` is the list of media types that would do. */
/* `watch`: of a watch, which has no YAML. */
json_t *sim_status_not_acceptable(bool watch);
/* A form of lists that was requested of an object, or of objects that was requested of a list. */
json_t *sim_status_other_form(const struct sim_kind *kind, const char *form, bool is_list);
json_t *sim_status_unsupported_media(const char *accepted);
/* 504 of a version that the server has not seen yet; `current` is the newest it has. */
json_t *sim_status_too_large(uint64_t version, uint64_t current);
/* 410 of a watch from a version that is forgotten: those up to `oldest` are. */
json_t *sim_status_too_old(uint64_t version, uint64_t oldest);
/* Returns a 410; `continue_token` (may be NULL) lets the client continue with an inconsistent list. */
json_t *sim_status_expired(const char *message, const char *continue_token);

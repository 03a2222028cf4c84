/* Error responses as errors: from a Status object if there is one, else from the code (H-8); see client.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/api/client.h"
#include "kube/api/kube_call.h"
#include "object/parse/tape.h"

enum { BODY_SHOWN = 2048 }; /* H-8 */

static const char too_large[] = "Too large resource version";

struct code_name {
    int code;
    const char *reason, *message; /* message NULL: that of the server */
};

static const struct code_name code_names[] = {
    {400, "BadRequest", "the server rejected our request for an unknown reason"},
    {401, "Unauthorized", "the server has asked for the client to provide credentials"},
    {403, "Forbidden", NULL},
    {404, "NotFound", "the server could not find the requested resource"},
    {405, "MethodNotAllowed", "the server does not allow this method on the requested resource"},
    {406, "NotAcceptable", NULL},
    {409, "Conflict", "the server reported a conflict"},
    {415, "UnsupportedMediaType", NULL},
    {422, "Invalid", "the server rejected our request due to an error in our request"},
    {429, "TooManyRequests", "the server has received too many requests and has asked us to try again later"},
    {503, "ServiceUnavailable", "the server is currently unable to handle the request"},
    {504, "Timeout",
     "the server was unable to return a response in the time allotted, but may still be processing the "
     "request"},
};

static void set_reason(struct err *err, const char *reason, size_t len)
{
    snprintf(err->reason, sizeof err->reason, "%.*s", (int)len, reason);
}

static const struct code_name *find_code(int code)
{
    for (size_t i = 0; i < ARRAY_LEN(code_names); i++)
        if (code_names[i].code == code) return &code_names[i];
    return NULL;
}

static bool from_code(struct err *err, const char *method, int code, struct str body)
{
    const struct code_name *name = find_code(code);
    body = str_trim(body);
    if (body.n > BODY_SHOWN) body.n = BODY_SHOWN;
    if (name && (name->message || !body.n))
        err_set(err, ERR_HTTP, "%s", name->message ? name->message : "the server refused the request");
    else if (name)
        err_set(err, ERR_HTTP, "%.*s", STR_ARG(body));
    else if (code >= 500)
        err_set(err, ERR_HTTP, "an error on the server (\"%.*s\") has prevented the request from succeeding",
                STR_ARG(body));
    else
        err_set(err, ERR_HTTP,
                "the server responded with the status code %d but did not return more information", code);
    const char *reason = name ? name->reason : code >= 500 ? "InternalError" : "";
    if (code == 409 && method && strcmp(method, "POST") == 0) reason = "AlreadyExists";
    set_reason(err, reason, strlen(reason));
    return false;
}

static bool contains(struct str text, const char *part)
{
    return text.n && memmem(text.p, text.n, part, strlen(part));
}

/* Returns whether the version is too large, in all historical forms of the error. */
static bool is_too_large(const struct tape *tape, size_t status, struct str reason)
{
    size_t details = tape_field(tape, status, STR("details"));
    size_t causes = tape_field(tape, details, STR("causes"));
    bool timeout = str_is(reason, "Timeout");
    if (tape_type(tape, details) != '{') return false;
    for (size_t at = tape_first(tape, causes, NULL); at; at = tape_next(tape, causes, at, NULL)) {
        if (str_is(tape_str(tape, tape_field(tape, at, STR("reason"))), "ResourceVersionTooLarge"))
            return true;
        if (timeout && str_is(tape_str(tape, tape_field(tape, at, STR("message"))), too_large)) return true;
    }
    return timeout && contains(tape_str(tape, tape_field(tape, status, STR("message"))), too_large);
}

/* The causes for which the error has room. */
static void take_causes(struct err *err, const struct tape *tape, size_t details)
{
    size_t causes = tape_field(tape, details, STR("causes"));
    if (tape_type(tape, details) != '{' || tape_type(tape, causes) != '[') return;
    for (size_t at = tape_first(tape, causes, NULL); at; at = tape_next(tape, causes, at, NULL)) {
        const struct err_cause cause = {
            .reason = tape_str(tape, tape_field(tape, at, STR("reason"))),
            .field = tape_str(tape, tape_field(tape, at, STR("field"))),
            .message = tape_str(tape, tape_field(tape, at, STR("message"))),
        };
        if (!err_add_cause(err, &cause)) return;
    }
}

static bool is_status(const struct tape *tape, size_t at)
{
    return tape_type(tape, at) == '{' && str_is(tape_str(tape, tape_field(tape, at, STR("kind"))), "Status");
}

/* H-3: by the response itself, which may not be of the server whose Status it carries. */
static bool requests_wait(int http_status, int64_t retry_after_ms)
{
    return retry_after_ms >= 0 && (http_status == 429 || http_status >= 500);
}

bool kube_status_error_tape(struct err *err, const struct tape *tape, size_t at, int http_status,
                            int64_t retry_after_ms)
{
    struct str reason = tape_str(tape, tape_field(tape, at, STR("reason")));
    struct str message = tape_str(tape, tape_field(tape, at, STR("message")));
    size_t details = tape_field(tape, at, STR("details"));
    int code = (int)tape_int(tape, tape_field(tape, at, STR("code")), 0);
    if (code <= 0) code = http_status;
    if (message.n)
        err_set(err, ERR_HTTP, "%.*s", STR_ARG(message));
    else if (reason.n)
        err_set(err, ERR_HTTP, "%.*s", STR_ARG(reason));
    else
        from_code(err, NULL, code, (struct str){0});
    if (reason.n) set_reason(err, reason.p, reason.n);
    err->http_status = code;
    err->too_large_version = is_too_large(tape, at, reason);
    take_causes(err, tape, details);
    int64_t wait_s = tape_int(tape, tape_field(tape, details, STR("retryAfterSeconds")), 0);
    err->has_retry_after = requests_wait(http_status, retry_after_ms);
    err->retry_after_ms = retry_after_ms >= 0                 ? retry_after_ms
                          : wait_s > 0 && wait_s <= INT32_MAX ? wait_s * 1000
                                                              : -1;
    return false;
}

bool kube_status_error(struct err *err, const char *method, int http_status, int64_t retry_after_ms,
                       const char *body, size_t len)
{
    struct tape_parser *parser = tape_parser_new();
    struct tape tape;
    char *padded = xcalloc(1, len + TAPE_PADDING);
    if (len) memcpy(padded, body, len);
    if (tape_parse(parser, padded, len, &tape, NULL) && is_status(&tape, tape_root(&tape))) {
        kube_status_error_tape(err, &tape, tape_root(&tape), http_status, retry_after_ms);
    } else {
        from_code(err, method, http_status, (struct str){padded, len});
        err->http_status = http_status;
        err->retry_after_ms = retry_after_ms;
        err->has_retry_after = requests_wait(http_status, retry_after_ms);
    }
    free(padded);
    tape_parser_free(parser);
    return false;
}

static bool is_known(const char *reason)
{
    static const char *const others[] = {"AlreadyExists", "Gone",          "Expired", "RequestEntityTooLarge",
                                         "ServerTimeout", "InternalError", NULL};
    for (size_t i = 0; i < ARRAY_LEN(code_names); i++)
        if (strcmp(code_names[i].reason, reason) == 0) return true;
    for (size_t i = 0; others[i]; i++)
        if (strcmp(others[i], reason) == 0) return true;
    return false;
}

/* H-9: the reason first, the code only when the reason is none that the API knows. */
static bool reason_or_code(const struct err *err, const char *reason, int code)
{
    if (err->code != ERR_HTTP) return false;
    if (strcmp(err->reason, reason) == 0) return true;
    return err->http_status == code && !is_known(err->reason);
}

bool kube_err_is_expired(const struct err *err)
{
    return (err->code == ERR_HTTP && strcmp(err->reason, "Expired") == 0) || reason_or_code(err, "Gone", 410);
}

bool kube_err_is_internal(const struct err *err)
{
    return reason_or_code(err, "InternalError", 500);
}

bool kube_err_is_too_many_requests(const struct err *err)
{
    return err->code == ERR_HTTP && (err->http_status == 429 || strcmp(err->reason, "TooManyRequests") == 0);
}

bool kube_err_is_connection_refused(const struct err *err)
{
    return err->code == ERR_CONNECT && strcmp(err->reason, HTTP_REASON_REFUSED) == 0;
}

/* --- Retries of requests */

enum { BROKEN_WAIT_MS = 1000 }; /* H-4 */

bool kube_should_retry(const struct err *err, unsigned tries, int64_t *wait_ms)
{
    if (err->code != ERR_HTTP || err->too_large_version || tries >= KUBE_RETRIES_MAX) return false;
    if (!err->has_retry_after || err->retry_after_ms > KUBE_RETRY_WAIT_MAX_MS) return false;
    *wait_ms = err->retry_after_ms;
    return true;
}

bool kube_should_retry_read(const struct err *err, unsigned tries, bool has_response, int64_t *wait_ms)
{
    if (kube_should_retry(err, tries, wait_ms)) return true;
    *wait_ms = BROKEN_WAIT_MS;
    return err->code == ERR_CLOSED && !has_response && tries < KUBE_RETRIES_MAX;
}

void kube_append_previous_error(struct err *err, const struct err *previous)
{
    if (previous->code != ERR_NONE && strcmp(previous->text, err->text) != 0)
        err_append(err, "; previous attempt: %s", previous->text);
}

/* Requests, replies, and the buffers of streams; see request.h. */
#include "sim/store/request.h"

#include <poll.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sim/object/status.h"

const char *sim_query(const struct sim_request *request, const char *key)
{
    for (size_t i = 0; i < request->query_count; i++)
        if (strcmp(request->query[i].key, key) == 0) return request->query[i].value;
    return NULL;
}

bool sim_query_true(const struct sim_request *request, const char *key)
{
    const char *value = sim_query(request, key);
    return value && strcasecmp(value, "false") != 0 && strcmp(value, "0") != 0; /* even when it is empty */
}

const char *sim_header(const struct sim_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (strcasecmp(request->headers[i].key, name) == 0) return request->headers[i].value;
    return NULL;
}

const char *sim_verb_of(const struct sim_request *request, bool named)
{
    static const char *const verbs[][3] = {{"POST", "create", "create"},
                                           {"PUT", "update", "update"},
                                           {"PATCH", "patch", "patch"},
                                           {"DELETE", "deletecollection", "delete"},
                                           {"GET", "list", "get"}};
    if (strcmp(request->method, "GET") == 0 && !named && sim_query_true(request, "watch")) return "watch";
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (strcmp(request->method, verbs[i][0]) == 0) return verbs[i][named ? 2 : 1];
    return "";
}

bool sim_has_type(const struct sim_request *request, const char *type)
{
    size_t n = strlen(type);
    return strncasecmp(request->content_type, type, n) == 0 &&
           (!request->content_type[n] || strchr("; ", request->content_type[n]));
}

void sim_reply_status(struct sim_reply *reply, json_t *status)
{
    json_t *retry = json_object_get(json_object_get(status, "details"), "retryAfterSeconds");
    reply->code = sim_status_code(status);
    reply->retry_after_s = (int)json_integer_value(retry);
    reply->json = status;
}

/* Responds with empty details. */
static void reply_general(struct sim_reply *reply, int code)
{
    json_t *status = sim_status_generic(code);
    json_object_set_new(status, "details", json_object());
    sim_reply_status(reply, status);
}

void sim_reply_not_found(struct sim_reply *reply)
{
    reply_general(reply, 404);
}

void sim_reply_not_allowed(struct sim_reply *reply)
{
    reply_general(reply, 405);
}

void sim_reply_not_acceptable(struct sim_reply *reply, bool streams)
{
    static const char types[] = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
    char *message = xasprintf(
        "406: Not Acceptable\n\nAvailable representations: %s%s", types,
        streams ? ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch" : "");
    json_t *status = sim_status(406, "NotAcceptable", message, NULL, NULL);
    json_object_set_new(status, "details", json_object());
    sim_reply_status(reply, status);
    free(message);
}

void sim_reply_no_page(struct sim_reply *reply)
{
    reply->code = 404;
    reply->content_type = "text/plain; charset=utf-8";
    buf_puts(&reply->text, "404 page not found\n");
}

void sim_reply_clear(struct sim_reply *reply)
{
    json_decref(reply->json);
    json_decref(reply->warnings);
    buf_clear(&reply->text);
    if (reply->stream) reply->stream->free(reply->stream);
    *reply = (struct sim_reply){0};
}

void sim_out_begin(struct sim_out *out, char *to, size_t room)
{
    struct str kept = {out->kept.data + out->kept_at, out->kept.len - out->kept_at};
    size_t n = kept.n < room ? kept.n : room;
    out->to = to;
    out->room = room;
    out->len = n;
    if (n) memcpy(to, kept.p, n);
    out->kept_at += n;
    if (out->kept_at == out->kept.len) out->kept_at = out->kept.len = 0;
}

void sim_out_put(struct sim_out *out, struct str bytes)
{
    size_t fits = out->room - out->len;
    size_t n = out->kept.len ? 0 : bytes.n < fits ? bytes.n : fits;
    if (n) memcpy(out->to + out->len, bytes.p, n);
    out->len += n;
    buf_append(&out->kept, bytes.p + n, bytes.n - n);
}

bool sim_out_full(const struct sim_out *out)
{
    return out->len == out->room || out->kept.len > 0;
}

void sim_out_clear(struct sim_out *out)
{
    buf_clear(&out->kept);
}

bool sim_out_act(struct sim_out *out, struct sim_action *action, enum sim_then *then, int fd)
{
    bool ok = !action->pause_ms || sim_wait(fd, action->pause_ms);
    if (action->text) sim_out_put(out, (struct str){action->text, action->len});
    *then = action->then;
    sim_action_free(action);
    return ok;
}

ssize_t sim_stream_end(enum sim_then then, int fd)
{
    if (then == SIM_THEN_SILENCE) sim_wait(fd, -1);
    if (then == SIM_THEN_RESET) return SIM_STREAM_RESET;
    return then == SIM_THEN_GO_ON || then == SIM_THEN_END ? SIM_STREAM_END : SIM_STREAM_BROKEN;
}

bool sim_wait(int fd, int64_t ms)
{
    struct pollfd closed = {.fd = fd, .events = POLLRDHUP};
    int64_t until_ms = clock_now_ms(clock_real()) + ms;
    for (;;) {
        int64_t left_ms = ms < 0 ? 60000 : until_ms - clock_now_ms(clock_real());
        int wait_ms = left_ms <= 0 ? 0 : left_ms < 60000 ? (int)left_ms : 60000;
        if (poll(&closed, 1, wait_ms) > 0) return false;
        if (wait_ms == 0) return true;
    }
}

/* One request for one object; see object_call.h. */
#include "kube/api/object_call.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "kube/api/kube_call.h"
#include "kube/kinds/resource.h"
#include "object/parse/tape.h"

struct object_call {
    struct kube_client *client;
    struct buf path;
    bool writes, is_nameless; /* the response may have no name */
    bool is_text;
    struct kube_call *call;
    struct timer late; /* reports a name that is not allowed in a path */
    struct err err;    /* for that */
    object_done *done;
    void *ctx;
};

static void finish(struct object_call *call, struct object_response *response)
{
    if (response->err) response->http_status = response->err->http_status;
    call->done(call->ctx, response);
    object_call_cancel(call);
}

/* Unpacks the response. A Status of success is not an object: fine for a write, an error for a read. */
static bool unpack(struct object_call *call, const struct kube_response *response, struct root **object,
                   struct err *err)
{
    const struct pack_type type = {.nameless = call->is_nameless};
    struct tape tape;
    struct tape_parser *parser = kube_client_parser(call->client);
    *object = NULL;
    if (!tape_parse(parser, response->body, response->len, &tape, err))
        return err_wrap(err, "%s", buf_text(&call->path));
    size_t kind =
        tape_type(&tape, tape_root(&tape)) == '{' ? tape_field(&tape, tape_root(&tape), STR("kind")) : 0;
    bool is_status = str_is(tape_str(&tape, kind), "Status");
    if (is_status && !call->writes)
        return err_set(err, ERR_PARSE, "%s: the server returned no object", buf_text(&call->path));
    if (is_status) return true;
    if (pack_tape(kube_client_packer(call->client), &tape, tape_root(&tape), &type, object, err)) return true;
    return err_wrap(err, "%s", buf_text(&call->path));
}

/* "application/json; charset=utf-8", "application/openapi+json" */
static bool is_json(const char *content_type)
{
    struct str rest = str_of(content_type), type;
    str_cut(&rest, ';', &type);
    type = str_trim(type);
    return str_is(type, "application/json") || str_ends(type, STR("+json"));
}

static void on_response(void *ctx, const struct kube_response *response, const struct err *err)
{
    struct object_call *call = ctx;
    struct object_response result = {.http_status = response ? response->http_status : 0, .err = err};
    struct err cause;
    call->call = NULL;
    if (response && call->is_text) {
        result.text = (struct str){response->body, response->len};
        result.is_json = is_json(response->content_type);
    } else if (response && !unpack(call, response, &result.object, &cause)) {
        result.err = &cause;
    }
    finish(call, &result);
}

static void on_late(struct timer *timer)
{
    struct object_call *call = container_of(timer, struct object_call, late);
    finish(call, &(struct object_response){.err = &call->err});
}

struct object_call *object_call_start(struct kube_client *client, const struct object_request *request,
                                      object_done *done, void *ctx)
{
    struct object_call *call = NEW(struct object_call);
    call->client = client;
    call->is_text = request->verb == OBJECT_TEXT;
    call->writes = !call->is_text && request->verb != OBJECT_GET && request->verb != OBJECT_TABLE;
    call->is_nameless = request->verb != OBJECT_GET; /* a Table, a SubjectAccessReview */
    call->done = done;
    call->ctx = ctx;
    call->late.fn = on_late;
    err_clear(&call->err);
    if (object_request_path(request, &call->path, &call->err))
        call->call =
            kube_call_start(client,
                            &(struct kube_request){
                                .method = object_request_method(request),
                                .path = buf_text(&call->path),
                                .accept = object_request_accept(request),
                                .content_type = object_request_type(request),
                                .body = request->body,
                                .limit = call->is_text ? request->limit : kube_client_max_object_size(client),
                                .timeout_ms = request->timeout_ms,
                                .urgent = request->urgent,
                                .once = request->once,
                                .own_connection = request->own_connection,
                                .fence = request->fence,
                            },
                            on_response, call);
    else
        timer_start(&call->late, loop_clock(kube_client_loop(client)), 0);
    return call;
}

void object_call_cancel(struct object_call *call)
{
    if (!call) return;
    timer_cancel(&call->late);
    kube_call_cancel(call->call);
    buf_clear(&call->path);
    free(call);
}

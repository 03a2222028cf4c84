/* SelfSubjectAccessReviews; see access_review.h. A SelfSubjectRulesReview would cover all checks of a
 * namespace at once, but does not distinguish permissions of all namespaces from those of one, and may be
 * incomplete if other authorizers than RBAC are used. */
#include "kube/api/access_review.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text/json_out.h"
#include "kube/api/kube_call.h"
#include "object/parse/tape.h"

enum { RESPONSE_MAX = 1 << 20, AT_ONCE = 8 };

static const char path[] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

struct review_request {
    struct access_review *review;
    struct access_check *check;
    struct kube_call *call;
};

struct access_review {
    struct kube_client *client;
    struct review_request *requests;
    size_t count, started, finished;
    struct timer none; /* reports that there was nothing to check */
    void (*done)(void *ctx, const struct err *err);
    void *ctx;
};

static void finish(struct access_review *review, const struct err *err)
{
    struct err copy;
    if (err) copy = *err;
    review->done(review->ctx, err ? &copy : NULL);
    access_review_cancel(review);
}

static void write_resource(const struct access_check *check, struct buf *out)
{
    struct str subresource = str_of(check->resource), resource;
    str_cut(&subresource, '/', &resource);
    json_open(out, "resourceAttributes", '{');
    json_text(out, "verb", check->verb);
    json_text(out, "group", check->group);
    json_str(out, "resource", resource);
    json_str_unless_empty(out, "subresource", subresource);
    json_str_unless_empty(out, "name", str_of(check->name));
    json_str_unless_empty(out, "namespace", str_of(check->ns));
    json_close(out, '}');
}

static void write_path(const struct access_check *check, struct buf *out)
{
    json_open(out, "nonResourceAttributes", '{');
    json_text(out, "verb", check->verb);
    json_text(out, "path", check->path);
    json_close(out, '}');
}

static void write_body(const struct access_check *check, struct buf *out)
{
    buf_puts(out, "{\"kind\":\"SelfSubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/v1\","
                  "\"spec\":{");
    if (nonempty(check->path))
        write_path(check, out);
    else
        write_resource(check, out);
    buf_puts(out, "}}");
}

/* Reads the response; fields that it omits are false. */
static bool read_response(struct review_request *request, const struct kube_response *response,
                          struct err *err)
{
    struct tape tape;
    if (!tape_parse(kube_client_parser(request->review->client), response->body, response->len, &tape, err))
        return err_wrap(err, "POST %s", path);
    size_t root = tape_root(&tape);
    size_t status = tape_type(&tape, root) == '{' ? tape_field(&tape, root, STR("status")) : 0;
    if (tape_type(&tape, status) != '{')
        return err_set(err, ERR_PARSE, "POST %s: the response has no status", path);
    request->check->allowed = tape_bool(&tape, tape_field(&tape, status, STR("allowed")), false);
    return true;
}

static void send_more(struct access_review *review);

static void on_response(void *ctx, const struct kube_response *response, const struct err *err)
{
    struct review_request *request = ctx;
    struct access_review *review = request->review;
    struct err cause;
    request->call = NULL;
    review->finished++;
    if (err) {
        cause = *err;
        err_wrap(&cause, "POST %s", path);
        finish(review, &cause);
    } else if (!read_response(request, response, &cause)) {
        finish(review, &cause);
    } else if (review->finished == review->count) {
        finish(review, NULL);
    } else {
        send_more(review);
    }
}

static void send_more(struct access_review *review)
{
    while (review->started < review->count && review->started - review->finished < AT_ONCE) {
        struct review_request *request = &review->requests[review->started++];
        struct buf body = {0};
        write_body(request->check, &body);
        request->call = kube_call_start(review->client,
                                        &(struct kube_request){.method = "POST",
                                                               .path = path,
                                                               .content_type = "application/json",
                                                               .body = buf_slice(&body),
                                                               .limit = RESPONSE_MAX},
                                        on_response, request);
        buf_clear(&body);
    }
}

static void on_none(struct timer *timer)
{
    finish(container_of(timer, struct access_review, none), NULL);
}

struct access_review *access_review_start(struct kube_client *client, struct access_check *checks,
                                          size_t count, void (*done)(void *ctx, const struct err *err),
                                          void *ctx)
{
    struct access_review *review = NEW(struct access_review);
    *review = (struct access_review){.client = client,
                                     .requests = xcalloc(count ? count : 1, sizeof(struct review_request)),
                                     .count = count,
                                     .none = {.fn = on_none},
                                     .done = done,
                                     .ctx = ctx};
    for (size_t i = 0; i < count; i++)
        review->requests[i] = (struct review_request){.review = review, .check = &checks[i]};
    if (count)
        send_more(review);
    else
        timer_start(&review->none, loop_clock(kube_client_loop(client)), 0);
    return review;
}

void access_review_cancel(struct access_review *review)
{
    if (!review) return;
    timer_cancel(&review->none);
    for (size_t i = 0; i < review->count; i++) kube_call_cancel(review->requests[i].call);
    free(review->requests);
    free(review);
}

/* TokenReview and SubjectAccessReview; see token_review.h. */
#include "kube/api/token_review.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/json_out.h"
#include "kube/api/kube_call.h"
#include "object/parse/tape.h"

enum { RESPONSE_MAX = 1 << 20 };

static const char tokens_path[] = "/apis/authentication.k8s.io/v1/tokenreviews";
static const char access_path[] = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

struct token_review {
    struct kube_client *client;
    struct kube_call *call;
    char *path;
    int64_t timeout_ms;
    token_review_done *done;
    void *ctx;
};

typedef void on_response_fn(void *ctx, const struct kube_response *response, const struct err *err);

static void finish(struct token_review *review, enum token_verdict verdict, const struct err *err)
{
    review->done(review->ctx, verdict, err);
    free(review->path);
    free(review);
}

static void fail(struct token_review *review, const char *path, const struct err *err)
{
    struct err cause = *err;
    err_wrap(&cause, "POST %s", path);
    finish(review, TOKEN_UNDECIDED, &cause);
}

static void post(struct token_review *review, const char *path, struct str body, on_response_fn *done)
{
    review->call = kube_call_start(review->client,
                                   &(struct kube_request){.method = "POST",
                                                          .path = path,
                                                          .content_type = "application/json",
                                                          .body = body,
                                                          .limit = RESPONSE_MAX,
                                                          .timeout_ms = review->timeout_ms,
                                                          .urgent = true},
                                   done, review);
}

/* Returns the status of a review that the server returned; 0 and err: it has none. */
static size_t status_of(struct token_review *review, const struct kube_response *response, struct tape *tape,
                        struct err *err)
{
    if (!tape_parse(kube_client_parser(review->client), response->body, response->len, tape, err)) return 0;
    size_t root = tape_root(tape);
    size_t status = tape_type(tape, root) == '{' ? tape_field(tape, root, STR("status")) : 0;
    if (tape_type(tape, status) == '{') return status;
    err_set(err, ERR_PARSE, "the response has no status");
    return 0;
}

/* --- what the user may */

static void on_access(void *ctx, const struct kube_response *response, const struct err *err)
{
    struct token_review *review = ctx;
    struct tape tape;
    struct err cause;
    review->call = NULL;
    size_t status = err ? 0 : status_of(review, response, &tape, &cause);
    if (!status)
        fail(review, access_path, err ? err : &cause);
    else if (tape_bool(&tape, tape_field(&tape, status, STR("allowed")), false))
        finish(review, TOKEN_ALLOWED, NULL);
    else
        finish(review, TOKEN_FORBIDDEN, NULL);
}

static void put_strings(const struct tape *tape, size_t list, const char *key, struct buf *out)
{
    if (tape_type(tape, list) != '[') return;
    json_open(out, key, '[');
    for (size_t at = tape_first(tape, list, NULL); at; at = tape_next(tape, list, at, NULL))
        json_str(out, NULL, tape_str(tape, at));
    json_close(out, ']');
}

static void put_extra(const struct tape *tape, size_t extra, struct buf *out)
{
    struct str key;
    if (tape_type(tape, extra) != '{') return;
    json_open(out, "extra", '{');
    for (size_t at = tape_first(tape, extra, &key); at; at = tape_next(tape, extra, at, &key)) {
        char *name = xstrndup(key.p, key.n);
        put_strings(tape, at, name, out);
        free(name);
    }
    json_close(out, '}');
}

static void review_access(struct token_review *review, const struct tape *tape, size_t user)
{
    struct buf body = {0};
    buf_puts(&body,
             "{\"kind\":\"SubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/v1\",\"spec\":{");
    json_str(&body, "user", tape_str(tape, tape_field(tape, user, STR("username"))));
    json_str_unless_empty(&body, "uid", tape_str(tape, tape_field(tape, user, STR("uid"))));
    put_strings(tape, tape_field(tape, user, STR("groups")), "groups", &body);
    put_extra(tape, tape_field(tape, user, STR("extra")), &body);
    json_open(&body, "nonResourceAttributes", '{');
    json_text(&body, "path", review->path);
    json_text(&body, "verb", "get");
    buf_puts(&body, "}}}");
    post(review, access_path, buf_slice(&body), on_access);
    buf_clear(&body);
}

/* --- whose token it is */

static void on_token(void *ctx, const struct kube_response *response, const struct err *err)
{
    struct token_review *review = ctx;
    struct tape tape;
    struct err cause;
    review->call = NULL;
    size_t status = err ? 0 : status_of(review, response, &tape, &cause);
    if (!status) {
        fail(review, tokens_path, err ? err : &cause);
        return;
    }
    size_t user = tape_field(&tape, status, STR("user"));
    bool is_known = tape_bool(&tape, tape_field(&tape, status, STR("authenticated")), false);
    if (is_known && tape_type(&tape, user) == '{')
        review_access(review, &tape, user);
    else
        finish(review, TOKEN_INVALID, NULL);
}

struct token_review *token_review_start(struct kube_client *client, struct str token, const char *path,
                                        int64_t timeout_ms, token_review_done *done, void *ctx)
{
    struct token_review *review = NEW(struct token_review);
    *review = (struct token_review){
        .client = client, .path = xstrdup(path), .timeout_ms = timeout_ms, .done = done, .ctx = ctx};
    struct buf body = {0};
    buf_puts(&body, "{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/v1\",\"spec\":{");
    json_str(&body, "token", token);
    buf_puts(&body, "}}");
    post(review, tokens_path, buf_slice(&body), on_token);
    explicit_bzero(body.data, body.len);
    buf_clear(&body);
    return review;
}

void token_review_cancel(struct token_review *review)
{
    if (!review) return;
    kube_call_cancel(review->call);
    free(review->path);
    free(review);
}

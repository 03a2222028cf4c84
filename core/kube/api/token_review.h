/* Whether a bearer token may get a path of this process: the server reviews the token (TokenReview), then the
 * permission of its user on that non-resource URL (SubjectAccessReview), as for the metrics of Kubernetes'
 * own components. Owner: the I/O thread. `done` comes on that thread, once, never from inside the start. */
#pragma once
#include "kube/api/client.h"

enum token_verdict {
    TOKEN_UNDECIDED, /* with an error */
    TOKEN_ALLOWED,
    TOKEN_INVALID,   /* it is of nobody */
    TOKEN_FORBIDDEN, /* its user may not */
};

typedef void token_review_done(void *ctx, enum token_verdict verdict, const struct err *err);

struct token_review;

/* The token is sent and not kept; `path` is copied: "/metrics". Each of the two requests has `timeout_ms`,
 * and is not delayed by --kube-api-qps. */
struct token_review *token_review_start(struct kube_client *client, struct str token, const char *path,
                                        int64_t timeout_ms, token_review_done *done, void *ctx);
/* Cancels the review; no callback follows. NULL is allowed. */
void token_review_cancel(struct token_review *review);

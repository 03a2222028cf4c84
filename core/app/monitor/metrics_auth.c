/* Reviews of scrapes' tokens; see metrics_auth.h. */
#include "app/monitor/metrics_auth.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "app/monitor/token_cache.h"
#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"

METRIC(metric_reviews, 12, "kubelua_metrics_token_reviews_total", "Number of reviews of tokens of scrapes.");

/* A token without a verdict, and the requests that wait for it. */
struct waiting {
    struct metrics_auth *auth;
    struct token_hash hash;
    char *token;                 /* until it is sent */
    struct token_review *review; /* of the I/O thread */
    int64_t since_ms;
    struct web_client **clients;
    size_t client_count;
    TAILQ_ENTRY(waiting) link;
};

TAILQ_HEAD(waiting_list, waiting);

struct metrics_auth {
    struct kube_client *client;
    struct clock *clock;
    struct waker *queued; /* wakes the I/O thread */
    size_t in_flight;     /* of the I/O thread */
    bool has_failed;      /* the last review; of that thread, too */
    pthread_mutex_t lock;
    struct token_cache *cache;   /* under the lock, as the next ones */
    struct waiting_list waiting; /* in the order of their arrival */
    size_t waiting_count;
};

/* Code that requests are resumed with, besides verdicts. */
enum { REVIEW_FAILED = TOKEN_FORBIDDEN + 1 };

/* --- waiting tokens */

static void forget_token(struct waiting *waiting)
{
    if (!waiting->token) return;
    explicit_bzero(waiting->token, strlen(waiting->token));
    free(waiting->token);
    waiting->token = NULL;
}

static void free_waiting(struct waiting *waiting)
{
    forget_token(waiting);
    free(waiting->clients);
    free(waiting);
}

/* Under the lock. */
static void remove_waiting(struct waiting *waiting)
{
    TAILQ_REMOVE(&waiting->auth->waiting, waiting, link);
    waiting->auth->waiting_count--;
}

/* --- on the I/O thread */

/* Resumes those who wait, whom nobody joins any more. */
static void end_waiting(struct waiting *waiting, int value)
{
    for (size_t i = 0; i < waiting->client_count; i++) web_resume(waiting->clients[i], value);
    free_waiting(waiting);
}

/* Logs the first failure of several in a row. */
static void note_failure(struct metrics_auth *auth, const struct err *err)
{
    if (err && !auth->has_failed)
        log_warn("Failed to review the token of a scrape, responding 503", F("err", err->text));
    if (!err && auth->has_failed) log_info("Tokens of scrapes are reviewed again");
    auth->has_failed = err != NULL;
}

static void start_reviews(struct metrics_auth *auth);

static void on_reviewed(void *ctx, enum token_verdict verdict, const struct err *err)
{
    struct waiting *waiting = ctx;
    struct metrics_auth *auth = waiting->auth;
    waiting->review = NULL;
    auth->in_flight--;
    note_failure(auth, err);
    pthread_mutex_lock(&auth->lock);
    if (!err) token_cache_put(auth->cache, &waiting->hash, verdict, clock_now_ms(auth->clock));
    remove_waiting(waiting);
    pthread_mutex_unlock(&auth->lock);
    end_waiting(waiting, err ? REVIEW_FAILED : (int)verdict);
    start_reviews(auth);
}

/* Returns the first one that is not under review, or that is not worth one any more, removed; NULL: none. */
static struct waiting *next_waiting(struct metrics_auth *auth, bool *is_late)
{
    struct waiting *waiting;
    pthread_mutex_lock(&auth->lock);
    TAILQ_FOREACH (waiting, &auth->waiting, link)
        if (waiting->token) break;
    *is_late = waiting && clock_now_ms(auth->clock) - waiting->since_ms > METRICS_WAIT_MS;
    if (*is_late) remove_waiting(waiting);
    pthread_mutex_unlock(&auth->lock);
    return waiting;
}

static void start_reviews(struct metrics_auth *auth)
{
    struct waiting *waiting;
    bool is_late;
    while (auth->in_flight < METRICS_REVIEWS_MAX && (waiting = next_waiting(auth, &is_late))) {
        if (is_late) {
            end_waiting(waiting, REVIEW_FAILED);
            continue;
        }
        auth->in_flight++;
        metric_inc(&metric_reviews);
        waiting->review = token_review_start(auth->client, str_of(waiting->token), "/metrics",
                                             METRICS_REVIEW_MS, on_reviewed, waiting);
        forget_token(waiting);
    }
}

static void on_queued(void *ctx)
{
    start_reviews(ctx);
}

/* --- on the server's thread */

static bool respond(struct web_response *response, int status, const char *text)
{
    response->status = status;
    buf_puts(&response->body, text);
    return false;
}

static bool decide(int verdict, struct web_response *response)
{
    switch (verdict) {
    case TOKEN_ALLOWED: return true;
    case TOKEN_INVALID: return respond(response, 401, "Unauthorized\n");
    case TOKEN_FORBIDDEN:
        return respond(response, 403, "Forbidden: the user of the token may not get /metrics\n");
    default: return respond(response, 503, "the token could not be reviewed, try again later\n");
    }
}

static struct waiting *find_waiting(struct metrics_auth *auth, const struct token_hash *hash)
{
    struct waiting *waiting;
    TAILQ_FOREACH (waiting, &auth->waiting, link)
        if (token_hash_equal(&waiting->hash, hash)) return waiting;
    return NULL;
}

/* Returns NULL if there are too many. */
static struct waiting *add_waiting(struct metrics_auth *auth, const struct token_hash *hash,
                                   const char *token)
{
    if (auth->waiting_count == METRICS_WAITING_MAX) return NULL;
    struct waiting *waiting = NEW(struct waiting);
    *waiting = (struct waiting){
        .auth = auth, .hash = *hash, .token = xstrdup(token), .since_ms = clock_now_ms(auth->clock)};
    TAILQ_INSERT_TAIL(&auth->waiting, waiting, link);
    auth->waiting_count++;
    return waiting;
}

/* Returns a cached verdict, or the one of no room; else TOKEN_UNDECIDED, and the request waits. */
static int find_or_wait(struct metrics_auth *auth, const char *token, const struct web_request *request,
                        struct web_response *response)
{
    struct token_hash hash = token_hash_of(str_of(token));
    pthread_mutex_lock(&auth->lock);
    int verdict = (int)token_cache_find(auth->cache, &hash, clock_now_ms(auth->clock));
    struct waiting *waiting = verdict ? NULL : find_waiting(auth, &hash);
    if (!verdict && !waiting) waiting = add_waiting(auth, &hash, token);
    struct web_client *client = waiting ? web_suspend(request, response) : NULL;
    if (client) *array_add(waiting->clients, waiting->client_count) = client;
    pthread_mutex_unlock(&auth->lock);
    return verdict || waiting ? verdict : REVIEW_FAILED;
}

/* Returns the token of "Bearer TOKEN"; NULL: there is none. */
static const char *token_of(const struct web_request *request)
{
    static const char scheme[] = "Bearer ";
    const char *header = request->header(request, "Authorization");
    if (!header || strncasecmp(header, scheme, sizeof scheme - 1) != 0) return NULL;
    header += sizeof scheme - 1;
    return nonempty(header + strspn(header, " "));
}

bool metrics_auth_admits(struct metrics_auth *auth, const struct web_request *request,
                         struct web_response *response)
{
    if (request->resumed) return decide(request->resumed, response);
    const char *token = token_of(request);
    if (!token) return decide(TOKEN_INVALID, response);
    int verdict = find_or_wait(auth, token, request, response);
    if (verdict) return decide(verdict, response);
    waker_wake(auth->queued);
    return false;
}

/* --- from start to end */

struct metrics_auth *metrics_auth_new(struct loop *io_loop, struct kube_client *client)
{
    struct metrics_auth *auth = NEW(struct metrics_auth);
    auth->client = client;
    auth->clock = clock_real();
    auth->cache = token_cache_new();
    auth->queued = waker_new(io_loop, on_queued, auth);
    TAILQ_INIT(&auth->waiting);
    pthread_mutex_init(&auth->lock, NULL);
    return auth;
}

void metrics_auth_free(struct metrics_auth *auth)
{
    struct waiting *waiting;
    if (!auth) return;
    while ((waiting = TAILQ_FIRST(&auth->waiting))) {
        remove_waiting(waiting);
        token_review_cancel(waiting->review);
        free_waiting(waiting);
    }
    waker_free(auth->queued);
    token_cache_free(auth->cache);
    pthread_mutex_destroy(&auth->lock);
    free(auth);
}

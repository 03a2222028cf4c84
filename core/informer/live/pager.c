/* Pager: one page at a time; see pager.h. */
#include "informer/live/pager.h"

#include <limits.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/must.h"
#include "kube/api/client.h"
#include "kube/api/kube_call.h"
#include "object/value/value.h"

struct pager {
    struct pager_options options;
    char *version, *version_match;
    struct lw_call *call;
    struct timer delay;
    unsigned tries;           /* of this page (H-3, H-4) */
    bool responded;           /* its response has begun */
    bool throttled;           /* it waits as the server said, with 429 */
    struct err previous;      /* of the previous try; ERR_NONE for none */
    bool whole;               /* without pages, as they no longer belonged together (P-3) */
    bool page_complete;       /* the end of the page came */
    struct buf token;         /* of the next page; empty for the first */
    struct buf page_token;    /* the one that the page was requested with */
    struct buf found_version; /* of the first page (P-4) */
    size_t delivered;         /* objects in earlier pages */
    size_t last_reported;     /* those of the last page among them */
    size_t pages;
    struct root **objects; /* of this page */
    size_t count;
};

static void on_item(void *ctx, struct root *object);
static void on_list_end(void *ctx, const struct lw_list_meta *meta);
static void on_refused(void *ctx, const struct lw_refusal *refusal);
static void on_done(void *ctx, const struct err *err);

static void on_opened(void *ctx)
{
    struct pager *p = ctx;
    p->responded = true;
}

static void drop_objects(struct pager *p)
{
    for (size_t i = 0; i < p->count; i++) root_unref(p->objects[i]);
    free(p->objects);
    p->objects = NULL;
    p->count = 0;
}

static size_t room(const struct pager *p)
{
    return p->options.limit ? p->options.limit - p->delivered : SIZE_MAX;
}

/* Returns the limit of the next page: never more than is still wanted. */
static int page_limit(const struct pager *p)
{
    size_t limit = p->options.page_size < room(p) ? p->options.page_size : room(p);
    if (p->whole) limit = p->options.limit ? room(p) : 0;
    return limit < INT_MAX ? (int)limit : INT_MAX;
}

/* Requests a page. Pages after the first carry only token and limit (P-2). */
static void request(struct pager *p)
{
    static const struct lw_sink sink = {.item = on_item,
                                        .list_end = on_list_end,
                                        .refused = on_refused,
                                        .done = on_done,
                                        .opened = on_opened};
    bool first = p->token.len == 0;
    p->page_complete = p->responded = false;
    p->page_token.len = 0;
    buf_str(&p->page_token, buf_slice(&p->token));
    p->call = lw_start(p->options.source,
                       &(struct lw_options){
                           .verb = LW_LIST,
                           .resource_version = first ? p->version : "",
                           .resource_version_match = first ? p->version_match : "",
                           .limit = page_limit(p),
                           .continue_token = first ? "" : buf_text(&p->token),
                       },
                       &sink, p);
}

static void note_throttled(struct pager *p, int64_t wait_ms)
{
    struct list_watch *source = p->options.source;
    bool waits = wait_ms >= 0;
    if (waits != p->throttled && source->ops->throttled) source->ops->throttled(source, wait_ms);
    p->throttled = waits;
}

static void on_delay(struct timer *timer)
{
    struct pager *p = container_of(timer, struct pager, delay);
    note_throttled(p, -1);
    request(p);
}

static void fail(struct pager *p, const struct err *err)
{
    struct err reported = *err; /* copied, as it may belong to the call that ends here */
    kube_append_previous_error(&reported, &p->previous); /* H-7 */
    if (p->call) p->options.source->ops->cancel(p->call);
    p->call = NULL;
    drop_objects(p);
    p->options.page(p->options.ctx, NULL, &reported);
}

static void on_item(void *ctx, struct root *object)
{
    struct pager *p = ctx;
    if (p->count >= room(p)) { /* of a server that gives more than was requested */
        root_unref(object);
        return;
    }
    if (p->count == p->options.page_max) {
        struct err err;
        err_set(&err, ERR_LIMIT, "the server returned more than %zu objects at once", p->options.page_max);
        root_unref(object);
        fail(p, &err);
        return;
    }
    *array_add(p->objects, p->count) = object;
}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    const struct pager *p = ctx;
    if (p->options.refused)
        p->options.refused(p->options.ctx, refusal);
    else
        log_warn("Object refused", F("err", refusal->err->text));
}

static void on_list_end(void *ctx, const struct lw_list_meta *meta)
{
    struct pager *p = ctx;
    p->page_complete = true;
    p->token.len = 0;
    buf_str(&p->token, meta->continue_token);
    if (p->pages > 0) return;
    p->found_version.len = 0;
    buf_str(&p->found_version, meta->resource_version);
}

/* Delivers a page. An empty token is the end, whatever the number of items (P-4); a single page is a complete
 * list (P-5). */
static void notify_page(struct pager *p)
{
    struct page page = {
        .objects = p->objects,
        .count = p->count,
        .resource_version = buf_text(&p->found_version),
        .from_start = p->pages == 0,
    };
    p->objects = NULL;
    p->count = 0;
    p->pages++;
    p->delivered += page.count;
    p->last_reported = page.count;
    /* Each page has its own tries: a long list must not fail because of rare errors that add up. */
    p->tries = 0;
    err_clear(&p->previous);
    page.last = p->token.len == 0 || room(p) == 0;
    p->options.page(p->options.ctx, &page, NULL);
}

/* Requests the complete list at once, with the parameters of the first request (P-3). */
static void list_whole(struct pager *p)
{
    p->whole = true;
    p->pages = p->delivered = p->token.len = 0;
    request(p);
}

static void on_done(void *ctx, const struct err *err)
{
    struct pager *p = ctx;
    struct err cause;
    int64_t wait_ms;
    p->call = NULL;
    if (!err && !p->page_complete) {
        err_set(&cause, ERR_CLOSED, "the list ended before it was complete");
        err = &cause;
    }
    if (!err) {
        notify_page(p);
        return;
    }
    drop_objects(p);
    if (p->options.whole_if_expired && p->pages > 0 && !p->whole && kube_err_is_expired(err)) {
        list_whole(p);
    } else if (kube_should_retry_read(err, p->tries, p->responded, &wait_ms)) { /* H-3, H-4 */
        p->tries++;
        p->previous = *err;
        if (err->http_status == 429) note_throttled(p, wait_ms);
        timer_start(&p->delay, p->options.clock, wait_ms);
    } else {
        fail(p, err);
    }
}

struct pager *pager_new(const struct pager_options *options)
{
    struct pager *p = NEW(struct pager);
    p->options = *options;
    if (!p->options.page_size) p->options.page_size = PAGE_SIZE_DEFAULT;
    p->version = xstrdup(options->resource_version);
    p->version_match = xstrdup(options->resource_version_match);
    p->delay.fn = on_delay;
    err_clear(&p->previous);
    return p;
}

void pager_next(struct pager *p)
{
    must(!p->call && !timer_running(&p->delay));
    request(p);
}

void pager_again(struct pager *p)
{
    must(p->pages > 0 && !p->call && !timer_running(&p->delay));
    p->pages--;
    /* The limit counts the objects of a repeated page only once. */
    p->delivered -= p->last_reported;
    p->last_reported = 0;
    p->token.len = 0;
    buf_str(&p->token, buf_slice(&p->page_token));
    request(p);
}

void pager_free(struct pager *p)
{
    if (!p) return;
    timer_cancel(&p->delay);
    note_throttled(p, -1);
    if (p->call) p->options.source->ops->cancel(p->call);
    drop_objects(p);
    p->options.source->ops->free(p->options.source);
    buf_clear(&p->token);
    buf_clear(&p->page_token);
    buf_clear(&p->found_version);
    free(p->version);
    free(p->version_match);
    free(p);
}

/* List of a reflector: page by page, then one ReplacedAll; see reflector_internal.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "informer/reflect/reflector_internal.h"
#include "kube/api/client.h"

enum {
    PAGE_SIZE = 500,        /* R-9, P-1 */
    EMPTY_PAGES_MAX = 1000, /* in a row; bounds a server that would send continue tokens for ever */
};

void list_progress_clear(struct list_progress *list)
{
    collection_clear(&list->objects);
    refusals_clear(&list->refusals);
    buf_clear(&list->token);
    buf_clear(&list->found_version);
    *list = (struct list_progress){0};
}

/* Returns the last version, so that a list never goes back in time; "0" lets the server answer from its
 * cache; "" reads the newest state after an expired version. */
static const char *version_to_list(struct reflector *r)
{
    if (r->version_unavailable) return "";
    const char *newest = reflector_newest_version(r);
    return *newest ? newest : "0";
}

/* A list at a real version is served from the server's cache only if it is not cut into pages; pages would
 * read from etcd. */
static int page_size(const struct reflector *r, const char *version)
{
    if (r->options.tuning.page_size) return r->options.tuning.page_size;
    if (r->pages_always) return PAGE_SIZE;
    return *version && strcmp(version, "0") != 0 ? 0 : PAGE_SIZE;
}

static void on_item(void *ctx, struct root *object);
static void on_skipped(void *ctx);
static void on_list_end(void *ctx, const struct lw_list_meta *meta);
static void on_refused(void *ctx, const struct lw_refusal *refusal);
static void on_done(void *ctx, const struct err *err);

/* Pages after the first carry only token and limit: a server rejects a version beside a token (P-2). */
static void request_page(struct reflector *r)
{
    static const struct lw_sink sink = {.item = on_item,
                                        .skipped = on_skipped,
                                        .list_end = on_list_end,
                                        .refused = on_refused,
                                        .done = on_done};
    struct list_progress *list = &r->list;
    bool first = list->token.len == 0;
    list->page_complete = false;
    list->empty_pages++; /* reset by the first item */
    r->call = lw_start(r->options.source,
                       &(struct lw_options){
                           .verb = LW_LIST,
                           .resource_version = first ? list->version : "",
                           .resource_version_match = "",
                           .limit = list->whole ? 0 : list->limit,
                           .own_connection = list->alone,
                           .continue_token = first ? "" : buf_text(&list->token),
                       },
                       &sink, r);
}

static void start_over(struct reflector *r)
{
    struct list_progress *list = &r->list;
    collection_clear(&list->objects);
    refusals_clear(&list->refusals);
    /* Objects of pages from two snapshots must not be mixed. */
    list->token.len = list->found_version.len = 0;
    list->pages = 0;
    list->empty_pages = 0;
    list->expected = 0;
    reflector_received(r, true);
    reflector_count(r, &r->status.counters.lists, 1);
    request_page(r);
}

void reflector_start_list(struct reflector *r, bool alone)
{
    list_progress_clear(&r->list);
    if (r->options.followed) followed_list_begins(r->options.followed);
    if (r->options.gains && gains_reset(r->options.gains)) r->version_unavailable = true;
    r->list.version = version_to_list(r);
    r->list.limit = page_size(r, r->list.version);
    r->list.alone = alone;
    r->list.started_ms = clock_now_ms(r->options.clock);
    reflector_enter(r, REFLECTOR_LISTING);
    start_over(r);
}

static void on_skipped(void *ctx)
{
    ((struct reflector *)ctx)->list.empty_pages = 0;
}

static void on_item(void *ctx, struct root *object)
{
    struct list_progress *list = &((struct reflector *)ctx)->list;
    list->empty_pages = 0;
    if (!reflector_wants(ctx, object)) {
        root_unref(object);
        return;
    }
    collection_add(&list->objects, object);
    reflector_received(ctx, false);
}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    struct list_progress *list = &((struct reflector *)ctx)->list;
    if (refusal->name.n && !reflector_admits(ctx, refusal->ns)) {
        on_skipped(ctx);
        return;
    }
    reflector_refused(ctx, &list->refusals, refusal);
    list->empty_pages = 0;
    collection_refuse(&list->objects, refusal);
}

static void on_list_end(void *ctx, const struct lw_list_meta *meta)
{
    struct list_progress *list = &((struct reflector *)ctx)->list;
    reflector_count(ctx, &((struct reflector *)ctx)->status.counters.list_pages, 1);
    if (list->pages++ == 0) buf_str(&list->found_version, meta->resource_version); /* P-4 */
    struct shard_filter *shard = ((struct reflector *)ctx)->options.shard;
    if (shard) shard->selects = meta->selected;
    list->unordered = meta->unordered;
    list->token.len = 0;
    buf_str(&list->token, meta->continue_token);
    if (list->token.len) list->paginated = true;
    list->page_complete = true;
    list->expected = meta->remaining > 0 ? collection_count(&list->objects) + (size_t)meta->remaining : 0;
    reflector_received(ctx, true);
}

/* The list was all that is wanted. */
static void hand_over(struct reflector *r)
{
    reflector_recovered(r);
    reflector_enter(r, REFLECTOR_IDLE);
    r->options.listed(r->options.ctx, &r->list.objects,
                      r->list.unordered ? STR("") : buf_slice(&r->list.found_version));
}

/* Decision table, "list/Replace ok": watches from the list's version. The order of the steps is that of R-13.
 */
static void complete(struct reflector *r)
{
    struct list_progress *list = &r->list;
    char text[REFLECTOR_SYNC_TEXT_MAX];
    if (r->options.listed) {
        hand_over(r);
        return;
    }
    if (r->options.followed) followed_filter(r->options.followed, &list->objects);
    const struct list_result result = {
        .by = r->fallback.len ? REFLECTOR_SYNC_FALLBACK : REFLECTOR_SYNC_LIST,
        .text = text,
        .objects = collection_count(&list->objects),
        .pages = list->pages,
        .took_ms = clock_now_ms(r->options.clock) - list->started_ms,
    };
    r->version_unavailable = false;
    /* A server with a watch cache sends a list at "0" in one piece, whatever the limit; pages prove that it
     * has none, so unpaged lists would only load etcd. */
    if (strcmp(list->version, "0") == 0 && list->paginated) r->pages_always = true; /* */
    snprintf(text, sizeof text, "list in %zu page%s%s%s", list->pages, list->pages == 1 ? "" : "s",
             r->fallback.len ? "; " : "", buf_text(&r->fallback));
    log_v(2, "Listed", F("reflector", r->name), FI("objects", result.objects), FI("pages", list->pages),
          FS("resourceVersion", buf_slice(&list->found_version)));
    /* Before the queue has the list: a reader that finds the cache synced finds here how. */
    reflector_listed(r, &result);
    collection_replace(&list->objects, r->options.fifo, buf_text(&list->found_version),
                       clock_wall_us(r->options.clock));
    reflector_saw_version(r, buf_slice(&list->found_version));
    list_progress_clear(list);
    reflector_start_watch(r);
    if (r->options.followed) followed_watch_runs(r->options.followed);
}

/* The pages no longer belong to one snapshot: requests the complete list at once, at the version of the first
 * request (P-3). */
static void list_whole(struct reflector *r)
{
    r->list.whole = true;
    r->list.paginated = true;
    start_over(r);
}

/* Decision table, "list | Expired/Gone, too large RV": immediately one list with RV "". The list is
 * paged again as first chosen; `second_try` ends a server that rejects "" too. */
static void list_newest(struct reflector *r)
{
    r->version_unavailable = true;
    r->list.second_try = true;
    r->list.whole = r->list.paginated = false;
    r->list.version = version_to_list(r);
    start_over(r);
}

static void on_done(void *ctx, const struct err *err)
{
    struct reflector *r = ctx;
    struct list_progress *list = &r->list;
    struct err cause;
    r->call = NULL;
    if (!err && !list->page_complete) {
        /* A body that is cut off may still be valid JSON up to the last item; without the list's end it is
         * not a list. */
        err_set(&cause, ERR_CLOSED, "the list ended before it was complete");
        err = &cause;
    } else if (!err && list->token.len && list->empty_pages > EMPTY_PAGES_MAX) {
        err_set(&cause, ERR_LIMIT, "more than %d consecutive empty pages", EMPTY_PAGES_MAX);
        err = &cause;
    }
    if (!err) {
        if (list->token.len)
            request_page(r);
        else
            complete(r);
        return;
    }
    bool expired = kube_err_is_expired(err);
    if (expired || err->too_large_version)
        log_v(2, "Relisting immediately", F("reflector", r->name), F("err", err->text));
    /* Only a token can expire once a page came; before that the version of the request itself did. */
    if (expired && list->pages > 0 && !list->whole) {
        list_whole(r);
    } else if ((expired || err->too_large_version) && !list->second_try) {
        list_newest(r);
    } else { /* decision table, "list | other error (or 2nd failure)" */
        /* Copied: the error belongs to the caller. */
        cause = *err;
        err_wrap(&cause, "failed to list %s", r->name); /* */
        list_progress_clear(list);
        reflector_failed(r, &cause, NEXT_CYCLE);
    }
}

/* --- the list of an earlier run */

void stored_list_clear(struct stored_list *list)
{
    for (size_t i = 0; list->objects && i < list->count; i++) root_unref(list->objects[i]);
    free(list->objects);
    free(list->version);
    *list = (struct stored_list){0};
}

void reflector_start_stored(struct reflector *r)
{
    struct stored_list *stored = &r->options.stored;
    char text[REFLECTOR_SYNC_TEXT_MAX];
    const struct list_result result = {.by = REFLECTOR_SYNC_STORED, .text = text, .objects = stored->count};
    snprintf(text, sizeof text, "stored cache, %lld s old",
             (long long)(clock_wall_us(r->options.clock) - stored->saved_us) / 1000000);
    log_v(2, "Continuing from the stored cache", F("reflector", r->name), FI("objects", stored->count),
          F("resourceVersion", stored->version));
    reflector_listed(r, &result);
    delta_fifo_restore(r->options.fifo, stored->version, stored->objects, stored->count);
    reflector_saw_version(r, str_of(stored->version));
    stored->objects = NULL; /* the queue's now */
    stored->count = 0;
    stored_list_clear(stored);
    reflector_start_watch(r);
}

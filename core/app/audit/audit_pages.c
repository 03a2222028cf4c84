/* One page in memory at a time; see audit_pages.h. */
#include "app/audit/audit_pages.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/number_map.h"
#include "informer/live/list_single.h"
#include "informer/live/pager.h"
#include "informer/reflect/refusals.h"
#include "object/pack/projection.h"
#include "object/value/value.h"

enum {
    OBJECTS_MAX = 10000000, /* of a server that does not know pages */
    OLD_PAGES_MAX = 100,
    NEW_BEGINNINGS_MAX = 5, /* that get no further, before the list may come whole */
};

/* Source of pages that packs objects by the projection of the moment at which they are requested. */
struct pages_source {
    struct list_watch base;
    struct list_watch_ops ops;
    struct list_watch *inner;
    const struct projection *by; /* of `inner` */
    struct pages *pages;
};

struct pages {
    const struct audit_pages_options *options;
    struct buf api_version;
    struct pager *pager;
    struct number_set seen; /* hashes of what was looked at, as a list may start over */
    struct err expired;     /* the list has no next page, and starts over; ERR_NONE: it has */
    size_t beginnings;      /* since it got further than before */
    size_t page_count;      /* of this beginning */
    size_t page_most;       /* of those before */
    size_t old_pages;       /* in a row, without an object that was not seen */
    struct refusals refusals;
    struct timer deadline;
    bool has_response, is_late, is_last;
    struct err failure;
    /* The page that is looked at. */
    struct root **objects;
    size_t count, at;
    struct root *current;                /* that rules are evaluated on */
    const struct projection *projection; /* NULL: they are whole */
};

/* --- what was looked at */

/* By namespace and name: some servers' objects have no uid. */
static uint64_t identity(const struct root *object)
{
    struct text text;
    uint64_t hash = hash_str(root_namespace(object, &text)) * 31 + hash_str(root_name(object, &text));
    return hash ? hash : 1;
}

/* --- pages */

static const struct projection *current_projection(const struct pages *pages)
{
    const struct audit_pages_options *o = pages->options;
    if (o->whole) return NULL;
    return auditor_projection(o->auditor, buf_slice(&pages->api_version), str_of(o->resource->kind));
}

/* The scope takes a reference of its own. */
static struct list_watch *new_inner(const struct pages *pages, const struct projection *projection)
{
    const struct audit_pages_options *o = pages->options;
    return list_watch_new(o->client, o->resource,
                          &(const struct lw_scope){.namespace_ = o->resource->namespaced ? o->namespace_ : "",
                                                   .label_selector = o->selector,
                                                   .field_selector = "",
                                                   .projection = (struct projection *)projection,
                                                   .packer = o->packer});
}

static void make_inner(struct pages_source *source, const struct projection *projection)
{
    if (source->inner) source->inner->ops->free(source->inner);
    source->inner = new_inner(source->pages, projection);
    source->by = projection;
}

/* No call of the one before is under way: the pager has one at a time. */
static struct lw_call *start(struct list_watch *base, const struct lw_options *options,
                             const struct lw_sink *sink, void *ctx)
{
    struct pages_source *source = container_of(base, struct pages_source, base);
    const struct projection *projection = current_projection(source->pages);
    if (projection != source->by) make_inner(source, projection);
    source->pages->projection = projection;
    return lw_start(source->inner, options, sink, ctx);
}

static void note_throttled(struct list_watch *base, int64_t wait_ms)
{
    struct list_watch *inner = container_of(base, struct pages_source, base)->inner;
    inner->ops->throttled(inner, wait_ms);
}

static void free_source(struct list_watch *base)
{
    struct pages_source *source = container_of(base, struct pages_source, base);
    source->inner->ops->free(source->inner);
    free(source);
}

static struct pages_source *new_source(struct pages *pages)
{
    struct pages_source *source = NEW(struct pages_source);
    source->pages = pages;
    make_inner(source, current_projection(pages));
    source->ops = *source->inner->ops;
    source->ops.start = start;
    source->ops.throttled = note_throttled;
    source->ops.free = free_source;
    source->base.ops = &source->ops;
    return source;
}

static void drop_objects(struct pages *pages)
{
    for (size_t i = 0; i < pages->count; i++) root_unref(pages->objects[i]);
    free(pages->objects);
    pages->objects = NULL;
    pages->count = pages->at = 0;
}

static void on_page(void *ctx, const struct page *page, const struct err *err)
{
    struct pages *pages = ctx;
    pages->has_response = true;
    drop_objects(pages);
    if (err) {
        pages->failure = *err;
        return;
    }
    pages->objects = page->objects;
    pages->count = page->count;
    pages->is_last = page->last;
}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    refusals_note(&((struct pages *)ctx)->refusals, refusal);
}

static void on_late(struct timer *timer)
{
    container_of(timer, struct pages, deadline)->is_late = true;
}

/* Nothing is under way. */
static void begin(struct pages *pages)
{
    drop_objects(pages);
    refusals_clear(&pages->refusals);
    pager_free(pages->pager);
    err_clear(&pages->expired);
    pages->is_last = false;
    pages->page_count = pages->old_pages = 0;
    pages->pager =
        pager_new(&(const struct pager_options){.source = &new_source(pages)->base,
                                                .clock = loop_clock(pages->options->loop),
                                                .resource_version = "",
                                                .resource_version_match = "",
                                                .page_max = OBJECTS_MAX,
                                                .whole_if_expired = pages->beginnings > NEW_BEGINNINGS_MAX,
                                                .page = on_page,
                                                .refused = on_refused,
                                                .ctx = pages});
}

/* Lists again from the beginning and skips the pages that were read before: so a list that takes longer than
 * its token lasts gets to its end, and memory never holds more than a page. One page more counts as progress,
 * because new objects can come on old pages too. Without progress the number of restarts is bounded (P-3). */
static bool restart(struct pages *pages)
{
    bool got_further = pages->page_count > pages->page_most;
    if (got_further) pages->page_most = pages->page_count;
    pages->beginnings = got_further ? 1 : pages->beginnings + 1;
    if (pages->beginnings > NEW_BEGINNINGS_MAX + 1) {
        pages->failure = pages->expired;
        return err_wrap(
            &pages->failure,
            "the list was restarted %d times because its continue token had expired, without progress",
            NEW_BEGINNINGS_MAX + 1);
    }
    begin(pages);
    return true;
}

/* A token is over: no failure yet. */
static bool take_expired(struct pages *pages)
{
    if (!pages->page_count || !kube_err_is_expired(&pages->failure)) return false;
    pages->expired = pages->failure;
    err_clear(&pages->failure);
    return true;
}

/* The next page, or the one at hand once more. */
static bool fetch(struct pages *pages, void (*next)(struct pager *pager))
{
    const struct audit_pages_options *o = pages->options;
    pages->has_response = pages->is_late = false;
    timer_start(&pages->deadline, loop_clock(o->loop), o->wait_ms);
    next(pages->pager);
    while (!pages->has_response && !pages->is_late) loop_once(o->loop, true);
    timer_cancel(&pages->deadline);
    if (!pages->has_response) err_set(&pages->failure, ERR_TIMEOUT, "no response within --sync-timeout");
    return pages->failure.code == ERR_NONE;
}

/* --- objects */

/* A first page that is listed again is of a newer version: objects that came before it push it to the next
 * page, where it counts as looked at. What has left the cluster meanwhile is not asked about. */
static struct root *find_alone(struct pages *pages, const struct projection *projection)
{
    const struct audit_pages_options *o = pages->options;
    struct text text;
    char *ns = xasprintf("%.*s", STR_ARG(root_namespace(pages->current, &text)));
    char *name = xasprintf("%.*s", STR_ARG(root_name(pages->current, &text)));
    struct root *object = list_alone(&(const struct list_single){.loop = o->loop,
                                                                 .client = o->client,
                                                                 .packer = o->packer,
                                                                 .place = {o->resource, ns, name},
                                                                 .projection = projection,
                                                                 .selector = o->selector,
                                                                 .wait_ms = o->wait_ms,
                                                                 .refusals = &pages->refusals},
                                     &pages->failure);
    free(ns);
    free(name);
    return object;
}

static struct root *check_again(void *ctx, const struct projection *projection)
{
    struct pages *pages = ctx;
    uint64_t current = identity(pages->current);
    if (!pages->expired.code && !fetch(pages, pager_again) && !take_expired(pages)) return NULL;
    for (size_t i = 0; i < pages->count; i++)
        if (identity(pages->objects[i]) == current) return root_ref(pages->objects[i]);
    return find_alone(pages, projection);
}

static void audit_object(struct pages *pages, struct root *object)
{
    const struct audit_pages_options *o = pages->options;
    if (!number_set_add(&pages->seen, identity(object))) return;
    pages->current = object;
    struct text ns, name;
    refusals_remove(&pages->refusals, root_namespace(object, &ns), root_name(object, &name));
    root_ref(object); /* the page may be another one before it is done */
    auditor_audit(o->auditor,
                  &(const struct audit_subject){
                      .object = object, .projection = pages->projection, .again = check_again, .ctx = pages});
    root_unref(object);
    o->audited(o->ctx);
}

/* A token that leads to what was given already may do so for ever; a list that began again has such pages. */
static bool has_end(struct pages *pages)
{
    size_t most = OLD_PAGES_MAX + pages->page_most;
    return pages->old_pages < most ||
           err_set(&pages->failure, ERR_PARSE,
                   "the list does not end: %zu consecutive pages had no new objects", most);
}

static bool read_page(struct pages *pages)
{
    size_t seen = pages->seen.map.count;
    if (!has_end(pages)) return false;
    if (!fetch(pages, pager_next)) return take_expired(pages);
    pages->page_count++;
    while (pages->at < pages->count) audit_object(pages, pages->objects[pages->at++]);
    pages->old_pages = pages->seen.map.count > seen ? 0 : pages->old_pages + 1;
    return !pages->failure.code;
}

static bool read_all(struct pages *pages)
{
    begin(pages);
    do {
        if (!read_page(pages)) return false;
        if (pages->expired.code && !restart(pages)) return false;
    } while (!pages->is_last);
    return true;
}

/* Returns false. */
static bool print_refused(const struct pages *pages, struct err *err)
{
    size_t count = refusals_count(&pages->refusals);
    bool one = count == 1;
    return err_set(err, ERR_LIMIT, "%zu object%s refused%s: %s", count, one ? " is" : "s are",
                   one ? "" : ", such as", refusals_text(&pages->refusals));
}

bool audit_pages_read(const struct audit_pages_options *options, struct err *err)
{
    struct pages pages = {.options = options, .deadline = {.fn = on_late}};
    err_clear(&pages.failure);
    resource_api_version(options->resource, &pages.api_version);
    bool ok = read_all(&pages);
    if (!ok) *err = pages.failure;
    if (ok && refusals_count(&pages.refusals)) ok = print_refused(&pages, err);
    refusals_clear(&pages.refusals);
    drop_objects(&pages);
    pager_free(pages.pager);
    number_set_clear(&pages.seen);
    buf_clear(&pages.api_version);
    return ok;
}

/* Reflectors whose changes a thread writes into a bucket; see publisher.h. */
#include "app/publish/publisher.h"

#include <stdlib.h>
#include <string.h>

#include "app/publish/publish_internal.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/bucket/bucket_key.h"

enum { LEFT_MS = 4000 }; /* for the thread to end */

static void wake_writer(struct publisher *publisher)
{
    pthread_mutex_lock(&publisher->lock);
    publisher->has_work = true;
    pthread_cond_signal(&publisher->changed);
    pthread_mutex_unlock(&publisher->lock);
}

static void on_ready(void *ctx)
{
    struct publish_kind *kind = ctx;
    wake_writer(kind->publisher);
}

/* --- kinds */

static void free_kind(struct publish_kind *kind)
{
    reflector_free(kind->reflector);
    publish_clear_keys(kind);
    delta_fifo_free(kind->fifo);
    resource_clear(&kind->resource);
    free(kind->namespace_);
    free(kind->label_selector);
    free(kind->field_selector);
    free(kind->name);
    free(kind->prefix);
    free(kind->listed);
    free(kind);
}

static char *copy(const char *text)
{
    return xstrdup(text ? text : "");
}

static char *name_of(const struct resource *resource)
{
    struct buf name = {0};
    resource_name(resource, &name);
    return buf_take(&name);
}

/* "objects.GROUP.VERSION.PLURAL." */
static char *prefix_of(const struct resource *resource)
{
    struct buf filter = {0};
    bucket_filter(resource, STR(""), STR(""), &filter);
    filter.len -= strlen("*.*");
    return buf_take(&filter);
}

void publisher_add(struct publisher *publisher, const struct resource *resource, const struct lw_scope *scope)
{
    struct publish_kind *kind;
    STAILQ_FOREACH (kind, &publisher->kinds, link)
        if (resource_equal(&kind->resource, resource)) return;
    kind = NEW(struct publish_kind);
    kind->publisher = publisher;
    resource_copy(&kind->resource, resource);
    kind->namespace_ = resource->namespaced ? copy(scope->namespace_) : xstrdup("");
    kind->label_selector = copy(scope->label_selector);
    kind->field_selector = copy(scope->field_selector);
    kind->name = name_of(resource);
    kind->prefix = prefix_of(resource);
    kind->listed = xstrdup("");
    kind->fifo = delta_fifo_new(on_ready, kind);
    STAILQ_INSERT_TAIL(&publisher->kinds, kind, link);
    publisher->kind_count++;
}

size_t publisher_kind_count(const struct publisher *publisher)
{
    return publisher->kind_count;
}

void publisher_set_catalogue(struct publisher *publisher, const struct catalogue *catalogue)
{
    struct buf text = {0};
    publish_put_catalogue(catalogue, &text);
    pthread_mutex_lock(&publisher->lock);
    buf_clear(&publisher->catalogue);
    publisher->catalogue = text;
    publisher->has_catalogue = publisher->has_work = true;
    pthread_cond_signal(&publisher->changed);
    pthread_mutex_unlock(&publisher->lock);
}

/* --- start and end */

static void start_reflectors(struct publisher *publisher)
{
    struct publish_kind *kind;
    uint64_t seed = (uint64_t)clock_wall_us(loop_clock(publisher->options.loop));
    STAILQ_FOREACH (kind, &publisher->kinds, link) {
        const struct lw_scope scope = {.namespace_ = kind->namespace_,
                                       .label_selector = kind->label_selector,
                                       .field_selector = kind->field_selector};
        kind->reflector = reflector_new(&(struct reflector_options){
            .name = kind->name,
            .source = list_watch_new(publisher->options.client, &kind->resource, &scope),
            .fifo = kind->fifo,
            .clock = loop_clock(publisher->options.loop),
            .resource = kind->name,
            .seed = seed++,
        });
        reflector_start(kind->reflector);
    }
}

static void on_leads(void *ctx)
{
    struct publisher *publisher = ctx;
    pthread_mutex_lock(&publisher->lock);
    bool has_failed = publisher->has_failed;
    pthread_mutex_unlock(&publisher->lock);
    if (has_failed)
        publisher->options.failed(publisher->options.ctx, &publisher->err);
    else if (!publisher->has_started) {
        publisher->has_started = true;
        start_reflectors(publisher);
    }
}

struct publisher *publisher_new(const struct publisher_options *options)
{
    struct publisher *publisher = NEW(struct publisher);
    publisher->options = *options;
    if (!options->clock) publisher->options.clock = clock_real();
    publisher->others.publisher = publisher;
    STAILQ_INIT(&publisher->kinds);
    TAILQ_INIT(&publisher->marks);
    pthread_mutex_init(&publisher->lock, NULL);
    pthread_cond_init(&publisher->changed, NULL);
    return publisher;
}

void publisher_start(struct publisher *publisher)
{
    publisher->leads = waker_new(publisher->options.loop, on_leads, publisher);
    publisher->client =
        bucket_client_open(publisher->options.module, publisher->options.target, "kubelua publish");
    publish_open_series(publisher);
    module_thread_start(&publisher->thread, publish_writer_run, publisher);
}

/* Returns false if NATS holds the thread up. */
static bool end_thread(struct publisher *publisher)
{
    if (!publisher->leads) return true;
    pthread_mutex_lock(&publisher->lock);
    publisher->ends = true;
    pthread_cond_signal(&publisher->changed);
    pthread_mutex_unlock(&publisher->lock);
    bool has_ended = module_thread_join(&publisher->thread, clock_now_ms(clock_real()) + LEFT_MS);
    waker_free(publisher->leads);
    if (!has_ended)
        log_warn("NATS does not answer, ending without it", F("bucket", publisher->options.target->shown));
    return has_ended;
}

static void free_publisher(struct publisher *publisher)
{
    struct publish_kind *kind;
    while ((kind = STAILQ_FIRST(&publisher->kinds))) {
        STAILQ_REMOVE_HEAD(&publisher->kinds, link);
        free_kind(kind);
    }
    publish_clear_keys(&publisher->others);
    publish_close_series(publisher);
    free(publisher->batch.items);
    buf_clear(&publisher->batch.text);
    buf_clear(&publisher->key);
    buf_clear(&publisher->catalogue);
    pthread_cond_destroy(&publisher->changed);
    pthread_mutex_destroy(&publisher->lock);
    free(publisher);
}

bool publisher_end(struct publisher *publisher, struct publisher_totals *totals)
{
    struct publish_kind *kind;
    if (!publisher) return true;
    bool has_ended = end_thread(publisher);
    publisher->totals.kinds = publisher->kind_count;
    if (totals) *totals = publisher->totals;
    if (has_ended) {
        free_publisher(publisher);
        return true;
    }
    STAILQ_FOREACH (kind, &publisher->kinds, link) {
        reflector_free(kind->reflector);
        kind->reflector = NULL;
    }
    return false;
}

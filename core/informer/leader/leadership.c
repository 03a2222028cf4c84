/* Engine thread's half of elections; see leadership.h. */
#include "informer/leader/leadership.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/array.h"
#include "base/must.h"
#include "informer/leader/leadership_internal.h"

char *leader_identity(const char *pod_name)
{
    char host[256] = "";
    uint64_t unique[2] = {0};
    if (!pod_name || !*pod_name) {
        gethostname(host, sizeof host - 1);
        pod_name = host;
    }
    /* Random, because a restarted pod keeps its name: it must not take itself for the holder of the old
     * lease. */
    must(getrandom(unique, sizeof unique, 0) == sizeof unique);
    return xasprintf("%s_%016llx%016llx", pod_name, (unsigned long long)unique[0],
                     (unsigned long long)unique[1]);
}

void leader_news_clear(struct leader_news *news)
{
    fence_unref(news->fence);
    free(news->holder);
    *news = (struct leader_news){0};
}

/* --- news */

/* Copies the news posted by the I/O thread; returns whether there was any. */
static bool take_news(struct leadership *l)
{
    pthread_mutex_lock(&l->leaders->lock);
    bool has_news = l->has_news;
    if (has_news) {
        leader_news_clear(&l->current);
        l->current = l->posted;
        l->posted = (struct leader_news){0};
        l->has_news = false;
    }
    pthread_mutex_unlock(&l->leaders->lock);
    return has_news;
}

static bool all_released(const struct leaders *leaders)
{
    for (size_t i = 0; i < leaders->count; i++)
        if (!leaders->items[i]->current.released) return false;
    return true;
}

static void on_news(void *ctx)
{
    struct leaders *leaders = ctx;
    bool has_news = false;
    for (size_t i = 0; i < leaders->count; i++) has_news |= take_news(leaders->items[i]);
    if (has_news) leaders->options.changed(leaders->options.ctx);
    if (!leaders->released || (leaders->started && !all_released(leaders))) return;
    void (*released)(void *ctx) = leaders->released;
    leaders->released = NULL;
    released(leaders->released_ctx);
}

/* --- leases */

static char **copy_labels(struct lease_labels labels)
{
    char **copies = xcalloc(2 * labels.count + 1, sizeof *copies);
    for (size_t i = 0; i < 2 * labels.count; i++) copies[i] = xstrdup(labels.items[i]);
    return copies;
}

struct lease_config *lease_config_copy(const struct lease_config *config)
{
    struct lease_config *copy = NEW(struct lease_config);
    *copy = *config;
    copy->namespace_ = xstrdup(config->namespace_);
    copy->name = xstrdup(config->name);
    copy->labels.items = (const char *const *)copy_labels(config->labels);
    return copy;
}

void lease_config_free(struct lease_config *config)
{
    if (!config) return;
    for (size_t i = 0; i < 2 * config->labels.count; i++) free((char *)config->labels.items[i]);
    free((void *)config->labels.items);
    free((char *)config->namespace_);
    free((char *)config->name);
    free(config);
}

static bool is_same(const struct leadership *l, const struct lease_config *config)
{
    bool same = l->times.duration_ms == config->times.duration_ms &&
                l->times.renew_ms == config->times.renew_ms && l->times.retry_ms == config->times.retry_ms &&
                l->label_count == config->labels.count;
    for (size_t i = 0; same && i < 2 * l->label_count; i++)
        same = strcmp(l->labels[i], config->labels.items[i]) == 0;
    return same;
}

static struct leadership *find(const struct leaders *leaders, const struct lease_config *config)
{
    for (size_t i = 0; i < leaders->count; i++) {
        struct leadership *l = leaders->items[i];
        /* One that all have left may still be releasing its lease, so it is not used again. */
        if (l->claims && strcmp(l->namespace_, config->namespace_) == 0 && strcmp(l->name, config->name) == 0)
            return l;
    }
    return NULL;
}

static struct leadership *make(struct leaders *leaders, const struct lease_config *config)
{
    struct leadership *l = NEW(struct leadership);
    l->leaders = leaders;
    l->namespace_ = xstrdup(config->namespace_);
    l->name = xstrdup(config->name);
    l->times = config->times;
    l->labels = copy_labels(config->labels);
    l->label_count = config->labels.count;
    /* Candidates of one process must not try in step. */
    l->seed = leaders->options.seed + leaders->count;
    l->start.deliver = leadership_io_start;
    l->release.deliver = leadership_io_release;
    l->stop.deliver = leadership_io_stop;
    return l;
}

static void post(struct leaders *leaders, struct mail *mail)
{
    mailbox_post(loop_mailbox(leaders->options.io_loop), mail);
}

bool leaders_accept(const struct leaders *leaders, const struct lease_config *config,
                    const struct leadership *but, struct err *err)
{
    const struct leadership *l = find(leaders, config);
    if (l && !is_same(l, config) && !(l == but && l->claims == 1))
        return err_set(err, ERR_INVALID, "lease %s/%s is also used with different times or labels",
                       config->namespace_, config->name);
    return leader_times_check(&config->times, &config->names, err);
}

struct leadership *leaders_join(struct leaders *leaders, const struct lease_config *config, struct err *err)
{
    if (!leaders_accept(leaders, config, NULL, err)) return NULL;
    struct leadership *l = find(leaders, config);
    if (!l) {
        l = make(leaders, config);
        pthread_mutex_lock(&leaders->lock);
        /* Locked, because leaders_check reads the array on another thread. */
        *array_add(leaders->items, leaders->count) = l;
        leaders->running += leaders->started;
        pthread_mutex_unlock(&leaders->lock);
        if (leaders->started) post(leaders, &l->start);
    }
    l->claims++;
    return l;
}

void leaders_leave(struct leadership *l)
{
    must(l->claims > 0);
    if (--l->claims == 0 && l->leaders->started && !l->leaders->releasing) post(l->leaders, &l->release);
}

bool leadership_is_joined(const struct leadership *l)
{
    return l->claims > 0;
}

bool leadership_is_of(const struct leadership *l, const struct lease_config *config)
{
    return strcmp(l->namespace_, config->namespace_) == 0 && strcmp(l->name, config->name) == 0 &&
           is_same(l, config);
}

void leaders_start(struct leaders *leaders)
{
    leaders->started = true;
    leaders->running = leaders->count;
    for (size_t i = 0; i < leaders->count; i++) post(leaders, &leaders->items[i]->start);
}

void leaders_decide(struct leaders *leaders, bool lead)
{
    struct clock *clock = loop_clock(leaders->options.engine_loop);
    must(!leaders->started);
    for (size_t i = 0; i < leaders->count; i++) {
        struct leadership *l = leaders->items[i];
        pthread_mutex_lock(&leaders->lock);
        /* Holders of a fence must learn of the end of its term. */
        if (l->current.fence) fence_close(l->current.fence);
        if (l->posted.fence) fence_close(l->posted.fence);
        leader_news_clear(&l->posted);
        l->posted = (struct leader_news){
            .fence = lead ? fence_new(clock, INT64_MAX) : NULL,
            .holder = xstrdup(lead ? leaders->identity : "another"),
            .transitions = l->current.transitions + 1,
            .since_us = clock_wall_us(clock),
        };
        l->has_news = true;
        pthread_mutex_unlock(&leaders->lock);
    }
    waker_wake(leaders->waker);
}

void leaders_release(struct leaders *leaders, void (*released)(void *ctx), void *ctx)
{
    leaders->released = released;
    leaders->released_ctx = ctx;
    leaders->releasing = true;
    for (size_t i = 0; i < leaders->count && leaders->started; i++)
        if (leaders->items[i]->claims) post(leaders, &leaders->items[i]->release);
    /* `released` is never called from inside this function, even if there is nothing to release. */
    if (leaders->count == 0 || !leaders->started) waker_wake(leaders->waker);
}

void leaders_check(struct leaders *leaders, int64_t tolerance_ms, struct buf *reason)
{
    int64_t now_ms = clock_now_ms(clock_real());
    pthread_mutex_lock(&leaders->lock);
    for (size_t i = 0; i < leaders->count; i++) {
        const struct leadership *l = leaders->items[i];
        int64_t renewed_ms = atomic_load(&l->renewed_ms), age_ms = now_ms - renewed_ms;
        if (renewed_ms && age_ms > l->times.duration_ms + tolerance_ms)
            buf_printf(reason, "%slease %s/%s has not been renewed for %lld s", reason->len ? "; " : "",
                       l->namespace_, l->name, (long long)age_ms / 1000);
    }
    pthread_mutex_unlock(&leaders->lock);
}

size_t leaders_count(const struct leaders *leaders)
{
    return leaders->count;
}

struct leadership *leaders_at(const struct leaders *leaders, size_t i)
{
    must(i < leaders->count);
    return leaders->items[i];
}

struct fence *leadership_fence(const struct leadership *l)
{
    return l->current.fence;
}

static int64_t seen_us(const struct leadership *l)
{
    int64_t seen_ms = atomic_load(&l->seen_ms);
    return seen_ms ? clock_wall_us(clock_real()) - (clock_now_ms(clock_real()) - seen_ms) * 1000 : 0;
}

static const char *holder_of(const struct leadership *l, bool leads)
{
    const char *holder = l->current.holder;
    return holder && (leads || strcmp(holder, l->leaders->identity) != 0) ? holder : "";
}

void leadership_get_status(const struct leadership *l, struct leadership_status *out)
{
    bool leads = l->current.fence && fence_is_open(l->current.fence);
    *out = (struct leadership_status){
        .namespace_ = l->namespace_,
        .name = l->name,
        .identity = l->leaders->identity,
        .holder = holder_of(l, leads),
        .error = l->current.err.code == ERR_NONE ? "" : l->current.err.text,
        .times = l->times,
        .leads = leads,
        .transitions = l->current.transitions,
        .since_us = l->current.since_us,
        .seen_us = seen_us(l),
    };
}

/* --- life */

struct leaders *leaders_new(const struct leaders_options *options)
{
    struct leaders *leaders = NEW(struct leaders);
    leaders->options = *options;
    leaders->identity = xstrdup(options->identity);
    pthread_mutex_init(&leaders->lock, NULL);
    pthread_cond_init(&leaders->stopped, NULL);
    leaders->waker = waker_new(options->engine_loop, on_news, leaders);
    return leaders;
}

static void free_leadership(struct leadership *l)
{
    leader_news_clear(&l->posted);
    leader_news_clear(&l->current);
    for (size_t i = 0; i < 2 * l->label_count; i++) free(l->labels[i]);
    free(l->labels);
    free(l->namespace_);
    free(l->name);
    free(l);
}

void leaders_end(struct leaders *leaders)
{
    if (!leaders) return;
    for (size_t i = 0; i < leaders->count && leaders->started; i++) post(leaders, &leaders->items[i]->stop);
    pthread_mutex_lock(&leaders->lock);
    while (leaders->running > 0) loop_wait(leaders->options.io_loop, &leaders->stopped, &leaders->lock);
    pthread_mutex_unlock(&leaders->lock);
    leaders->started = false;
}

void leaders_free(struct leaders *leaders)
{
    if (!leaders) return;
    must(!leaders->started);
    for (size_t i = 0; i < leaders->count; i++) free_leadership(leaders->items[i]);
    waker_free(leaders->waker);
    pthread_mutex_destroy(&leaders->lock);
    pthread_cond_destroy(&leaders->stopped);
    free(leaders->items);
    free(leaders->identity);
    free(leaders);
}

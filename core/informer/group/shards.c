/* Engine thread's half of a membership; see shards.h. */
#include "informer/group/shards.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/group/shards_internal.h"

enum { PREFIX_MAX = 63 }; /* of names of Leases: a pod's name mostly */

bool shard_group_check(const char *group, struct err *err)
{
    size_t n = strlen(group);
    bool ok = n > 0 && n <= SHARD_GROUP_MAX && isalnum((unsigned char)group[0]) &&
              isalnum((unsigned char)group[n - 1]);
    for (size_t i = 0; i < n && ok; i++)
        ok = islower((unsigned char)group[i]) || isdigit((unsigned char)group[i]) || group[i] == '-';
    if (ok) return true;
    return err_set(err, ERR_INVALID,
                   "\"%.100s\" must be 1 to %d lower-case letters, digits and hyphens, with a letter or a "
                   "digit at both ends",
                   group, SHARD_GROUP_MAX);
}

bool shard_lease_check(int64_t lease_ms, struct err *err)
{
    const struct shard_times times = shard_times_of(lease_ms);
    return shard_times_check(&times, err);
}

void shards_news_clear(struct shards_news *news)
{
    fence_unref(news->fence);
    *news = (struct shards_news){0};
}

static struct slot_set slots_of(const struct shards_news *news)
{
    return news->fence ? news->given : (struct slot_set){0};
}

/* A fence belongs to one term, and what was owned in an earlier one may be another replica's by now. */
static void hold(struct shards *shards, const struct fence *before)
{
    const struct slot_set slots = slots_of(&shards->current);
    if (!shards->current.fence || shards->current.fence != before) shards->held = (struct slot_set){0};
    for (size_t i = 0; i < ARRAY_LEN(shards->held.words); i++) shards->held.words[i] |= slots.words[i];
}

/* A slot of a Lease goes to another replica only after the Lease is deleted, and then this one has another
 * name, or after this thread has confirmed a table that does not give the slot to it, which it has seen. So
 * it may miss tables in between, but none that matters here. */
static void keep(struct shards *shards, const struct shards_news *before)
{
    const struct shards_news *news = &shards->current;
    const bool same = strcmp(before->lease, news->lease) == 0;
    if (before->fence) shards->kept = before->given;
    for (size_t i = 0; i < ARRAY_LEN(shards->kept.words); i++)
        shards->kept.words[i] &= same ? news->given.words[i] : 0;
}

static bool take_news(struct shards *shards)
{
    pthread_mutex_lock(&shards->lock);
    bool has_news = shards->has_news;
    if (has_news) {
        struct shards_news before = shards->current;
        shards->current = shards->posted;
        hold(shards, before.fence);
        keep(shards, &before);
        shards_news_clear(&before);
        shards->posted = (struct shards_news){0};
        shards->has_news = false;
    }
    pthread_mutex_unlock(&shards->lock);
    return has_news;
}

static void on_news(void *ctx)
{
    struct shards *shards = ctx;
    if (take_news(shards)) shards->options.changed(shards->options.ctx);
    if (!shards->left || !shards->current.left) return;
    void (*left)(void *ctx) = shards->left;
    shards->left = NULL;
    left(shards->left_ctx);
}

static void post(struct shards *shards, struct mail *mail)
{
    mailbox_post(loop_mailbox(shards->options.io_loop), mail);
}

struct applied_mail {
    struct mail mail;
    struct shards *shards;
    int64_t epoch;
};

static void on_applied(struct mail *mail)
{
    struct applied_mail *m = container_of(mail, struct applied_mail, mail);
    shards_io_applied(m->shards, m->epoch);
    free(m);
}

void shards_applied(struct shards *shards, int64_t epoch)
{
    struct applied_mail *m = NEW(struct applied_mail);
    shards->held = slots_of(&shards->current);
    *m = (struct applied_mail){.mail.deliver = on_applied, .shards = shards, .epoch = epoch};
    post(shards, &m->mail);
}

/* A name of an object: what else an identity has becomes hyphens. */
static char *prefix_of(const char *identity)
{
    char *prefix = xstrndup(identity, strcspn(identity, "_"));
    if (strlen(prefix) > PREFIX_MAX) prefix[PREFIX_MAX] = '\0';
    for (char *c = prefix; *c; c++) *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
    if (*prefix == '-' || !*prefix) {
        free(prefix);
        return xstrdup("kubelua");
    }
    return prefix;
}

struct shards *shards_new(const struct shards_options *options)
{
    struct shards *shards = NEW(struct shards);
    char *prefix = prefix_of(options->identity);
    shards->options = *options;
    shards->namespace_ = xstrdup(options->namespace_);
    shards->group = xstrdup(options->group);
    shards->table_name = xasprintf("kubelua-shard-%s", options->group);
    shards->prefix = xasprintf("%s-%s", options->group, prefix);
    free(prefix);
    shards->times = options->lease_ms ? shard_times_of(options->lease_ms) : shard_times_default;
    shards->start.deliver = shards_io_start;
    shards->leave.deliver = shards_io_leave;
    shards->stop.deliver = shards_io_stop;
    pthread_mutex_init(&shards->lock, NULL);
    pthread_cond_init(&shards->stopped, NULL);
    shards->closed = fence_new(NULL, 0);
    for (size_t i = 0; i < 2; i++) shards_line_init(shards, &shards->lines[i]);
    shards->waker = waker_new(options->engine_loop, on_news, shards);
    return shards;
}

void shards_start(struct shards *shards)
{
    must(!shards->started);
    shards->started = shards->running = true;
    post(shards, &shards->start);
}

void shards_leave(struct shards *shards, void (*left)(void *ctx), void *ctx)
{
    must(shards->started && !shards->left);
    shards->left = left;
    shards->left_ctx = ctx;
    post(shards, &shards->leave);
}

void shards_end(struct shards *shards)
{
    if (!shards || !shards->started) return;
    post(shards, &shards->stop);
    pthread_mutex_lock(&shards->lock);
    while (shards->running) loop_wait(shards->options.io_loop, &shards->stopped, &shards->lock);
    pthread_mutex_unlock(&shards->lock);
    shards->started = false;
}

void shards_free(struct shards *shards)
{
    if (!shards) return;
    must(!shards->started);
    for (size_t i = 0; i < 2; i++) shards_line_clear(&shards->lines[i]);
    shards_news_clear(&shards->posted);
    shards_news_clear(&shards->current);
    fence_unref(shards->closed);
    waker_free(shards->waker);
    pthread_mutex_destroy(&shards->lock);
    pthread_cond_destroy(&shards->stopped);
    free(shards->namespace_);
    free(shards->group);
    free(shards->table_name);
    free(shards->prefix);
    free(shards);
}

void shards_get_status(const struct shards *shards, struct shards_status *out)
{
    const struct shards_news *news = &shards->current;
    *out = (struct shards_status){
        .namespace_ = shards->namespace_,
        .group = shards->group,
        .lease = news->lease,
        .slots = slots_of(news),
        .kept = shards->kept,
        .fence = news->fence,
        .epoch = news->epoch,
        .members = news->members,
        .writes = news->writes,
        .error = news->err.code == ERR_NONE ? "" : news->err.text,
        .handover_ms = shard_times_handover_ms(&shards->times),
        .failover_ms = shard_times_failover_ms(&shards->times),
    };
}

static bool is_open(const struct shards *shards)
{
    return shards->current.fence && fence_is_open(shards->current.fence);
}

struct fence *shards_fence(const struct shards *shards, size_t slot)
{
    return shards->current.fence && slot_set_has(&shards->held, slot) ? shards->current.fence
                                                                      : shards->closed;
}

bool shards_own(const struct shards *shards, size_t slot)
{
    return slot_set_has(&shards->current.given, slot) && is_open(shards);
}

bool shards_are_giving(const struct shards *shards, size_t slot)
{
    return slot_set_has(&shards->held, slot) && !slot_set_has(&shards->current.given, slot) &&
           is_open(shards);
}

struct slot_set shards_owned(const struct shards *shards)
{
    return is_open(shards) ? shards->current.given : (struct slot_set){0};
}

/* Sinks of scripts under test; see spec_sinks.h. */
#include "app/specs/spec_sinks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/array.h"
#include "base/mem.h"
#include "script/server/sink_target.h"

/* A script's struct sink. */
struct spec_sink {
    LIST_ENTRY(spec_sink) link;
    struct spec_sinks *sinks;
    char *script, *name;
    enum sink_scheme scheme;
};

/* A script's struct sink_publish. */
struct spec_publish {
    LIST_ENTRY(spec_publish) link;
    struct spec_sinks *sinks;
    struct timer timer;
    int64_t until_ms;
    struct spec_published event;
    sink_publish_done *done;
    void *ctx;
};

struct spec_sinks {
    struct sinks base;
    struct loop *loop;
    LIST_HEAD(, spec_sink) all;
    LIST_HEAD(, spec_publish) waiting;
    struct spec_published *items;
    size_t count;
    char *failure; /* NULL: none */
};

static struct spec_sinks *sinks_of(struct sinks *sinks)
{
    return container_of(sinks, struct spec_sinks, base);
}

static struct sink *claim(struct sinks *base, const struct sink_config *config, struct err *err)
{
    struct spec_sinks *sinks = sinks_of(base);
    struct spec_sink *sink;
    struct sink_target target;
    if (!sink_target_read(config->to, &target, err)) return NULL;
    LIST_FOREACH (sink, &sinks->all, link)
        if (strcmp(sink->script, config->script) == 0 && strcmp(sink->name, config->name) == 0)
            return (struct sink *)sink;
    sink = NEW(struct spec_sink);
    *sink = (struct spec_sink){.sinks = sinks,
                               .script = xstrdup(config->script),
                               .name = xstrdup(config->name),
                               .scheme = target.scheme};
    LIST_INSERT_HEAD(&sinks->all, sink, link);
    return (struct sink *)sink;
}

/* Sinks stay as long as the spec. */
static void release(struct sink *sink) {}

static void use(struct sink *sink, const struct sink_config *config) {}

static void hold(struct sink *sink, const struct sink_config *config, const char *reason) {}

static void confirm(struct sink *sink) {}

/* --- publishing */

static void free_event(struct spec_published *event)
{
    free(event->sink);
    free(event->id);
    free(event->key);
    buf_clear(&event->json);
}

static void free_publish(struct spec_publish *publish)
{
    timer_cancel(&publish->timer);
    LIST_REMOVE(publish, link);
    free_event(&publish->event);
    free(publish);
}

static void on_timer(struct timer *timer)
{
    struct spec_publish *publish = container_of(timer, struct spec_publish, timer);
    struct spec_sinks *sinks = publish->sinks;
    struct clock *clock = loop_clock(sinks->loop);
    struct err err;
    if (!sinks->failure) {
        *array_add(sinks->items, sinks->count) = publish->event;
        publish->event = (struct spec_published){0};
        publish->done(publish->ctx, NULL);
    } else if (clock_now_ms(clock) < publish->until_ms) {
        timer_start(timer, clock, publish->until_ms - clock_now_ms(clock));
        return;
    } else {
        err_set(&err, ERR_TIMEOUT, "sink %s: the event was not stored in time: %s", publish->event.sink,
                sinks->failure);
        publish->done(publish->ctx, &err);
    }
    free_publish(publish);
}

static struct sink_publish *publish_event(struct sink *given, const struct sink_event *event,
                                          int64_t timeout_ms, sink_publish_done *done, void *ctx)
{
    struct spec_sink *sink = (struct spec_sink *)given;
    struct clock *clock = loop_clock(sink->sinks->loop);
    struct spec_publish *publish = NEW(struct spec_publish);
    *publish = (struct spec_publish){.sinks = sink->sinks,
                                     .timer.fn = on_timer,
                                     .until_ms = clock_now_ms(clock) + timeout_ms,
                                     .event = {.sink = xstrdup(sink->name),
                                               .id = xstrndup(event->id.p, event->id.n),
                                               .key = xstrndup(event->key.p, event->key.n)},
                                     .done = done,
                                     .ctx = ctx};
    buf_str(&publish->event.json, event->json);
    LIST_INSERT_HEAD(&sink->sinks->waiting, publish, link);
    timer_start(&publish->timer, clock, 0);
    return (struct sink_publish *)publish;
}

static void cancel(struct sink_publish *publish)
{
    free_publish((struct spec_publish *)publish);
}

static void get_status(struct sink *given, struct sink_status *status)
{
    const struct spec_sink *sink = (const struct spec_sink *)given;
    *status = (struct sink_status){.name = sink->name, .scheme = sink_scheme_name(sink->scheme)};
}

/* --- for the spec */

struct sinks *spec_sinks_new(struct loop *loop)
{
    struct spec_sinks *sinks = NEW(struct spec_sinks);
    *sinks = (struct spec_sinks){.base = {.claim = claim,
                                          .release = release,
                                          .use = use,
                                          .hold = hold,
                                          .confirm = confirm,
                                          .publish = publish_event,
                                          .cancel = cancel,
                                          .status = get_status},
                                 .loop = loop};
    LIST_INIT(&sinks->all);
    LIST_INIT(&sinks->waiting);
    return &sinks->base;
}

void spec_sinks_free(struct sinks *base)
{
    struct spec_sink *sink;
    struct spec_publish *publish;
    if (!base) return;
    struct spec_sinks *sinks = sinks_of(base);
    while ((publish = LIST_FIRST(&sinks->waiting))) free_publish(publish);
    while ((sink = LIST_FIRST(&sinks->all))) {
        LIST_REMOVE(sink, link);
        free(sink->script);
        free(sink->name);
        free(sink);
    }
    for (size_t i = 0; i < sinks->count; i++) free_event(&sinks->items[i]);
    free(sinks->items);
    free(sinks->failure);
    free(sinks);
}

const struct spec_published *spec_sinks_published(const struct sinks *base, size_t *count)
{
    const struct spec_sinks *sinks = container_of(base, struct spec_sinks, base);
    *count = sinks->count;
    return sinks->items;
}

void spec_sinks_fail(struct sinks *base, const char *reason)
{
    struct spec_sinks *sinks = sinks_of(base);
    struct spec_publish *publish;
    free(sinks->failure);
    sinks->failure = reason ? xstrdup(reason) : NULL;
    if (reason) return;
    LIST_FOREACH (publish, &sinks->waiting, link) timer_start(&publish->timer, loop_clock(sinks->loop), 0);
}

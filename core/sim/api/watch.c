/* Watches; see watch.h. */
#include "sim/api/watch.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/must.h"
#include "sim/api/encode.h"
#include "sim/object/status.h"
#include "sim/proto/wire.h"
#include "sim/store/form.h"

enum {
    SIM_WATCH_BATCH_MAX = 128,
    DEFAULT_TIMEOUT_S = 1800, /* of a watch that names none */
    /* Before the end, a last bookmark is sent, so that the client continues from a fresh version. */
    BEFORE_DEADLINE_MS = 2000,
};

struct sim_watch {
    struct sim_stream stream;
    struct sim_api *api;
    const struct sim_served *served;
    struct sim_list_options options;
    struct sim_view view;
    char *prefix;         /* of its namespace */
    struct omap *initial; /* objects that are sent first */
    struct omap_cursor cursor;
    enum { WATCH_INITIAL, WATCH_LIVE } stage;
    bool end_bookmark;
    uint64_t began;   /* bookmarks are of later versions, delivered or not */
    uint64_t version; /* up to which the client was sent everything that concerns it */
    int64_t deadline_ms, bookmark_ms;
    struct sim_watcher watcher;
    struct sim_event batch[SIM_WATCH_BATCH_MAX]; /* with references of their own */
    size_t batch_count;
    size_t sent;
    struct sim_out out;
    struct sim_actions actions;
    enum sim_then then;
    int fd;
    bool polled;
};

static int64_t now_ms(const struct sim_watch *watch)
{
    return clock_now_ms(sim_clock(watch->api));
}

/* Releases the batch, with the store's lock. */
static void give_back_batch(struct sim_watch *watch)
{
    for (size_t i = 0; i < watch->batch_count; i++) {
        sim_object_unref(watch->batch[i].object);
        sim_object_unref(watch->batch[i].before);
    }
    watch->batch_count = 0;
}

static void watch_free(struct sim_stream *stream)
{
    struct sim_watch *watch = container_of(stream, struct sim_watch, stream);
    sim_store_lock(watch->api->store);
    give_back_batch(watch);
    omap_unref(watch->initial);
    if (watch->watcher.resource) sim_watcher_leave(&watch->watcher);
    sim_actions_clear(&watch->watcher.actions);
    sim_store_unlock(watch->api->store);
    atomic_fetch_sub(&watch->api->stats.open_watches, 1);
    if (watch->watcher.wake_fd >= 0) close(watch->watcher.wake_fd);
    sim_list_options_clear(&watch->options);
    sim_actions_clear(&watch->actions);
    sim_out_clear(&watch->out);
    free((char *)watch->view.include_object);
    free(watch->prefix);
    free(watch);
}

static bool in_scope(const struct sim_watch *watch, const struct sim_object *object)
{
    return strncmp(object->key, watch->prefix, strlen(watch->prefix)) == 0;
}

static bool selected(const struct sim_watch *watch, const struct sim_object *object)
{
    return object && sim_list_selects(&watch->options, object);
}

/* An object is no list: a server ends there. */
static bool ends(struct sim_watch *watch)
{
    bool ended = watch->view.form == SIM_FORM_PARTIAL_LIST;
    if (ended) watch->then = SIM_THEN_END;
    return ended;
}

static void send_event(struct sim_watch *watch, const char *type, const struct sim_object *object,
                       uint64_t version)
{
    if (ends(watch)) return;
    sim_form_event(&watch->out, &watch->view, type, object, version);
    watch->sent++;
    sim_count(&watch->api->stats.events, 1);
}

/* Writes an event. An object that begins or ceases to match is added or deleted for this client; the last
 * state it receives is the one that matched, with the version of the change. */
static void render(struct sim_watch *watch, const struct sim_event *event)
{
    if (event->version <= watch->version) return; /* the watch began at a version of the future */
    watch->version = event->version;
    if (!in_scope(watch, event->object)) return;
    bool was = selected(watch, event->before),
         is = event->type != SIM_DELETED && selected(watch, event->object);
    if (is)
        send_event(watch, was ? "MODIFIED" : "ADDED", event->object, 0);
    else if (was)
        send_event(watch, "DELETED", event->type == SIM_DELETED ? event->object : event->before,
                   event->version);
}

static void put_bookmark(struct sim_watch *watch, bool initial_end)
{
    if (ends(watch)) return;
    sim_form_bookmark(&watch->out, &watch->view, watch->version, initial_end);
    sim_count(&watch->api->stats.bookmarks, 1);
}

static void produce_initial(struct sim_watch *watch)
{
    const struct sim_object *object = omap_next(&watch->cursor);
    if (object && in_scope(watch, object)) {
        if (selected(watch, object)) send_event(watch, "ADDED", object, 0);
        return;
    }
    watch->stage = WATCH_LIVE;
    if (watch->end_bookmark) put_bookmark(watch, true);
    sim_store_lock(watch->api->store);
    omap_unref(watch->initial);
    watch->initial = NULL;
    sim_store_unlock(watch->api->store);
}

/* Schedules the next bookmark: after the interval, or shortly before the watch ends. */
static void schedule_bookmark(struct sim_watch *watch)
{
    int64_t now = now_ms(watch), before = watch->deadline_ms - BEFORE_DEADLINE_MS;
    watch->bookmark_ms = now + watch->api->settings.bookmark_ms;
    if (before > now && before < watch->bookmark_ms) watch->bookmark_ms = before;
}

/* Takes new events, with the store's lock, as many as fit. */
static void take_events(struct sim_watch *watch)
{
    struct sim_history *history = &watch->watcher.resource->history;
    /* With an action pending one event at a time, as the action is due after an exact number of events. */
    size_t max = STAILQ_EMPTY(&watch->actions) ? SIM_WATCH_BATCH_MAX : 1, bytes = watch->out.len;
    give_back_batch(watch);
    if (watch->watcher.next < history->first) watch->watcher.ended = true; /* too slow: it lost events */
    while (watch->batch_count < max && bytes < watch->out.room) {
        const struct sim_event *event = sim_history_at(history, watch->watcher.next);
        if (!event) break;
        sim_object_ref(event->object);
        if (event->before) sim_object_ref(event->before);
        watch->batch[watch->batch_count++] = *event;
        watch->watcher.next++;
        bytes += event->object->len;
    }
}

/* Takes injected actions, with the store's lock: those since the last call are due from here on. */
static void take_injected(struct sim_watch *watch)
{
    struct sim_action *action;
    STAILQ_FOREACH (action, &watch->watcher.actions, link) action->after += watch->sent;
    STAILQ_CONCAT(&watch->actions, &watch->watcher.actions);
}

/* Handles a watch without events: a bookmark, the end, or sleep. Returns false at its end. */
static bool idle(struct sim_watch *watch, uint64_t store_version)
{
    int64_t now = now_ms(watch);
    if (now >= watch->bookmark_ms) {
        schedule_bookmark(watch);
        if (watch->options.bookmarks && store_version > watch->began) {
            watch->version = store_version;
            put_bookmark(watch, false);
        }
    }
    return now < watch->deadline_ms;
}

/* Sleeps; returns false if the client disconnected. */
static bool nap(struct sim_watch *watch)
{
    int64_t until = watch->bookmark_ms < watch->deadline_ms ? watch->bookmark_ms : watch->deadline_ms,
            left = until - now_ms(watch);
    struct pollfd fds[] = {{.fd = watch->watcher.wake_fd, .events = POLLIN},
                           {.fd = watch->fd, .events = POLLRDHUP}};
    eventfd_t count;
    poll(fds, 2, left > 0 ? (int)left : 0);
    if (fds[0].revents) eventfd_read(watch->watcher.wake_fd, &count);
    return fds[1].revents == 0;
}

/* Runs one round of a live watch; returns false when it ends. */
static bool produce_live(struct sim_watch *watch)
{
    struct sim_store *store = watch->api->store;
    sim_store_lock(store);
    take_injected(watch);
    bool acting = !STAILQ_EMPTY(&watch->actions) && STAILQ_FIRST(&watch->actions)->after <= watch->sent;
    if (!acting) take_events(watch);
    bool ended = watch->watcher.ended, nothing = !acting && watch->batch_count == 0;
    uint64_t version = store->version;
    /* Set with the lock held, so that a write between this check and the sleep wakes the watch. */
    watch->watcher.asleep = nothing && !ended && watch->out.len == 0;
    sim_store_unlock(store);

    for (size_t i = 0; i < watch->batch_count; i++) render(watch, &watch->batch[i]);
    if (!nothing) return true;
    if (ended || !idle(watch, version)) watch->then = SIM_THEN_END;
    return watch->then == SIM_THEN_END || watch->out.len > 0 || (!watch->polled && nap(watch));
}

static bool produce(struct sim_watch *watch)
{
    struct sim_action *action = sim_actions_due(&watch->actions, watch->sent);
    if (action) return sim_out_act(&watch->out, action, &watch->then, watch->fd);
    if (watch->stage == WATCH_LIVE) return produce_live(watch);
    produce_initial(watch);
    return true;
}

static ssize_t watch_read(struct sim_stream *stream, char *to, size_t room)
{
    struct sim_watch *watch = container_of(stream, struct sim_watch, stream);
    sim_out_begin(&watch->out, to, room);
    while (!sim_out_full(&watch->out) && watch->then == SIM_THEN_GO_ON) {
        size_t had = watch->out.len;
        if (!produce(watch)) return watch->polled ? SIM_STREAM_LATER : SIM_STREAM_BROKEN;
        if (had && watch->out.len == had && watch->stage == WATCH_LIVE) break; /* all that is ready */
    }
    return watch->out.len ? (ssize_t)watch->out.len : sim_stream_end(watch->then, watch->fd);
}

/* Ends the watch with a single error. Takes `status`. */
static void fail_with(struct sim_watch *watch, json_t *status)
{
    struct buf line = {0};
    sim_form_error(&line, status);
    size_t len = line.len;
    struct sim_action *action = sim_action_new(0, buf_take(&line), len, SIM_THEN_END);
    STAILQ_INSERT_HEAD(&watch->actions, action, link);
}

/* Starts the watch, with the store's lock. One that cannot begin reports that in its stream, as on a real
 * server. */
static void begin(struct sim_watch *watch, bool initial_given)
{
    struct sim_store *store = watch->api->store;
    struct sim_resource *resource = watch->served->resource;
    struct sim_list_options *options = &watch->options;
    uint64_t next = resource->history.next;
    bool from_version = options->version > 0 && !options->send_initial;
    bool to_come = options->send_initial && options->version > store->version;
    /* A watch without a version begins with the present objects too, unless sendInitialEvents=false excludes
     * them. */
    bool with_present = !to_come && (options->send_initial || (options->version == 0 && !initial_given));
    const struct sim_event *last = sim_history_at(&resource->history, next - 1);
    watch->version = from_version ? options->version : store->version;
    watch->began = last && last->version > watch->version ? last->version : watch->version;
    watch->stage = WATCH_LIVE;
    if (from_version && !sim_history_after(&resource->history, options->version, &next))
        fail_with(watch, sim_status_too_old(options->version, resource->history.forgotten));
    if (to_come) fail_with(watch, sim_status_too_large(options->version, store->version));
    if (with_present) {
        /* The map never changes, so the present objects are sent without the lock while writes continue. */
        watch->stage = WATCH_INITIAL;
        watch->initial = omap_ref(resource->map);
        omap_seek(&watch->cursor, watch->initial, watch->prefix);
    }
    sim_watcher_join(&watch->watcher, resource, next);
}

static struct sim_watch *watch_new(struct sim_api *api, const struct sim_request *request,
                                   const struct sim_target *target, struct sim_list_options *options,
                                   struct sim_faulty *faulty)
{
    struct sim_watch *watch = NEW(struct sim_watch);
    struct sim_media media = sim_negotiate_of(target->served->kind, request->accept);
    int64_t timeout_s = options->timeout_s ? options->timeout_s : DEFAULT_TIMEOUT_S;
    *watch = (struct sim_watch){.stream = {watch_read, watch_free},
                                .api = api,
                                .served = target->served,
                                .options = *options,
                                .fd = request->fd,
                                .polled = request->polled};
    *options = (struct sim_list_options){0};
    if (faulty->ignores_initial_events) watch->options.send_initial = false;
    watch->end_bookmark = watch->options.send_initial && watch->options.bookmarks && !faulty->no_end_bookmark;
    watch->view = (struct sim_view){.api = api,
                                    .served = target->served,
                                    .form = media.form,
                                    .beta = media.beta && !media.protobuf,
                                    .include_object = xstrdup(watch->options.include_object)};
    watch->prefix = target->namespace_ ? xasprintf("%s/", target->namespace_) : xstrdup("");
    watch->deadline_ms = clock_now_ms(sim_clock(api)) + timeout_s * 1000;
    watch->watcher.wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    must(watch->watcher.wake_fd >= 0);
    STAILQ_INIT(&watch->watcher.actions);
    STAILQ_INIT(&watch->actions);
    STAILQ_CONCAT(&watch->actions, &faulty->actions);
    schedule_bookmark(watch);
    return watch;
}

void sim_watch(struct sim_api *api, const struct sim_request *request, const struct sim_target *target,
               struct sim_list_options *options, struct sim_faulty *faulty, struct sim_reply *reply)
{
    bool initial_given = sim_query(request, "sendInitialEvents") && !faulty->ignores_initial_events;
    struct sim_watch *watch = watch_new(api, request, target, options, faulty);
    sim_count(watch->options.send_initial ? &api->stats.watch_lists : &api->stats.watches, 1);
    atomic_fetch_add(&api->stats.open_watches, 1);
    sim_store_lock(api->store);
    begin(watch, initial_given);
    sim_store_unlock(api->store);
    reply->code = 200;
    reply->stream = &watch->stream;
    reply->live = true;
    if (!sim_negotiate_of(target->served->kind, request->accept).protobuf) return;
    reply->stream = sim_encode_watch(reply->stream);
    reply->content_type = SIM_WIRE_WATCH;
}

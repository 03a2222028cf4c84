/* What a watch sends: the present objects, events, bookmarks, and what faults make of them; see
 * watch_internal.h. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "sim/api/watch_internal.h"

/* One more bookmark so long before the end, so that the client goes on from a fresh version. */
enum { BEFORE_DEADLINE_MS = 2000 };

static int64_t now_ms(const struct watch *watch)
{
    return clock_now_ms(sim_clock(watch->api));
}

/* With the store's lock. */
static void give_back_batch(struct watch *watch)
{
    for (size_t i = 0; i < watch->batch_count; i++) {
        sim_object_unref(watch->batch[i].object);
        sim_object_unref(watch->batch[i].before);
    }
    watch->batch_count = 0;
}

void sim_watch_free(struct sim_stream *stream)
{
    struct watch *watch = container_of(stream, struct watch, stream);
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
    free((char *)watch->form.include_object);
    free(watch->prefix);
    free(watch);
}

static bool in_scope(const struct watch *watch, const struct sim_object *object)
{
    return strncmp(object->key, watch->prefix, strlen(watch->prefix)) == 0;
}

static bool selected(const struct watch *watch, const struct sim_object *object)
{
    return object && sim_object_matches(object, watch->options.labels, watch->options.fields);
}

static void send_event(struct watch *watch, const char *type, const struct sim_object *object,
                       uint64_t version)
{
    sim_form_event(&watch->out, &watch->form, type, object, version);
    watch->sent++;
    watch->told = watch->version;
    sim_count(&watch->api->stats.events, 1);
}

/* An object that begins or ceases to match is added or deleted in the eyes of this client; what it sees last
 * is the object that matched, with the version of the change. */
static void render(struct watch *watch, const struct sim_event *event)
{
    if (event->version <= watch->version) return; /* asked for a version that was still to come */
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

static void put_bookmark(struct watch *watch, bool initial_end)
{
    sim_form_bookmark(&watch->out, &watch->form, watch->version, initial_end);
    watch->told = watch->version;
    sim_count(&watch->api->stats.bookmarks, 1);
}

static void produce_initial(struct watch *watch)
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

void sim_watch_schedule_bookmark(struct watch *watch)
{
    int64_t now = now_ms(watch), before = watch->deadline_ms - BEFORE_DEADLINE_MS;
    watch->bookmark_ms = now + watch->api->settings.bookmark_ms;
    if (before > now && before < watch->bookmark_ms) watch->bookmark_ms = before;
}

/* With the store's lock: everything there is, up to what fits. */
static void take_events(struct watch *watch)
{
    struct sim_history *history = &watch->watcher.resource->history;
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

/* With the store's lock: what was injected since the last time is due from here on. */
static void take_injected(struct watch *watch)
{
    struct sim_action *action;
    STAILQ_FOREACH (action, &watch->watcher.actions, link) action->after += watch->sent;
    STAILQ_CONCAT(&watch->actions, &watch->watcher.actions);
}

/* Nothing to send: a bookmark, the end, or sleep. False when there is nothing to wait for any more. */
static bool idle(struct watch *watch, uint64_t store_version)
{
    int64_t now = now_ms(watch);
    if (now >= watch->bookmark_ms) {
        sim_watch_schedule_bookmark(watch);
        if (watch->options.bookmarks && store_version > watch->told) {
            watch->version = store_version;
            put_bookmark(watch, false);
        }
    }
    return now < watch->deadline_ms;
}

/* False when the client has gone. */
static bool nap(struct watch *watch)
{
    int64_t until = watch->bookmark_ms < watch->deadline_ms ? watch->bookmark_ms : watch->deadline_ms;
    int64_t left = until - now_ms(watch);
    struct pollfd fds[] = {{.fd = watch->watcher.wake_fd, .events = POLLIN},
                           {.fd = watch->fd, .events = POLLRDHUP}};
    eventfd_t count;
    poll(fds, 2, left > 0 ? (int)left : 0);
    if (fds[0].revents) eventfd_read(watch->watcher.wake_fd, &count);
    return fds[1].revents == 0;
}

/* One round of a live watch; false when it ends. */
static bool produce_live(struct watch *watch)
{
    struct sim_store *store = watch->api->store;
    sim_store_lock(store);
    take_injected(watch);
    bool acting = !STAILQ_EMPTY(&watch->actions) && STAILQ_FIRST(&watch->actions)->after <= watch->sent;
    if (!acting) take_events(watch);
    bool ended = watch->watcher.ended, nothing = !acting && watch->batch_count == 0;
    uint64_t version = store->version;
    watch->watcher.asleep = nothing && !ended && watch->out.len == 0;
    sim_store_unlock(store);

    for (size_t i = 0; i < watch->batch_count; i++) render(watch, &watch->batch[i]);
    if (!nothing) return true;
    if (ended || !idle(watch, version)) {
        watch->then = SIM_THEN_END;
        return true;
    }
    return watch->out.len > 0 || (!watch->polled && nap(watch));
}

/* False when the other side went away during a pause. */
static bool act(struct watch *watch, struct sim_action *action)
{
    bool ok = !action->pause_ms || sim_wait(watch->fd, action->pause_ms);
    if (action->text) sim_out_put(&watch->out, (struct str){action->text, action->len});
    watch->then = action->then;
    sim_action_free(action);
    return ok;
}

static ssize_t finish(struct watch *watch)
{
    if (watch->then == SIM_THEN_SILENCE) sim_wait(watch->fd, -1);
    if (watch->then == SIM_THEN_RESET) return SIM_STREAM_RESET;
    return watch->then == SIM_THEN_END ? SIM_STREAM_END : SIM_STREAM_BROKEN;
}

static bool produce(struct watch *watch)
{
    struct sim_action *action = sim_actions_due(&watch->actions, watch->sent);
    if (action) return act(watch, action);
    if (watch->stage == WATCH_LIVE) return produce_live(watch);
    produce_initial(watch);
    return true;
}

ssize_t sim_watch_read(struct sim_stream *stream, char *to, size_t room)
{
    struct watch *watch = container_of(stream, struct watch, stream);
    sim_out_begin(&watch->out, to, room);
    while (!sim_out_full(&watch->out) && watch->then == SIM_THEN_GO_ON) {
        size_t had = watch->out.len;
        if (!produce(watch)) return watch->polled ? SIM_STREAM_LATER : SIM_STREAM_BROKEN;
        if (had && watch->out.len == had && watch->stage == WATCH_LIVE) break; /* all that is ready */
    }
    return watch->out.len ? (ssize_t)watch->out.len : finish(watch);
}

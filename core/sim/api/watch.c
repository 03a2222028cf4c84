/* Where watches begin; see watch.h. */
#include "sim/api/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "base/mem.h"
#include "base/must.h"
#include "sim/api/watch_internal.h"
#include "sim/object/status.h"

enum { DEFAULT_TIMEOUT_S = 1800 }; /* of a watch that names none */

/* Takes `status`: all that the watch says. */
static void fail_with(struct watch *watch, json_t *status)
{
    json_t *event = json_pack("{ss so}", "type", "ERROR", "object", status);
    struct buf line = {0};
    char *text = json_dumps(event, JSON_COMPACT);
    buf_printf(&line, "%s\n", text);
    free(text);
    json_decref(event);
    size_t len = line.len;
    struct sim_action *action = sim_action_new(0, buf_take(&line), len, SIM_THEN_END);
    STAILQ_INSERT_HEAD(&watch->actions, action, link);
}

static json_t *too_old(const struct watch *watch, uint64_t oldest)
{
    char *message = xasprintf("too old resource version: %llu (%llu)",
                              (unsigned long long)watch->options.version, (unsigned long long)oldest);
    json_t *status = sim_status_expired(message, NULL);
    free(message);
    return status;
}

static json_t *too_large(const struct watch *watch, uint64_t newest)
{
    char asked[24], current[24];
    snprintf(asked, sizeof asked, "%llu", (unsigned long long)watch->options.version);
    snprintf(current, sizeof current, "%llu", (unsigned long long)newest);
    return sim_status_too_large(asked, current);
}

/* With the store's lock: where the watch begins. One that cannot begin there says so in its stream, as on a
 * real server. */
static void begin(struct watch *watch, bool initial_given)
{
    struct sim_store *store = watch->api->store;
    struct sim_resource *resource = watch->served->resource;
    struct sim_list_options *options = &watch->options;
    uint64_t next = resource->history.next;
    bool from_version = options->version > 0 && !options->send_initial;
    bool to_come = options->send_initial && options->version > store->version;
    bool with_present = !to_come && (options->send_initial || (options->version == 0 && !initial_given));
    watch->version = watch->told = from_version ? options->version : store->version;
    watch->stage = WATCH_LIVE;
    if (from_version && !sim_history_after(&resource->history, options->version, &next))
        fail_with(watch, too_old(watch, resource->history.forgotten));
    if (to_come) fail_with(watch, too_large(watch, store->version));
    if (with_present) {
        watch->stage = WATCH_INITIAL;
        watch->initial = omap_ref(resource->map);
        omap_seek(&watch->cursor, watch->initial, watch->prefix);
    }
    sim_watcher_join(&watch->watcher, resource, next);
}

static struct watch *watch_new(struct sim_api *api, const struct sim_request *request,
                               const struct sim_target *target, struct sim_list_options *options,
                               struct sim_faulty *faulty)
{
    struct watch *watch = NEW(struct watch);
    int64_t timeout_s = options->timeout_s ? options->timeout_s : DEFAULT_TIMEOUT_S;
    *watch = (struct watch){.stream = {sim_watch_read, sim_watch_free},
                            .api = api,
                            .served = target->served,
                            .options = *options,
                            .fd = request->fd,
                            .polled = request->polled};
    *options = (struct sim_list_options){0};
    if (faulty->ignores_initial_events) watch->options.send_initial = false;
    watch->end_bookmark = watch->options.send_initial && watch->options.bookmarks && !faulty->no_end_bookmark;
    watch->form = (struct sim_event_form){.served = target->served,
                                          .form = sim_negotiate(request->accept),
                                          .include_object = xstrdup(watch->options.include_object)};
    watch->prefix = target->namespace_ ? xasprintf("%s/", target->namespace_) : xstrdup("");
    watch->deadline_ms = clock_now_ms(sim_clock(api)) + timeout_s * 1000;
    watch->watcher.wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    must(watch->watcher.wake_fd >= 0);
    STAILQ_INIT(&watch->watcher.actions);
    STAILQ_INIT(&watch->actions);
    STAILQ_CONCAT(&watch->actions, &faulty->actions);
    sim_watch_schedule_bookmark(watch);
    return watch;
}

void sim_watch(struct sim_api *api, const struct sim_request *request, const struct sim_target *target,
               struct sim_list_options *options, struct sim_faulty *faulty, struct sim_reply *reply)
{
    bool initial_given = sim_query(request, "sendInitialEvents") && !faulty->ignores_initial_events;
    struct watch *watch = watch_new(api, request, target, options, faulty);
    sim_count(watch->options.send_initial ? &api->stats.watch_lists : &api->stats.watches, 1);
    atomic_fetch_add(&api->stats.open_watches, 1);
    if (watch->form.form == SIM_FORM_UNACCEPTABLE) {
        sim_reply_status(reply, sim_status_not_acceptable("application/json"));
        sim_watch_free(&watch->stream);
        return;
    }
    sim_store_lock(api->store);
    begin(watch, initial_given);
    sim_store_unlock(api->store);
    reply->code = 200;
    reply->stream = &watch->stream;
    reply->live = true;
}

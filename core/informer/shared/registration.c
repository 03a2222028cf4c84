/* Registration of one handler; see registration.h. Replaying its calls must result in exactly the objects
 * that pass its filter, so the previous state is that of the cache, never the last one that the server sent.
 */
#include "informer/shared/registration.h"

#include <stdlib.h>

#include "base/mem.h"
#include "informer/reflect/delta_fifo.h"

struct change change_of_put(struct root *before, struct root *object, const struct event_info *info)
{
    enum notification call = NOTIFY_ADD;
    if (before) call = is_unchanged(before, object) ? NOTIFY_UNCHANGED : NOTIFY_UPDATE;
    return (struct change){call, before, object, *info};
}

static const struct handler_options no_options;

static const struct handler_options *options_of(const struct registration *r)
{
    return r->handler.options ? r->handler.options : &no_options;
}

struct registration *registration_new(const struct event_handler *handler, int64_t now_ms)
{
    struct registration *r = NEW(struct registration);
    r->handler = *handler;
    if (r->handler.options) handler_options_ref(r->handler.options);
    r->next_resync_ms = now_ms + options_of(r)->resync_ms;
    return r;
}

void registration_replace(struct registration *r, const struct event_handler *handler, int64_t now_ms)
{
    struct handler_options *before = r->handler.options;
    int64_t period_ms = registration_resync_ms(r);
    r->handler = *handler;
    if (r->handler.options) handler_options_ref(r->handler.options);
    /* A reload with the same period must not delay the next resync each time. */
    if (registration_resync_ms(r) != period_ms) r->next_resync_ms = now_ms + registration_resync_ms(r);
    handler_options_unref(before);
}

void registration_free(struct registration *registration)
{
    handler_options_unref(registration->handler.options);
    free(registration);
}

int64_t registration_resync_ms(const struct registration *registration)
{
    return options_of(registration)->resync_ms;
}

bool registration_is_due(struct registration *r, int64_t now_ms)
{
    int64_t period_ms = registration_resync_ms(r);
    r->syncing = period_ms != RESYNC_NEVER && now_ms >= r->next_resync_ms;
    /* From now and not from the missed time, so that a late tick is not followed by several at once (I-16).
     */
    if (r->syncing) r->next_resync_ms = now_ms + period_ms;
    return r->syncing;
}

/* Checked before each use: the filter's function may remove its handler, whose context may be freed by then.
 */
static bool passes(const struct registration *r, struct root *object)
{
    if (r->removed) return false;
    const struct filter *filter = options_of(r)->filter;
    if (filter && !filter_passes(filter, object)) return false;
    return !r->handler.passes || r->handler.passes(r->handler.ctx, object);
}

/* Checks `removed` once more, as the filter's function may have removed the handler. */
static void call_add(const struct registration *r, struct root *object, const struct event_info *info)
{
    const struct event_handler *h = &r->handler;
    if (h->on_add && !r->removed) h->on_add(h->ctx, object, info);
}

static void call_update(const struct registration *r, struct root *before, struct root *object,
                        const struct event_info *info)
{
    const struct event_handler *h = &r->handler;
    if (h->on_update && !r->removed) h->on_update(h->ctx, before, object, info);
}

static void call_delete(const struct registration *r, struct root *stored, struct root *last,
                        const struct event_info *info)
{
    const struct event_handler *h = &r->handler;
    struct event_info gone = *info;
    gone.stored = stored;
    if (h->on_delete && !r->removed) h->on_delete(h->ctx, last, &gone);
}

/* Returns whether these are two objects of the same name. */
static bool is_recreated(const struct root *before, const struct root *after)
{
    struct text text_a, text_b;
    struct str a = root_uid(before, &text_a), b = root_uid(after, &text_b);
    return a.n && b.n && !str_eq(a, b);
}

/* Notifies of a delete, which no event reported, and of an add (Q-22, better). */
static void notify_recreated(const struct registration *r, const struct change *change)
{
    struct event_info gone = change->info;
    gone.final_state_unknown = true;
    if (passes(r, change->before)) call_delete(r, change->before, change->before, &gone);
    if (passes(r, change->object)) call_add(r, change->object, &change->info);
}

/* Decides from the filter, before and after, what an update is for this handler (I-18). A resync changes
 * nothing and is delivered whatever paths the handler named. */
static void notify_update(const struct registration *r, const struct change *change)
{
    struct root *before = change->before, *object = change->object;
    /* A resync has one object, so the filter is evaluated once. */
    bool passed = passes(r, before), now = object == before ? passed : passes(r, object);
    struct event_info made = change->info;
    made.initial = false;
    made.filtered = true;
    if (passed && now) {
        if (change->call == NOTIFY_RESYNC || handler_options_cares(options_of(r), before, object))
            call_update(r, before, object, &change->info);
    } else if (now) {
        call_add(r, object, &made);
    } else if (passed) {
        call_delete(r, before, before, &made);
    }
}

/* Decides by the stored state: the last one may no longer pass although the handler knows the object, and the
 * other way round. */
static void notify_delete(const struct registration *r, const struct change *change)
{
    struct root *stored = change->before;
    if (passes(r, stored ? stored : change->object)) call_delete(r, stored, change->object, &change->info);
}

static void deliver_change(const struct registration *r, const struct change *change)
{
    switch (change->call) {
    case NOTIFY_ADD:
        if (passes(r, change->object)) call_add(r, change->object, &change->info);
        break;
    case NOTIFY_UPDATE:
        if (options_of(r)->split_recreated && is_recreated(change->before, change->object))
            notify_recreated(r, change);
        else
            notify_update(r, change);
        break;
    case NOTIFY_UNCHANGED:
    case NOTIFY_RESYNC: notify_update(r, change); break;
    case NOTIFY_DELETE: notify_delete(r, change); break;
    }
}

void registration_notify(const struct registration *r, const struct change *change)
{
    if (change->call == NOTIFY_UNCHANGED && !options_of(r)->unchanged) return;
    if (change->info.warm && r->handler.knows_stored) return;
    if (change->call == NOTIFY_RESYNC && !r->syncing) return;
    if (!r->handler.keeps || !r->handler.keeps(r->handler.ctx, change)) deliver_change(r, change);
}

void registration_deliver_kept(const struct event_handler *handler, const struct change *change)
{
    const struct registration r = {.handler = *handler};
    deliver_change(&r, change);
}

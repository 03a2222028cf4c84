/* Objects that become quiet before they are delivered; see debounce.h. */
#include "script/handlers/debounce.h"

#include <stdlib.h>
#include <uthash.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"

/* Bound of one turn of the loop, in which the windows only become pending; the rest follows in the next
 * turn. */
enum { WINDOWS_PER_TURN = 1000 };

struct debounce_window {
    TAILQ_ENTRY(debounce_window) change_link, opening_link;
    struct handler_event event;
    int64_t opened_ms, changed_ms;
    UT_hash_handle hh;
    size_t key_len;
    char key[];
};

/* --- windows */

static struct debounce_window *find(const struct debounce *d, const struct root *object)
{
    struct buf key = {0};
    struct debounce_window *window = NULL;
    if (!d->windows) return NULL;
    root_key(object, &key);
    HASH_FIND(hh, d->windows, key.data, key.len, window);
    buf_clear(&key);
    return window;
}

static void open_window(struct debounce *d, const struct handler_event *event)
{
    struct buf key = {0};
    root_key(event->object, &key);
    struct debounce_window *window = xcalloc(1, sizeof *window + key.len);
    window->event = event_copy(event);
    window->opened_ms = window->changed_ms = clock_now_ms(d->clock);
    window->key_len = key.len;
    memcpy(window->key, key.data, key.len);
    HASH_ADD_KEYPTR(hh, d->windows, window->key, window->key_len, window);
    TAILQ_INSERT_TAIL(&d->by_change, window, change_link);
    TAILQ_INSERT_TAIL(&d->by_opening, window, opening_link);
    d->count++;
    buf_clear(&key);
}

/* Removes the window and returns its event, whose references the caller takes. */
static struct handler_event close_window(struct debounce *d, struct debounce_window *window)
{
    struct handler_event event = window->event;
    HASH_DELETE(hh, d->windows, window);
    TAILQ_REMOVE(&d->by_change, window, change_link);
    TAILQ_REMOVE(&d->by_opening, window, opening_link);
    d->count--;
    free(window);
    return event;
}

static void note_change(struct debounce *d, struct debounce_window *window)
{
    window->changed_ms = clock_now_ms(d->clock);
    TAILQ_REMOVE(&d->by_change, window, change_link);
    TAILQ_INSERT_TAIL(&d->by_change, window, change_link);
}

/* --- time */

/* Returns the window that is due first. All wait equally long, so it is the first of one of the two lists: no
 * heap is needed. */
static struct debounce_window *next_due(const struct debounce *d, int64_t *due_ms)
{
    struct debounce_window *quiet = TAILQ_FIRST(&d->by_change), *old = TAILQ_FIRST(&d->by_opening);
    if (!quiet) return NULL;
    int64_t quiet_ms = quiet->changed_ms + d->quiet_ms, old_ms = old->opened_ms + DEBOUNCE_MOST * d->quiet_ms;
    *due_ms = quiet_ms <= old_ms ? quiet_ms : old_ms;
    return quiet_ms <= old_ms ? quiet : old;
}

/* Starts the timer unless it runs. Too early a timer only starts itself again: cheaper than moving it with
 * each change. */
static void arm(struct debounce *d)
{
    int64_t due_ms;
    if (timer_running(&d->timer) || !next_due(d, &due_ms)) return;
    int64_t delay_ms = due_ms - clock_now_ms(d->clock);
    timer_start(&d->timer, d->clock, delay_ms > 0 ? delay_ms : 0);
}

static void deliver(struct debounce *d, struct debounce_window *window)
{
    struct handler_event event = close_window(d, window);
    d->due(d->ctx, &event);
    event_let_go(&event);
}

static void on_timer(struct timer *timer)
{
    struct debounce *d = container_of(timer, struct debounce, timer);
    struct debounce_window *window;
    int64_t due_ms, now_ms = clock_now_ms(d->clock);
    for (int i = 0; i < WINDOWS_PER_TURN && (window = next_due(d, &due_ms)) && due_ms <= now_ms; i++)
        deliver(d, window);
    arm(d);
}

/* --- life */

struct debounce *debounce_new(struct clock *clock, int64_t quiet_ms,
                              void (*due)(void *ctx, const struct handler_event *event), void *ctx)
{
    struct debounce *d = NEW(struct debounce);
    *d =
        (struct debounce){.clock = clock, .quiet_ms = quiet_ms, .timer.fn = on_timer, .due = due, .ctx = ctx};
    TAILQ_INIT(&d->by_change);
    TAILQ_INIT(&d->by_opening);
    return d;
}

void debounce_clear(struct debounce *d)
{
    struct debounce_window *window;
    timer_cancel(&d->timer);
    while ((window = TAILQ_FIRST(&d->by_change))) {
        struct handler_event event = close_window(d, window);
        event_let_go(&event);
    }
}

void debounce_drop(struct debounce *d, bool (*drops)(void *ctx, struct handler_event *event), void *ctx)
{
    struct debounce_window *window, *next;
    for (window = TAILQ_FIRST(&d->by_change); window; window = next) {
        next = TAILQ_NEXT(window, change_link);
        if (!drops(ctx, &window->event)) continue;
        struct handler_event event = close_window(d, window);
        event_let_go(&event);
    }
}

void debounce_free(struct debounce *d)
{
    if (!d) return;
    debounce_clear(d);
    free(d);
}

void debounce_flush(struct debounce *d)
{
    struct debounce_window *window;
    timer_cancel(&d->timer);
    while ((window = TAILQ_FIRST(&d->by_change))) deliver(d, window);
}

void debounce_move(struct debounce *from, struct debounce *to)
{
    must(to->count == 0);
    timer_cancel(&from->timer);
    TAILQ_CONCAT(&to->by_change, &from->by_change, change_link);
    TAILQ_CONCAT(&to->by_opening, &from->by_opening, opening_link);
    to->windows = from->windows;
    to->count = from->count;
    from->windows = NULL;
    from->count = 0;
    timer_cancel(&to->timer);
    arm(to);
}

/* --- events */

static enum debounced join_delete(struct debounce *d, struct debounce_window *window,
                                  /* A delete is never delayed: work on an object that is gone should stop at
                                   * once. */
                                  const struct handler_event *event, struct handler_event *joined)
{
    bool left = event_join(&window->event, false, event);
    *joined = close_window(d, window);
    if (left) return DEBOUNCE_JOINS_NOW;
    event_let_go(joined);
    return DEBOUNCE_NOTHING;
}

enum debounced debounce_put(struct debounce *d, const struct handler_event *event, bool wanted,
                            struct handler_event *joined)
{
    struct debounce_window *window = find(d, event->object);
    if (!window) {
        if (!wanted) return DEBOUNCE_NOTHING;
        if (event_is_end(event->type) || event->info.initial || event->info.resync) return DEBOUNCE_PASSES;
        open_window(d, event);
        arm(d);
        return DEBOUNCE_WAITS;
    }
    if (event_is_end(event->type)) return join_delete(d, window, event, joined);
    /* A relist or a new term delivers the current state, which makes the pending change obsolete. */
    if (event->info.initial) {
        struct handler_event before = close_window(d, window);
        event_let_go(&before);
        return DEBOUNCE_PASSES;
    }
    /* The pending change delivers at least as much as a resync. */
    if (event->info.resync) return DEBOUNCE_NOTHING;
    event_join(&window->event, false, event);
    note_change(d, window);
    return DEBOUNCE_JOINS;
}

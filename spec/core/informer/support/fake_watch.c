/* How the fake server answers watches and watch-lists; see fake_internal.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "core/informer/support/fake_internal.h"

#define NEVER INT64_MAX

enum { LOCAL_DEADLINE_MS = 30000 }; /* F-14: what the real source gives a silent watch after its time */

static void send_event(struct lw_call *call, enum lw_event_type type, struct root *object)
{
    struct fake_server *server = call->server;
    fake_enter(call);
    if (!fake_refuse(call, object, type == LW_DELETED) && fake_still_there(server))
        call->sink.event(call->ctx, type, root_ref(object), 1);
}

static void send_next_change(struct lw_call *call)
{
    static const enum lw_event_type types[] = {LW_ADDED, LW_MODIFIED, LW_DELETED};
    const struct fake_change *change = &call->server->log[++call->at - FAKE_FIRST];
    send_event(call, types[change->type], change->object);
}

static void send_bookmark(struct lw_call *call, bool end_mark)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)call->at);
    struct lw_bookmark bookmark = {.resource_version = str_of(text), .initial_events_end = end_mark};
    if (end_mark) call->end_mark_at = -1;
    fake_enter(call);
    call->sink.bookmark(call->ctx, &bookmark);
}

static bool owes_end_mark(const struct lw_call *call)
{
    return call->end_mark_at >= 0 && call->end_mark_at != NEVER;
}

/* The first state, then what changed since, with the end mark as soon as it is true, and now and then a
 * bookmark. */
static void send_something(struct lw_call *call)
{
    struct fake_server *server = call->server;
    struct root *state[FAKE_KEYS];
    if (call->todo_count) {
        fake_server_state(server, call->at, state);
        send_event(call, LW_ADDED, state[call->todo[--call->todo_count]]);
    } else if (call->end_mark_at >= 0 && call->at >= call->end_mark_at && fake_dice(server, 0, 2)) {
        send_bookmark(call, true);
    } else if (call->at < fake_visible(server)) {
        send_next_change(call);
    } else if (!owes_end_mark(call) && call->options.allow_watch_bookmarks && !fake_dice(server, 0, 50)) {
        send_bookmark(call, false);
    }
}

static void look_at_watch(struct timer *timer)
{
    struct lw_call *call = container_of(timer, struct lw_call, timer);
    struct fake_server *server = call->server;
    fake_enter(call);
    for (int64_t burst = fake_dice(server, 0, 16); burst > 0; burst--) {
        send_something(call);
        if (!fake_still_there(server)) return;
        if (server->fault_percent && !fake_dice(server, 0, 1000 / server->fault_percent)) {
            fake_fail_somehow(call);
            return;
        }
    }
    if (fake_fault(server)) {
        if (fake_dice(server, 0, 2))
            fake_finish(call, NULL);
        else
            fake_fail_somehow(call);
    } else if (clock_now_ms(server->clock) >= call->end_ms) {
        fake_finish(call, NULL);
    } else {
        timer_start(timer, server->clock, fake_dice(server, 1, 2000));
    }
}

/* Nobody hears of the connection again. */
static void give_up(struct timer *timer)
{
    fake_fail_local(container_of(timer, struct lw_call, timer), ERR_TIMEOUT, "");
}

/* The keys of a state, in any order. */
static void plan_first_state(struct lw_call *call)
{
    struct root *state[FAKE_KEYS];
    fake_server_state(call->server, call->at, state);
    int first = (int)fake_dice(call->server, 0, FAKE_KEYS), step = fake_dice(call->server, 0, 2) ? 5 : 7;
    for (int i = 0; i < FAKE_KEYS; i++) {
        int key = (first + i * step) % FAKE_KEYS;
        if (state[key]) call->todo[call->todo_count++] = key;
    }
}

/* the first state may be older than what was asked for; the end mark may not. One who asks for the
 * newest state waits for what is the newest now. */
static void plan_watch_list(struct lw_call *call, int64_t asked)
{
    struct fake_server *server = call->server;
    bool newest = !call->version[0];
    call->at = fake_dice(server, server->compacted, fake_visible(server) + 1);
    call->end_mark_at = newest ? fake_server_version(server) : asked;
    if (server->no_end_bookmark) call->end_mark_at = NEVER;
    plan_first_state(call);
}

/* without a version or with 0, everything there is comes first. */
static void plan_watch(struct lw_call *call, int64_t asked)
{
    call->end_mark_at = -1;
    call->at = asked;
    if (asked) return;
    call->at = call->version[0]
                   ? fake_dice(call->server, call->server->compacted, fake_visible(call->server) + 1)
                   : fake_server_version(call->server);
    plan_first_state(call);
}

void fake_open_watch(struct timer *timer)
{
    struct lw_call *call = container_of(timer, struct lw_call, timer);
    struct fake_server *server = call->server;
    int64_t asked = strtoll(call->version, NULL, 10);
    bool watch_list = call->options.send_initial_events && !server->ignores_initial_events;
    must(asked == 0 || asked >= FAKE_FIRST - 1);
    must(!watch_list || str_eq(str_of(call->options.resource_version_match), STR("NotOlderThan")));
    if (fake_fault(server)) {
        fake_fail_somehow(call);
    } else if (asked && asked < server->compacted && !watch_list) {
        fake_fail_http(call, 410, fake_dice(server, 0, 2) ? "Expired" : "Gone");
    } else if (asked > fake_visible(server)) {
        fake_fail_http(call, 504, "Timeout");
    } else {
        fake_enter(call);
        if (call->sink.opened) call->sink.opened(call->ctx);
        (watch_list ? plan_watch_list : plan_watch)(call, asked);
        bool silent = fake_dice(server, 0, 100) < server->silent_percent;
        call->timer.fn = silent ? give_up : look_at_watch;
        timer_start(timer, server->clock,
                    silent ? call->end_ms + LOCAL_DEADLINE_MS - clock_now_ms(server->clock) : 0);
    }
}

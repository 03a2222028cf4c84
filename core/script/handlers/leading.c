/* Wins and losses of a script, and from one generation to the next; see leading.h. */
#include "script/handlers/leading.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "informer/leader/leadership.h"
#include "script/handlers/handler.h"
#include "script/handlers/initial_sync.h"
#include "script/handlers/leader_functions.h"
#include "script/vm/feature.h"
#include "script/vm/task.h"
#include "script/vm/turns.h"

/* --- terms */

static void win(struct script *script)
{
    script->own.leading->notified = true;
    leader_functions_begin(script);
    script->own.handlers->attached_all = 0; /* attach leader handlers */
    handlers_attach(script);
    turns_schedule(script); /* workers of leaders have keys */
}

/* The flag and the fence go first: for all steps below the script does not lead any more. Handlers are
 * detached before the stop functions run, so that these see no further events. */
static void lose(struct script *script)
{
    script->own.leading->notified = false;
    fence_unref(script->own.leading->fence);
    script->own.leading->fence = NULL;
    leader_functions_cancel(script);
    handlers_stop_leading(script);
    FEATURES_EACH(script, stop_leading);
    leader_functions_end(script);
    handlers_attach(script);
}

/* Returns whether every part of the script is ready to lead. */
static bool may_lead(struct script *script, struct fence *fence)
{
    bool may = true;
    for (size_t i = 0; i < script->features->count; i++)
        if (script->features->items[i]->lead && !script->features->items[i]->lead(script, fence)) may = false;
    return may;
}

void leading_changed(struct script *script)
{
    struct leading *leading = script->own.leading;
    if (!leading->leadership || leading->over || script->phase != SCRIPT_RUNNING) return;
    /* A fence belongs to one term: another one means that a term was lost and won again between two
     * checks. */
    struct fence *fence = leadership_fence(leading->leadership);
    if (fence == leading->fence) return;
    if (leading->notified) lose(script);
    if (!fence || !may_lead(script, fence)) return;
    leading->fence = fence_ref(fence);
    win(script);
}

void leading_step_down(struct script *script)
{
    if (script->own.leading->over) return;
    script->own.leading->over = true;
    timer_cancel(&script->own.leading->begin);
    if (!script->own.leading->notified) return;
    lose(script);
    tasks_stop(script);
}

/* --- queries */

bool script_leads(const struct script *script)
{
    const struct leading *leading = script->own.leading;
    /* A script with a config has yet to join its election: until then it must not act as the leader. */
    if (!leading->leadership) return !leading->over && !leading->config;
    return leading->fence && fence_is_open(leading->fence);
}

struct fence *leading_fence(const struct script *script)
{
    return script->own.leading->fence;
}

/* --- life */

static void on_begin(struct timer *timer);

void leading_init(struct script *script)
{
    script->own.leading->script = script;
    TAILQ_INIT(&script->own.leading->functions);
    script->own.leading->begin.fn = on_begin;
}

static bool claim(struct script *script, const struct lease_config *config, struct err *err)
{
    struct leading *leading = script->own.leading;
    const struct leading *before = script->load.before ? script->load.before->own.leading : NULL;
    if (!leaders_accept(script->host->cluster->leaders, config, before ? before->joined : NULL, err))
        return false;
    leading->claimed = true;
    leading->config = lease_config_copy(config);
    return true;
}

bool leading_join(struct script *script, const struct lease_config *config, const char *place,
                  struct err *err)
{
    if (!claim(script, config, err)) return false;
    script->own.leading->place = xstrdup(place);
    return true;
}

/* Claims the election of --leader-elect for a script that does not call k8s.leader. */
static bool make_lease_config(struct script *script, struct err *err)
{
    const struct script_host *host = script->host;
    if (script->own.leading->claimed || !host->cluster->leaders || !host->elects) return true;
    return claim(script, &host->lease, err) || err_wrap(err, "--leader-elect");
}

static bool join(struct script *script, struct err *err)
{
    struct leading *leading = script->own.leading;
    bool is_dry = script->write_mode != WRITES_SENT;
    if (!leading->config) return true;
    /* Others of the process compete; a lease that only this script joins would be taken from one that writes.
     */
    if (is_dry && script->host->write_mode == WRITES_SENT) {
        log_info("Leader election is disabled by --dry-run, the script leads", F("script", script->id.name));
        lease_config_free(leading->config);
        leading->config = NULL;
        return true;
    }
    leading->joined = leaders_join(script->host->cluster->leaders, leading->config, err);
    if (!leading->joined) return false; /* a script whose config is refused never leads */
    lease_config_free(leading->config);
    leading->config = NULL;
    /* A dry run joins to check the config, but must not depend on a lease: it always leads. */
    if (!is_dry) leading->leadership = leading->joined;
    return true;
}

static void leave(struct script *script)
{
    if (script->own.leading->joined) leaders_leave(script->own.leading->joined);
    script->own.leading->joined = NULL;
}

/* In a turn of its own: callers are in the middle of a load or handover, and the functions call Lua. */
static void begin_soon(struct script *script)
{
    timer_cancel(&script->own.leading->begin);
    timer_start(&script->own.leading->begin, script_clock(script), 0);
}

/* Handlers of other clusters wait for informers of their own. */
static void attach_others(struct script *script)
{
    const bool starts = script->own.leading->notified && !script->informers.synced; /* which comes first */
    if (!script->own.handlers->wait_for_others || starts) return;
    script->own.handlers->wait_for_others = false;
    script->own.handlers->attached_all = 0;
    handlers_attach(script);
}

void leading_claims_changed(struct script *script)
{
    if (script->phase == SCRIPT_RUNNING) attach_others(script);
    if (script->informers.synced || script->phase != SCRIPT_RUNNING || !initial_sync_reached(script)) return;
    script->own.handlers->attached_all = 0;
    if (script->own.leading->notified)
        begin_soon(script); /* start functions come before handlers */
    else
        handlers_attach(script);
}

static void begin_without_election(struct script *script)
{
    const struct leading *leading = script->own.leading;
    if (!leading->leadership && leading->count > 0) begin_soon(script);
}

void leading_resume(struct script *script)
{
    if (!script->own.leading->waits_for) begin_without_election(script);
    leading_claims_changed(script);
}

bool leading_loaded(struct script *script, struct err *err)
{
    if (!make_lease_config(script, err) || !join(script, err)) return false;
    begin_without_election(script);
    return true;
}

/* --- from one generation to the next */

bool leading_handover(struct script *from, struct script *to, struct err *err)
{
    struct leading *leading = to->own.leading;
    if (!make_lease_config(to, err)) return false;
    if (!leading->config) return true;
    if (!leaders_accept(to->host->cluster->leaders, leading->config, from->own.leading->joined, err))
        return false;
    /* Another lease: the script joins it in on_begin, when the stop functions of `from` have ended. */
    if (!from->own.leading->joined || !leadership_is_of(from->own.leading->joined, leading->config))
        return true;
    bool joined = join(to, err);
    must(joined); /* accepted above */
    leave(from);  /* after the join: the lease has a participant all the time */
    return true;
}

bool leading_keeps_term(const struct script *from, const struct script *to)
{
    return !to->own.leading->config && to->own.leading->leadership == from->own.leading->leadership;
}

/* Calls the stop functions, which go on while the script drains, under the fence of the term. */
static void end_all(struct script *script)
{
    timer_cancel(&script->own.leading->begin);
    if (!script->own.leading->notified) return;
    script->own.leading->notified = false;
    leader_functions_cancel(script);
    leader_functions_end(script);
}

static void stop_waiting(struct script *script)
{
    if (script->own.leading->waits_for) script->own.leading->waits_for->own.leading->awaited_by = NULL;
    script->own.leading->waits_for = NULL;
}

static void wait_for(struct script *script, struct script *earlier)
{
    stop_waiting(script);
    script->own.leading->waits_for = earlier;
    earlier->own.leading->awaited_by = script;
}

/* Lets the waiting generation begin. */
static void let_next_begin(struct script *script)
{
    struct script *next = script->own.leading->awaited_by;
    if (!next) return;
    stop_waiting(next);
    if (next->phase == SCRIPT_RUNNING && !next->own.leading->over) begin_soon(next);
}

void leading_settle(struct script *script)
{
    /* The lease is kept until then: another replica must not start while the stop functions still work. */
    if (script->phase != SCRIPT_DRAINING || leading_count_stopping(script) > 0) return;
    leave(script);
    let_next_begin(script);
}

void leading_end(struct script *script)
{
    stop_waiting(script);
    end_all(script);
    leading_settle(script);
}

/* Joins an election that was accepted before the stop functions of the last generation ended. May fail:
 * another script may have claimed the lease meanwhile, with other times. */
static bool join_late(struct script *script)
{
    struct err err;
    if (join(script, &err)) return true;
    log_error("Script cannot join its election", F("script", script->id.name), F("err", err.text));
    return false;
}

static void on_begin(struct timer *timer)
{
    struct script *script = container_of(timer, struct leading, begin)->script;
    if (script->restoring) return; /* leading_resume begins it */
    if (script->own.leading->config && !join_late(script)) return;
    if (script->own.leading->notified) {
        leader_functions_begin(script);
        handlers_attach(script);
    } else if (script->own.leading->leadership)
        leading_changed(script);
    else
        win(script);
}

/* Waits for the oldest generation whose stop functions are in flight: `from` may itself have waited for one,
 * and has started nothing then. */
void leading_begin_after(struct script *from, struct script *to)
{
    struct script *earlier = from->own.leading->waits_for;
    stop_waiting(from);
    end_all(from);
    if (!earlier && leading_count_stopping(from) > 0) earlier = from;
    if (earlier) wait_for(to, earlier);
    leading_settle(from);
    if (to->own.leading->leadership)
        leading_changed(to);
    else if (!earlier && (to->own.leading->config || to->own.leading->count > 0))
        begin_soon(to);
}

void leading_clear(struct script *script)
{
    timer_cancel(&script->own.leading->begin);
    free(script->own.leading->place);
    lease_config_free(script->own.leading->config);
    leave(script);
    /* A generation that waited for this one would wait for ever. */
    stop_waiting(script);
    let_next_begin(script);
    fence_unref(script->own.leading->fence);
    script->own.leading->fence = NULL;
    leader_functions_clear(script);
}

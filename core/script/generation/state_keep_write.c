/* Writing of states that are kept; see state_keep_internal.h. Only a content that differs from what is stored
 * is written, so that reads of a state, which may be writes as far as anybody knows, cost no disk. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "script/generation/state_keep_internal.h"
#include "script/generation/state_record.h"
#include "script/generation/state_walk.h"
#include "script/vm/budget.h"
#include "script/vm/call.h"
#include "script/vm/state.h"

METRIC(metric_state_writes, 17, "kubelua_state_writes_total",
       "Number of times that a state of a script was stored outside the process.");
METRIC(metric_state_write_errors, 18, "kubelua_state_write_errors_total",
       "Number of times that a state of a script could not be stored outside the process.");

/* QUIET_MAX_MS: a state that changes all the time is written then. PART_NS: between two looks at its size. */
enum { QUIET_MS = 1000, QUIET_MAX_MS = 10000, RETRY_MIN_MS = 1000, RETRY_MAX_MS = 60000, PART_NS = 2000000 };

static const char cannot_write[] = "Failed to store a state";

static void write_item(struct kept_item *item);

static bool is_changed(const struct kept_item *item)
{
    return item->stored != keep_table(item)->touched;
}

/* --- when */

static uint64_t count_touched(const struct state_keep *keep)
{
    uint64_t touched = 0;
    for (size_t i = 0; i < keep->count; i++) touched += keep_table(&keep->items[i])->touched;
    return touched;
}

void keep_await_quiet(struct state_keep *keep)
{
    struct clock *clock = script_clock(keep->script);
    if (timer_running(&keep->quiet)) return;
    keep->seen = count_touched(keep);
    keep->changed_ms = clock_now_ms(clock);
    timer_start(&keep->quiet, clock, QUIET_MS);
}

void keep_on_quiet(struct timer *timer)
{
    struct state_keep *keep = container_of(timer, struct state_keep, quiet);
    struct clock *clock = script_clock(keep->script);
    uint64_t touched = count_touched(keep);
    if (touched != keep->seen && clock_now_ms(clock) - keep->changed_ms < QUIET_MAX_MS) {
        keep->seen = touched;
        timer_start(timer, clock, QUIET_MS);
    } else {
        keep_write_changed(keep);
    }
}

void keep_write_changed(struct state_keep *keep)
{
    for (size_t i = 0; i < keep->count; i++) {
        struct kept_item *item = &keep->items[i];
        if (item->may_write && !item->op && (is_changed(item) || item->reason)) write_item(item);
    }
}

/* --- calls that wait */

static bool has_wait(const struct kept_item *item)
{
    const struct keep_wait *wait;
    LIST_FOREACH (wait, &item->keep->waits, link)
        if (wait->of == item->of) return true;
    return false;
}

static void end_wait(struct keep_wait *wait, const struct err *err)
{
    LIST_REMOVE(wait, link);
    wait->is_over = true;
    if (err) wait->err = *err;
    task_wake(&wait->wait);
}

/* Ends those that wait for no more than `touched`. */
static void end_waits(const struct kept_item *item, uint64_t touched, const struct err *err)
{
    struct keep_wait *wait, *next;
    for (wait = LIST_FIRST(&item->keep->waits); wait; wait = next) {
        next = LIST_NEXT(wait, link);
        if (wait->of == item->of && wait->target <= touched) end_wait(wait, err);
    }
}

void keep_end_waits(const struct kept_item *item, const struct err *err)
{
    struct keep_wait *wait, *next;
    for (wait = LIST_FIRST(&item->keep->waits); wait; wait = next) {
        next = LIST_NEXT(wait, link);
        bool is_served = item->op && wait->target <= item->writing;
        if (wait->of == item->of && !is_served) end_wait(wait, err);
    }
}

void keep_on_soon(struct timer *timer)
{
    struct state_keep *keep = container_of(timer, struct state_keep, soon);
    for (size_t i = 0; i < keep->count; i++)
        if (!keep->items[i].op && has_wait(&keep->items[i])) write_item(&keep->items[i]);
}

/* --- results */

static void note_stored(struct kept_item *item, uint64_t touched)
{
    if (item->error)
        log_info("State is stored again", F("script", item->keep->script->id.name),
                 F("state", keep_table(item)->name));
    keep_clear_failure(item);
    item->stored = touched;
    item->retry_ms = 0;
    end_waits(item, touched, NULL);
}

static void note_failure(struct kept_item *item, uint64_t touched, const struct err *err)
{
    if (err->code == ERR_CANCELLED) { /* nothing is wrong: what counts now is what another one stores */
        end_waits(item, touched, err);
        return;
    }
    metric_inc(&metric_state_write_errors);
    keep_note_failure(item, cannot_write, err);
    end_waits(item, touched, err);
    item->retry_ms = item->retry_ms ? item->retry_ms * 2 : RETRY_MIN_MS;
    if (item->retry_ms > RETRY_MAX_MS) item->retry_ms = RETRY_MAX_MS;
    /* A record of others does not go away by itself. */
    if (err->code != ERR_OUTDATED)
        timer_start(&item->keep->quiet, script_clock(item->keep->script), item->retry_ms);
}

/* An operation has ended: goes on with what came meanwhile. */
static void go_on(struct kept_item *item)
{
    if (has_wait(item) || (item->keep->is_flushing && is_changed(item) && !item->error))
        write_item(item);
    else if (item->may_write && is_changed(item) && !item->error)
        keep_await_quiet(item->keep);
}

static void on_written(void *ctx, const struct state_op *op)
{
    struct kept_item *item = ctx;
    item->op = NULL;
    if (op->ok) {
        metric_inc(&metric_state_writes);
        item->slot->written_us = clock_wall_us(script_clock(item->keep->script));
        note_stored(item, item->writing);
    } else {
        note_failure(item, item->writing, &op->err);
    }
    go_on(item);
}

static void on_aside(void *ctx, const struct state_op *op)
{
    struct kept_item *item = ctx;
    item->op = NULL;
    if (op->ok) {
        log_warn("Stored state cannot be used, it was moved aside", F("script", item->keep->script->id.name),
                 F("state", op->slot->state), F("reason", item->reason), F("to", op->where));
        free(item->reason);
        item->reason = NULL;
    } else {
        note_failure(item, UINT64_MAX, &op->err);
    }
    go_on(item);
}

/* --- writing */

struct keep_walk {
    struct state_walk walk;
    bool done;
};

static void walk_part(lua_State *L, void *ctx)
{
    struct keep_walk *c = ctx;
    c->walk.end_ns = clock_thread_ns() + PART_NS;
    c->done = state_walk_write(L, &c->walk);
}

/* Appends the record of what the state has now. */
static bool collect(const struct kept_item *item, struct buf *record, struct err *err)
{
    struct script *script = item->keep->script;
    const struct state_table *table = keep_table(item);
    struct buf body = {0};
    struct keep_walk c = {.done = false};
    bool ok = true;
    state_walk_init(&c.walk, &body, table->table, item->of);
    while (ok && !c.done && body.len <= item->store->max)
        ok = script_call_load(script, "k8s.state", walk_part, &c) == SCRIPT_OK;
    state_walk_end(script->L, &c.walk);
    if (!ok)
        err_set(err, ERR_SCRIPT, "%s", buf_text(&script->failure.text));
    else if (body.len + STATE_RECORD_HEAD_MAX > item->store->max)
        ok = err_set(err, ERR_LIMIT,
                     "k8s.state: %s: its content exceeds %zu bytes, the limit of keep = \"%s\"", table->name,
                     item->store->max - STATE_RECORD_HEAD_MAX, item->store->keep);
    if (ok) state_record_write(buf_slice(&body), table->version, record);
    buf_clear(&body);
    return ok;
}

static bool is_same(const struct kept_item *item, const struct buf *record)
{
    char sum[STATE_SUM_MAX];
    hash_lasting(buf_slice(record), sum);
    return *item->slot->sum && strcmp(sum, item->slot->sum) == 0;
}

static bool refuse(struct err *err, const char *reason, const char *why)
{
    err_set(err, strcmp(reason, "Conflict") == 0 ? ERR_OUTDATED : ERR_CANCELLED, "not stored: %s", why);
    snprintf(err->reason, sizeof err->reason, "%s", reason);
    return false;
}

static bool may_write(const struct kept_item *item, struct err *err)
{
    const struct state_keep *keep = item->keep;
    if (keep->script->phase == SCRIPT_DRAINING && !item->may_write)
        return refuse(err, "Cancelled", "the next generation of the script has the state");
    if (item->error && !item->is_read) return refuse(err, "InternalError", item->error);
    if (!item->may_write) return refuse(err, "NotLeader", "the script does not lead");
    if (keep->fence && !fence_is_open(keep->fence)) return refuse(err, "NotLeader", "leadership was lost");
    return !item->slot->is_foreign ||
           refuse(err, "Conflict",
                  "another process has changed what is stored, it is read again at the next start");
}

static void write_item(struct kept_item *item)
{
    struct buf record = {0};
    struct err err;
    uint64_t touched = keep_table(item)->touched;
    item->writing = touched;
    if (!may_write(item, &err)) {
        note_failure(item, touched, &err);
    } else if (item->reason) {
        item->op = state_op_start(item->store, STATE_MOVE_ASIDE, item->slot, NULL, item->keep->fence,
                                  on_aside, item);
    } else if (!collect(item, &record, &err)) {
        note_failure(item, touched, &err);
    } else if (is_same(item, &record)) {
        note_stored(item, touched);
    } else {
        item->op = state_op_start(item->store, STATE_WRITE, item->slot, &record, item->keep->fence,
                                  on_written, item);
    }
    buf_clear(&record);
}

/* --- begin and end */

void keep_begin_writing(struct state_keep *keep)
{
    bool is_dry = keep_is_dry(keep->script);
    for (size_t i = 0; i < keep->count; i++) {
        struct kept_item *item = &keep->items[i];
        item->may_write = item->is_read && !is_dry;
        if (is_dry && item->reason)
            log_warn("Stored state cannot be used, it stays as the run is a dry one",
                     F("script", keep->script->id.name), F("state", keep_table(item)->name),
                     F("reason", item->reason));
        if (item->may_write && item->reason && !item->op) write_item(item);
    }
    if (!is_dry) keep_await_quiet(keep);
}

/* Of a script that has gone. */
static void on_left(void *ctx, const struct state_op *op)
{
    metric_inc(op->ok ? &metric_state_writes : &metric_state_write_errors);
    if (!op->ok)
        log_error(cannot_write, F("script", op->slot->place), F("state", op->slot->state),
                  F("err", op->err.text));
}

void keep_write_last(struct kept_item *item)
{
    struct buf record = {0};
    struct err err;
    if (item->op) state_op_leave(item->op, on_left);
    if (!item->may_write || !is_changed(item)) return;
    bool ok = may_write(item, &err) && !item->reason && collect(item, &record, &err);
    if (item->reason) err_set(&err, ERR_CANCELLED, "what is stored was not moved aside in time");
    if (!ok)
        keep_note_failure(item, cannot_write, &err);
    else if (item->op || !is_same(item, &record))
        state_op_start(item->store, STATE_WRITE, item->slot, &record, item->keep->fence, on_left, NULL);
    buf_clear(&record);
}

size_t state_keep_flush(struct script *script)
{
    struct state_keep *keep = script->own.keep;
    size_t left = 0;
    keep->is_flushing = true;
    for (size_t i = 0; i < keep->count; i++) {
        struct kept_item *item = &keep->items[i];
        uint64_t touched = keep_table(item)->touched;
        if (!item->op && item->may_write && is_changed(item) && item->flushed != touched) {
            item->flushed = touched;
            write_item(item);
        }
        left += item->op != NULL;
    }
    return left;
}

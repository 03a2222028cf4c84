/* Reading of states that are kept; see state_keep_internal.h. What is stored and cannot be used is moved
 * aside, and the script goes on with what it has; what cannot be read now is never overwritten. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "script/generation/state_copy.h"
#include "script/generation/state_keep_internal.h"
#include "script/generation/state_record.h"
#include "script/handlers/leading.h"
#include "script/vm/state.h"
#include "script/vm/turns.h"

enum { AGAIN_MS = 5000 };

static const char cannot_read[] = "Failed to read a state, trying again";

/* `is_stored`: what the state has now is what is stored. */
static void become_read(struct kept_item *item, bool is_stored)
{
    uint64_t touched = keep_table(item)->touched;
    keep_clear_failure(item);
    item->is_read = true;
    item->stored = is_stored ? touched : touched - 1;
}

static void refuse_record(struct kept_item *item, const char *reason)
{
    item->reason = xstrdup(reason);
    become_read(item, false);
}

/* The state of a generation without `keep` is newer than any record of an earlier one. */
static bool is_overtaken(const struct kept_item *item)
{
    const struct script *before = item->keep->script->load.before;
    const char *name = keep_table(item)->name;
    const struct state_table *had = before ? state_table_find(before, str_of(name)) : NULL;
    return had && had->keep == KEEP_NOWHERE;
}

static void use_record(struct kept_item *item, struct str bytes, struct err *err)
{
    const struct state_table *table = keep_table(item);
    struct state_record record;
    struct err why;
    if (!state_record_read(bytes, &record, &why)) {
        refuse_record(item, why.text);
    } else if (is_overtaken(item)) {
        refuse_record(item, "the script had the state before it was kept");
    } else if (record.version != table->version && table->migrate == LUA_NOREF) {
        state_table_reject_version(NULL, table->name, record.version, table->version, &why);
        refuse_record(item, why.text);
    } else if (state_restore(item->keep->script, item->of, record.version, record.body, &why)) {
        become_read(item, record.version == table->version);
        log_v(1, "State was read", F("script", item->keep->script->id.name), F("state", table->name),
              FI("bytes", bytes.n));
    } else if (why.code == ERR_PARSE) {
        refuse_record(item, why.text);
    } else {
        *err = why;
    }
}

static void take_read(struct kept_item *item, const struct state_op *op)
{
    if (op->ok && op->found)
        use_record(item, buf_slice(&op->bytes), item->keep->read_err);
    else if (op->ok)
        become_read(item, false);
    else if (op->err.code == ERR_LIMIT)
        refuse_record(item, op->err.text);
    else
        *item->keep->read_err = op->err;
}

/* All have been read: whatever waited for it goes on. */
static void resume(struct state_keep *keep)
{
    struct script *script = keep->script;
    keep_begin_writing(keep);
    if (script->restoring) {
        script->restoring = false;
        turns_release(script);
        leading_resume(script);
        if (script->host->attached) script->host->attached(script->host->attached_ctx); /* for its main */
    }
    leading_changed(script);
}

static void go_on(struct state_keep *keep)
{
    if (keep->script->phase != SCRIPT_RUNNING || (keep->fence && !fence_is_open(keep->fence))) return;
    if (keep_read_or_wait(keep)) resume(keep);
}

static void on_read(void *ctx, const struct state_op *op)
{
    struct kept_item *item = ctx;
    struct state_keep *keep = item->keep;
    must(keep->script->call.depth == 0);
    keep->reading = NULL;
    take_read(item, op);
    if (!keep->is_inside) timer_start(&keep->again, script_clock(keep->script), item->is_read ? 0 : AGAIN_MS);
    /* The end of a term is no failure: the next one reads again. */
    bool is_over = !op->ok && op->err.code == ERR_CANCELLED;
    if (!item->is_read && !keep->is_inside && !is_over) keep_note_failure(item, cannot_read, keep->read_err);
}

void keep_hold(struct state_keep *keep)
{
    keep->script->restoring = true;
    turns_hold(keep->script);
}

static void forget(void *ctx, const struct state_op *op) {}

void keep_stop_reading(struct state_keep *keep)
{
    timer_cancel(&keep->again);
    if (keep->reading) state_op_leave(keep->reading, forget);
    keep->reading = NULL;
}

enum keep_progress keep_read(struct state_keep *keep, struct err *err)
{
    if (keep->reading) return KEEP_READING;
    for (size_t i = 0; i < keep->count; i++) {
        struct kept_item *item = &keep->items[i];
        if (item->is_read) continue;
        free(item->reason);
        item->reason = NULL;
        err_clear(keep->read_err);
        keep->is_inside = true;
        struct state_op *op = state_op_start(item->store, keep_is_dry(keep->script) ? STATE_READ : STATE_TAKE,
                                             item->slot, NULL, keep->fence, on_read, item);
        keep->is_inside = false;
        if (item->is_read) continue;
        if (keep->read_err->code == ERR_NONE) {
            keep->reading = op;
            return KEEP_READING;
        }
        *err = *keep->read_err;
        err_wrap(err, "k8s.state: %s", keep_table(item)->name);
        return KEEP_FAILED;
    }
    return KEEP_READ;
}

bool keep_read_or_wait(struct state_keep *keep)
{
    struct err err;
    enum keep_progress progress = keep_read(keep, &err);
    if (progress != KEEP_FAILED) return progress == KEEP_READ;
    for (size_t i = 0; i < keep->count; i++) {
        if (keep->items[i].is_read) continue;
        keep_note_failure(&keep->items[i], cannot_read, &err);
        break;
    }
    timer_start(&keep->again, script_clock(keep->script), AGAIN_MS);
    return false;
}

void keep_on_again(struct timer *timer)
{
    go_on(container_of(timer, struct state_keep, again));
}

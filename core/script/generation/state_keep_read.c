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

enum { AGAIN_MS = 5000 };

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

/* What a generation without `keep` had is newer than any record of an earlier one. */
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

static void on_read(void *ctx, const struct state_op *op)
{
    struct kept_item *item = ctx;
    must(item->keep->script->call.depth == 0);
    if (op->ok && op->found)
        use_record(item, buf_slice(&op->bytes), &item->keep->read_err);
    else if (op->ok)
        become_read(item, false);
    else if (op->err.code == ERR_LIMIT)
        refuse_record(item, op->err.text);
    else
        item->keep->read_err = op->err;
}

bool keep_read(struct state_keep *keep, struct err *err)
{
    for (size_t i = 0; i < keep->count; i++) {
        struct kept_item *item = &keep->items[i];
        if (item->is_read) continue;
        free(item->reason);
        item->reason = NULL;
        err_clear(&keep->read_err);
        state_op_start(item->store, STATE_READ, item->slot, NULL, NULL, on_read, item);
        if (item->is_read) continue;
        *err = keep->read_err;
        return err_wrap(err, "k8s.state: %s", keep_table(item)->name);
    }
    return true;
}

bool keep_read_or_wait(struct state_keep *keep)
{
    struct err err;
    if (keep_read(keep, &err)) return true;
    for (size_t i = 0; i < keep->count; i++) {
        if (keep->items[i].is_read) continue;
        keep_note_failure(&keep->items[i], "Failed to read a state, trying again", &err);
        break;
    }
    timer_start(&keep->again, script_clock(keep->script), AGAIN_MS);
    return false;
}

void keep_on_again(struct timer *timer)
{
    struct state_keep *keep = container_of(timer, struct state_keep, again);
    if (keep->script->phase != SCRIPT_RUNNING || (keep->fence && !fence_is_open(keep->fence))) return;
    if (!keep_read_or_wait(keep)) return;
    keep_begin_writing(keep);
    leading_changed(keep->script);
}

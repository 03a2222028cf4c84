/* States that are kept, from their declaration to their end; see state_keep.h. */
#include "script/generation/state_keep.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "script/generation/state_keep_internal.h"
#include "script/handlers/leading.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/state.h"

struct state_table *keep_table(const struct kept_item *item)
{
    return &item->keep->script->own.states->items[item->of];
}

bool keep_is_dry(const struct script *script)
{
    return script->write_mode != WRITES_SENT;
}

/* Returns whether the script reads and writes in terms; one in a dry run always leads, and never writes. */
static bool has_terms(const struct script *script)
{
    const struct leading *leading = script->own.leading;
    return !keep_is_dry(script) && (leading->leadership || leading->config);
}

static struct kept_item *find_item(const struct script *script, const char *name)
{
    struct state_keep *keep = script->own.keep;
    for (size_t i = 0; i < keep->count; i++)
        if (strcmp(keep_table(&keep->items[i])->name, name) == 0) return &keep->items[i];
    return NULL;
}

/* --- failures */

void keep_note_failure(struct kept_item *item, const char *message, const struct err *err)
{
    if (item->error && strcmp(item->error, err->text) == 0) return;
    log_error(message, F("script", item->keep->script->id.name), F("state", keep_table(item)->name),
              F("err", err->text));
    free(item->error);
    item->error = xstrdup(err->text);
}

void keep_clear_failure(struct kept_item *item)
{
    free(item->error);
    item->error = NULL;
}

/* --- declaration */

/* The name is one of a file, and of a key in a ConfigMap. */
static void check_name(lua_State *L, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (*name != '.' && name[strspn(name, plain)] == '\0') return;
    script_raise(L,
                 "k8s.state: %s: the name of a state with keep may have letters, digits, \"-\", \"_\" and "
                 "\".\" only, and does not begin with \".\"",
                 name);
}

/* Returns whether one of the first items is in the store. */
static bool has_claimed(const struct state_keep *keep, const struct state_store *store, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (keep->items[i].store == store) return true;
    return false;
}

void state_keep_declare(lua_State *L)
{
    struct script *script = script_of(L);
    struct state_keep *keep = script->own.keep;
    size_t of = script->own.states->count - 1;
    const struct state_table *table = &script->own.states->items[of];
    bool is_file = table->keep == KEEP_FILE;
    struct state_store *store = is_file ? script->host->state_files : script->host->state_maps;
    struct err err;
    check_name(L, table->name);
    if (!store && is_file && script->host->lacks_state_files)
        script_raise(L, "k8s.state: %s: keep = \"file\" needs a directory, which %s gives", table->name,
                     script->host->lacks_state_files);
    if (!store) return;
    if (!has_claimed(keep, store, keep->count) && !state_store_claim(store, script->id.name, &err))
        script_raise(L, "k8s.state: %s: %s", table->name, err.text);
    if (!keep->read_err) keep->read_err = NEW(struct err);
    *array_add(keep->items, keep->count) =
        (struct kept_item){.keep = keep,
                           .of = of,
                           .store = store,
                           .slot = state_store_slot(store, script->id.name, table->name),
                           .flushed = UINT64_MAX};
}

const char *state_keep_in_map(const struct script *script)
{
    const struct state_tables *states = script->own.states;
    for (size_t i = 0; i < states->count; i++)
        if (states->items[i].keep == KEEP_CONFIGMAP) return states->items[i].name;
    return NULL;
}

size_t state_keep_count(const struct script *script)
{
    return script->own.keep->count;
}

void state_keep_get_status(const struct script *script, size_t i, struct state_keep_status *status)
{
    const struct kept_item *item = &script->own.keep->items[i];
    const struct state_table *table = keep_table(item);
    *status = (struct state_keep_status){.name = table->name,
                                         .keep = item->store->keep,
                                         .where = item->slot->where ? item->slot->where : "",
                                         .error = item->error ? item->error : "",
                                         .is_read = item->is_read,
                                         .is_changed = item->may_write && item->stored != table->touched,
                                         .bytes = item->slot->bytes,
                                         .written_us = item->slot->written_us};
}

void state_keep_touched(struct script *script)
{
    if (script->phase == SCRIPT_RUNNING || script->phase == SCRIPT_STOPPING)
        keep_await_quiet(script->own.keep);
}

/* --- state:sync() */

static int push_synced(lua_State *L, struct task_wait *base)
{
    struct keep_wait *wait = container_of(base, struct keep_wait, wait);
    if (wait->err.code != ERR_NONE) return push_err(L, &wait->err);
    lua_pushboolean(L, 1);
    return 1;
}

static void drop_wait(struct task_wait *base)
{
    struct keep_wait *wait = container_of(base, struct keep_wait, wait);
    if (!wait->is_over) LIST_REMOVE(wait, link);
    free(wait);
}

int state_keep_sync(lua_State *L, size_t of)
{
    static const struct task_wait_ops ops = {push_synced, drop_wait, .finishes = true};
    struct script *script = script_of(L);
    struct state_keep *keep = script->own.keep;
    const struct state_table *table = &script->own.states->items[of];
    task_check(L, "state:sync");
    /* A dry run says that it was written, as of every other write; so does a store that is not there. */
    if (!find_item(script, table->name) || keep_is_dry(script)) {
        lua_pushboolean(L, 1);
        return 1;
    }
    struct keep_wait *wait = NEW(struct keep_wait);
    *wait = (struct keep_wait){.of = of, .target = table->touched, .err.retry_after_ms = -1};
    LIST_INSERT_HEAD(&keep->waits, wait, link);
    /* In a turn of its own: here is a call in progress, and others may wait for the same. */
    if (!timer_running(&keep->soon)) timer_start(&keep->soon, script_clock(script), 0);
    return task_yield(L, &wait->wait, &ops);
}

/* --- life */

bool state_keep_start(struct script *script, struct err *err)
{
    struct state_keep *keep = script->own.keep;
    if (keep->count == 0 || has_terms(script)) return true;
    switch (keep_read(keep, err)) {
    case KEEP_READ: keep_begin_writing(keep); break;
    case KEEP_READING: keep_hold(keep); break;
    case KEEP_FAILED: return err_wrap(err, "%s", script->id.path);
    }
    return true;
}

static bool lead(struct script *script, struct fence *fence)
{
    struct state_keep *keep = script->own.keep;
    if (keep->count == 0 || !has_terms(script)) return true;
    if (keep->fence != fence) {
        fence_unref(keep->fence);
        keep->fence = fence_ref(fence);
        keep_stop_reading(keep);
        for (size_t i = 0; i < keep->count; i++) keep->items[i].is_read = keep->items[i].may_write = false;
    }
    if (timer_running(&keep->again) || !keep_read_or_wait(keep)) return false;
    keep_begin_writing(keep);
    return true;
}

static void hand_over(struct kept_item *from, struct kept_item *to)
{
    const struct state_table *before = keep_table(from), *table = keep_table(to);
    bool is_stored = from->stored == before->touched && before->version == table->version;
    to->is_read = from->is_read;
    to->reason = from->reason;
    from->reason = NULL;
    to->stored = is_stored ? table->touched : table->touched - 1;
    from->may_write = false;
}

static void end_all_waits(struct state_keep *keep)
{
    struct err err;
    err_set(&err, ERR_CANCELLED, "not stored: the next generation of the script has the state");
    for (size_t i = 0; i < keep->count; i++) keep_end_waits(&keep->items[i], &err);
}

void state_keep_handover(struct script *from, struct script *to)
{
    struct state_keep *before = from->own.keep, *keep = to->own.keep;
    /* In another election the states are read when the script leads. */
    bool stays = leading_keeps_term(from, to);
    for (size_t i = 0; i < keep->count && stays; i++) {
        struct kept_item *item = find_item(from, keep_table(&keep->items[i])->name);
        if (item) hand_over(item, &keep->items[i]);
    }
    keep_write_changed(before); /* what is not handed over: soon another may read it */
    end_all_waits(before);
    if (keep->count == 0 || !stays) return;
    keep->fence = before->fence ? fence_ref(before->fence) : NULL;
    if (has_terms(to) && !keep->fence) return;
    if (keep_read_or_wait(keep))
        keep_begin_writing(keep);
    else if (!has_terms(to) && keep->reading)
        keep_hold(keep);
}

static void open(struct script *script)
{
    struct state_keep *keep = script->own.keep;
    keep->script = script;
    keep->quiet.fn = keep_on_quiet;
    keep->soon.fn = keep_on_soon;
    keep->again.fn = keep_on_again;
    LIST_INIT(&keep->waits);
}

static void end(struct script *script)
{
    struct state_keep *keep = script->own.keep;
    timer_cancel(&keep->quiet);
    timer_cancel(&keep->soon);
    timer_cancel(&keep->again);
    keep_stop_reading(keep);
    for (size_t i = 0; i < keep->count; i++) keep_write_last(&keep->items[i]);
}

static void close(struct script *script)
{
    struct state_keep *keep = script->own.keep;
    for (size_t i = 0; i < keep->count; i++) {
        struct state_store *store = keep->items[i].store;
        if (!has_claimed(keep, store, i)) state_store_release(store, script->id.name);
        free(keep->items[i].reason);
        free(keep->items[i].error);
    }
    fence_unref(keep->fence);
    free(keep->read_err);
    free(keep->items);
}

const struct feature feature_keep = {FEATURE_OWNS(keep), .open = open, .lead = lead, .end = end,
                                     .close = close};

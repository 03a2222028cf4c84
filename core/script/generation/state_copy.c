/* State tables go from one generation to the next, in parts; see state_copy.h. Each Lua state is entered by
 * protected calls of its own; between them there are only bytes that belong to neither, so that an error on
 * one side leaves nothing behind on the other. */
#include "script/generation/state_copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/must.h"
#include "script/generation/state_copy_internal.h"
#include "script/inventory/inventory.h"
#include "script/vm/args.h"
#include "script/vm/budget.h"
#include "script/vm/call.h"
#include "script/vm/memory.h"
#include "script/vm/task.h"
#include "script/vm/turns.h"

/* A copy that began so often is completed with the engine waiting: something writes all the time. */
enum { BEGINS_MAX = 4 };
/* Part of a copy that nothing bounds, below the CPU limit of a call. */
enum { PART_NS = 8000000 };

/* --- failures */

/* Sets the error to the failure. An error that no line of the script raised is placed where migrate begins.
 */
static void fail(struct state_copy *copy, struct script *script)
{
    const char *why = buf_text(&script->failure.text);
    copy->failed = true;
    if (script->failure.line == 0 && copy->place.linedefined > 0)
        err_set(&copy->err, ERR_SCRIPT, "%s:%d: %s", copy->place.short_src, copy->place.linedefined, why);
    else
        err_set(&copy->err, ERR_SCRIPT, "%s", why);
}

bool state_table_reject_version(const struct inventory_entry *entry, const char *name, int before, int after,
                                struct err *err)
{
    err_set(err, ERR_SCRIPT, "k8s.state: %s: version changes from %d to %d without a migrate function", name,
            before, after);
    return inventory_wrap_place(entry, err);
}

static void refuse_version(struct state_copy *copy)
{
    const struct state_table *to = copy->new_;
    const struct inventory_entry *entry =
        inventory_find(copy->to->own.inventory, INVENTORY_STATE, str_of(to->name));
    copy->failed = true;
    state_table_reject_version(entry, to->name, copy->version, to->version, &copy->err);
}

/* --- steps */

static const struct {
    script_body *part;
    const char *phase;
    bool in_from; /* enters `from`, else `to` */
} steps[] = {
    [COPY_WRITE] = {state_copy_write_part, "a reload", true},
    [COPY_READ] = {state_copy_read_part, "a reload", false},
    [COPY_PLAIN] = {state_copy_read_plain_part, "a reload", false},
    [COPY_MIGRATED] = {state_copy_take_result, "migrate", false},
    [COPY_REWRITE] = {state_copy_write_part, "a reload", false},
};

static struct script *script_of_step(const struct state_copy *copy)
{
    return steps[copy->step].in_from ? copy->from : copy->to;
}

static void begin_walk(struct state_copy *copy, enum copy_step step)
{
    int root = step == COPY_WRITE ? copy->old->table : step == COPY_REWRITE ? copy->value : LUA_NOREF;
    if (step == COPY_READ) root = copy->new_->table;
    if (step == COPY_WRITE || step == COPY_REWRITE) copy->bytes.len = 0;
    copy->step = step;
    state_walk_init(&copy->walk, &copy->bytes, root, copy->at);
}

/* All bytes are there. */
static void begin_reading(struct state_copy *copy)
{
    begin_walk(copy, copy->version == copy->new_->version ? COPY_READ : COPY_PLAIN);
}

/* Ends the state in progress. What only `from` declared is kept. */
static void end_state(struct state_copy *copy)
{
    if (copy->old && !copy->new_) kept_states_add(copy->to, copy->old, &copy->bytes);
    if (copy->value != LUA_NOREF) luaL_unref(copy->to->L, LUA_REGISTRYINDEX, copy->value);
    copy->value = LUA_NOREF;
    copy->old = copy->new_ = NULL;
    copy->step = COPY_NEXT;
    copy->at++;
}

static const struct kept_state *find_kept(const struct script *script, const char *name)
{
    const struct state_tables *tables = script->own.states;
    for (size_t i = 0; i < tables->kept_count; i++)
        if (strcmp(tables->kept[i].name, name) == 0) return &tables->kept[i];
    return NULL;
}

/* Begins the next state of `to` that `from` has, or of `from` that `to` does not have. */
static void begin_state(struct state_copy *copy)
{
    const struct state_tables *new_ = copy->to->own.states;
    const struct kept_state *kept = NULL;
    if (copy->at < new_->count) {
        copy->new_ = &new_->items[copy->at];
        copy->old = copy->from ? state_table_find(copy->from, str_of(copy->new_->name)) : NULL;
        if (!copy->old) kept = copy->from ? find_kept(copy->from, copy->new_->name) : &copy->stored;
        copy->version = copy->old ? copy->old->version : kept ? kept->version : copy->new_->version;
        if (copy->version != copy->new_->version && copy->new_->migrate == LUA_NOREF) refuse_version(copy);
    } else {
        copy->old = &copy->from->own.states->items[copy->at - new_->count];
        if (state_table_find(copy->to, str_of(copy->old->name))) copy->old = NULL;
    }
    copy->place.linedefined = 0;
    if (copy->old)
        begin_walk(copy, COPY_WRITE);
    else if (kept) {
        copy->bytes.len = 0;
        buf_str(&copy->bytes, buf_slice(&kept->bytes));
        begin_reading(copy);
    } else {
        end_state(copy);
    }
}

/* Goes on to the next step of the state, or ends it. */
static void next_step(struct state_copy *copy)
{
    state_walk_end(script_of_step(copy)->L, &copy->walk);
    switch (copy->step) {
    case COPY_WRITE:
        if (copy->new_)
            begin_reading(copy);
        else
            end_state(copy);
        break;
    case COPY_PLAIN: copy->step = COPY_MIGRATE; break;
    case COPY_MIGRATED: begin_walk(copy, COPY_REWRITE); break;
    case COPY_REWRITE: begin_walk(copy, COPY_READ); break;
    default: end_state(copy);
    }
}

static void migrate_ended(void *ctx, enum script_result result)
{
    struct state_copy *copy = ctx;
    copy->task = NULL;
    copy->to->load.in_parts = false;
    if (result == SCRIPT_OK)
        copy->step = COPY_MIGRATED;
    else if (result != SCRIPT_CANCELLED)
        fail(copy, copy->to);
}

/* Calls migrate. One that takes long goes on in turns of its script. */
static void migrate(struct state_copy *copy)
{
    static const char phase[] = "migrate";
    struct script *to = copy->to;
    const struct task_call call = {.what = phase,
                                   .no_yield = phase,
                                   .cpu = LIMIT_LOAD_CPU,
                                   .function = copy->new_->run,
                                   .prepare = state_copy_push_box,
                                   .prepare_ctx = copy,
                                   .pauses = true,
                                   .done = migrate_ended,
                                   .ctx = copy};
    to->load.in_parts = true; /* nothing else of it runs between */
    enum script_result result = task_run(to, &call, &copy->task);
    if (result != SCRIPT_YIELDED) migrate_ended(copy, result);
}

static void take_part(struct state_copy *copy, int64_t end_ns)
{
    struct script *script = script_of_step(copy);
    bool reads = copy->step == COPY_READ || copy->step == COPY_PLAIN;
    copy->walk.end_ns = end_ns;
    copy->done = false;
    if (reads) pace_hold(script, true); /* without garbage to find: the engine waits */
    bool ok = script_call_load(script, steps[copy->step].phase, steps[copy->step].part, copy) == SCRIPT_OK;
    if (reads) pace_hold(script, false);
    if (!ok)
        fail(copy, script);
    else if (copy->done)
        next_step(copy);
}

/* Returns the number of states to copy, those before `at` included. */
static size_t count_states(const struct state_copy *copy)
{
    if (!copy->from) return copy->only + 1;
    return copy->to->own.states->count + copy->from->own.states->count;
}

static void proceed(struct state_copy *copy, int64_t end_ns)
{
    size_t count = count_states(copy);
    do {
        if (copy->step == COPY_MIGRATE)
            migrate(copy);
        else if (copy->step != COPY_NEXT)
            take_part(copy, end_ns);
        else if (copy->at < count)
            begin_state(copy);
        else
            copy->whole = true;
    } while (!copy->whole && !copy->failed && !copy->task && clock_thread_ns() < end_ns);
}

/* --- all of it */

/* Forgets what was copied, but not how often the copy began. */
static void reset(struct state_copy *copy)
{
    if (copy->task) task_cancel(copy->task);
    if (copy->step != COPY_NEXT) state_walk_end(script_of_step(copy)->L, &copy->walk);
    if (copy->value != LUA_NOREF) luaL_unref(copy->to->L, LUA_REGISTRYINDEX, copy->value);
    if (copy->from) kept_states_clear(copy->to);
    copy->value = LUA_NOREF;
    copy->old = copy->new_ = NULL;
    copy->at = 0;
    copy->step = COPY_NEXT;
    copy->whole = false;
}

static struct state_copy *begin(struct script *from, struct script *to)
{
    struct state_tables *tables = to->own.states;
    struct state_copy *copy = tables->copy;
    if (!copy) {
        copy = tables->copy = NEW(struct state_copy);
        *copy = (struct state_copy){.from = from, .to = to, .value = LUA_NOREF, .walk.stack = LUA_NOREF};
    } else if (copy->touched == from->own.states->touched || copy->failed) {
        return copy;
    }
    reset(copy);
    copy->touched = from->own.states->touched;
    copy->begins++;
    return copy;
}

bool state_copy_continue(struct script *from, struct script *to, int64_t end_ns)
{
    must(from->call.depth == 0 && to->call.depth == 0);
    if (from->restoring) return false; /* it has yet to read what it would hand over */
    struct state_copy *copy = begin(from, to);
    if (copy->whole || copy->failed || copy->begins == BEGINS_MAX) return true;
    if (!copy->task) proceed(copy, end_ns);
    if (copy->whole || copy->failed) return true;
    turns_hold(from);
    return false;
}

static void complete(struct state_copy *copy)
{
    while (!copy->whole && !copy->failed) {
        if (copy->task)
            task_continue(copy->task);
        else
            proceed(copy, clock_thread_ns() + PART_NS);
    }
}

bool state_copy_finish(struct script *from, struct script *to, struct err *err)
{
    must(from->call.depth == 0 && to->call.depth == 0);
    struct state_copy *copy = begin(from, to);
    complete(copy);
    bool ok = !copy->failed;
    if (!ok) *err = copy->err;
    state_copy_drop(to);
    return ok;
}

void state_copy_drop(struct script *to)
{
    struct state_copy *copy = to->own.states->copy;
    if (!copy) return;
    if (!copy->whole) reset(copy);
    if (copy->from) turns_release(copy->from);
    buf_clear(&copy->bytes);
    buf_clear(&copy->stored.bytes);
    free(copy);
    to->own.states->copy = NULL;
}

/* --- what was stored */

bool state_restore(struct script *to, size_t at, int version, struct str bytes, struct err *err)
{
    must(to->call.depth == 0 && !to->own.states->copy);
    struct state_copy *copy = to->own.states->copy = NEW(struct state_copy);
    *copy = (struct state_copy){.to = to,
                                .stored.version = version,
                                .at = at,
                                .only = at,
                                .value = LUA_NOREF,
                                .walk.stack = LUA_NOREF};
    buf_str(&copy->stored.bytes, bytes);
    complete(copy);
    bool ok = !copy->failed;
    if (!ok) *err = copy->err;
    if (!ok && copy->place.linedefined > 0) err->code = ERR_PARSE;
    state_copy_drop(to);
    return ok;
}

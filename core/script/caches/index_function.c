/* Lua functions as sources of indexes; see index_function.h. */
#include "script/caches/index_function_internal.h"

#include <stdlib.h>

#include "base/mem.h"
#include "informer/store/index.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/call.h"

FAMILY(family_index_errors, 110, COUNTER, "kubelua_index_errors_total", "script,index", NULL,
       "Number of objects for which an index function failed.");

struct index_call {
    const struct index_function *function;
    struct root *object;
};

bool index_value_text(lua_State *L, int idx, struct buf *out)
{
    size_t len;
    const char *text;
    switch (lua_type(L, idx)) {
    case LUA_TSTRING:
        text = lua_tolstring(L, idx, &len);
        buf_append(out, text, len);
        return true;
    case LUA_TNUMBER: index_number(lua_tonumber(L, idx), out); return true;
    case LUA_TBOOLEAN: buf_puts(out, lua_toboolean(L, idx) ? "true" : "false"); return true;
    default: return int64_test(L, idx) ? (int64_text(int64_test(L, idx), out), true) : false;
    }
}

/* emit(value): nil is no value, so that a field that is absent can be emitted as it is. */
static int l_emit(lua_State *L)
{
    struct script *script = script_of(L);
    if (!script->own.index_functions->emitting) script_raise(L, "emit: the index function has returned");
    if (lua_isnoneornil(L, 1)) return 0;
    struct buf *text = script_scratch(script);
    if (!index_value_text(L, 1, text))
        script_raise(L, "emit: a value must be a string, a number or a boolean, not %s", arg_type_name(L, 1));
    if (script->own.index_functions->emitting->count == INDEX_VALUES_MAX)
        script_raise(L, "emit: more than %d values for one object", INDEX_VALUES_MAX);
    index_values_add(script->own.index_functions->emitting, buf_slice(text));
    return 0;
}

static void call_function(lua_State *L, void *ctx)
{
    const struct index_call *call = ctx;
    script_push_function(L, call->function->ref);
    view_push_object(L, call->object);
    push_ref(L, call->function->script, REF_EMIT);
    lua_call(L, 2, 0);
}

static void report(struct index_function *f, struct root *object, enum script_result result)
{
    struct buf key = {0};
    root_key(object, &key);
    const struct log_field about[] = {F("index", f->name), FS("key", buf_slice(&key)), {.key = NULL}};
    failure_log_add(&f->report, f->script, SCRIPT_INDEX, result, about);
    buf_clear(&key);
}

/* Inside another call its limit may be that one's, and so may the memory that is used up. */
static void note(struct index_function *f, enum script_result result)
{
    bool inside = f->script->own.index_functions->inside,
         of_outer = f->script->budget.over || result == SCRIPT_MEMORY_LIMIT;
    if (!inside || !of_outer) quarantine_note(&f->quarantine, QUARANTINE_CALL, result);
}

void index_function_notify(const struct index_function *f)
{
    if (f->news) f->news(f->news_ctx);
}

static void note_failure(struct index_function *f)
{
    if (f->failure) return;
    f->failure = xstrdup(buf_text(&f->script->failure.text));
    index_function_notify(f);
}

static bool failed(struct index_function *f, struct err *err)
{
    series_inc(f->errors);
    return err_set(err, ERR_SCRIPT, "index function %s failed", f->name);
}

static bool compute_values(void *ctx, struct root *object, struct index_values *out, struct err *err)
{
    struct index_function *f = ctx;
    if (quarantine_skips(&f->quarantine)) return failed(f, err);
    struct script *script = f->script;
    struct index_values *outer = script->own.index_functions->emitting;
    struct index_call call = {f, object};
    script->own.index_functions->emitting = out;
    f->running = true;
    enum script_result result =
        script->own.index_functions->inside
            ? script_call_nested(script->own.index_functions->inside, "an index function", f->name,
                                 call_function, &call)
            : script_call_filter(script, "an index function", f->name, call_function, &call);
    f->running = false;
    script->own.index_functions->emitting = outer;
    if (result != SCRIPT_OK) {
        note_failure(f);
        report(f, object, result);
    }
    note(f, result);
    return result == SCRIPT_OK || failed(f, err);
}

/* --- from the first to the last */

/* A claim of the load phase is released when the state with the function is closed already. */
static void free_function(void *ctx)
{
    struct index_function *f = ctx;
    index_function_leave_turns(f);
    if (f->script->L) luaL_unref(f->script->L, LUA_REGISTRYINDEX, f->ref);
    failure_log_flush(&f->report);
    quarantine_clear(&f->quarantine);
    series_free(f->errors);
    free(f->failure);
    free(f);
}

static void notify_touched(void *ctx, struct str value)
{
    const struct index_function *f = ctx;
    if (f->touched) f->touched(f->news_ctx, value);
}

struct index_source index_function_source(struct index_function *f)
{
    return (struct index_source){.values = compute_values,
                                 .free = free_function,
                                 .ctx = f,
                                 .later = index_function_puts_off,
                                 .touched = notify_touched};
}

struct index_source index_function(lua_State *L, struct informer_claim *claim, int ref, struct str name)
{
    struct index_function *f = xcalloc(1, sizeof *f + name.n + 1);
    f->script = script_of(L);
    f->claim = claim;
    f->ref = ref;
    failure_log_set_place(&f->report, L, ref);
    memcpy(f->name, name.p, name.n);
    f->errors = SERIES(&family_index_errors, f->script->id.name, f->name);
    char *id = xasprintf("index/%s", f->name);
    quarantine_init(&f->quarantine, f->script, id, index_function_rebuild);
    free(id);
    return index_function_source(f);
}

bool index_function_is_running(const struct index_source *source)
{
    return source->values == compute_values && ((const struct index_function *)source->ctx)->running;
}

const char *index_function_failure(const struct index_source *source)
{
    const struct index_function *f = source->ctx;
    if (source->values != compute_values) return NULL;
    return f->failure ? f->failure : f->rebuilding ? "its index is being rebuilt after a quarantine" : NULL;
}

void index_function_on_change(const struct index_source *source, void (*fn)(void *ctx),
                              void (*touched)(void *ctx, struct str value), void *ctx)
{
    struct index_function *f = source->ctx;
    if (source->values != compute_values) return;
    f->news = fn;
    f->touched = touched;
    f->news_ctx = ctx;
}

lua_State *index_functions_enter(lua_State *L)
{
    struct script *script = script_of(L);
    lua_State *outer = script->own.index_functions->inside;
    script->own.index_functions->inside = L;
    return outer;
}

void index_functions_leave(lua_State *L, lua_State *outer)
{
    script_of(L)->own.index_functions->inside = outer;
}

void index_function_setup(lua_State *L)
{
    lua_pushcfunction(L, l_emit);
    set_ref(L, REF_EMIT);
}

/* Lua functions as sources of indexes; see index_function.h. */
#include "script/index_function.h"

#include <stdlib.h>

#include "base/mem.h"
#include "informer/index_path.h"
#include "script/args.h"
#include "script/report.h"
#include "script/view.h"

struct index_function {
    struct script *script;
    int ref;
    bool running;
    struct failure_report report;
    struct series *errors;
    char name[];
};

struct asking {
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
    if (!script->emitting) script_raise(L, "emit: the index function has returned");
    if (lua_isnoneornil(L, 1)) return 0;
    struct buf *text = script_scratch(script);
    if (!index_value_text(L, 1, text))
        script_raise(L, "emit: a value must be a string, a number or a boolean, not %s", arg_type_name(L, 1));
    if (script->emitting->count == INDEX_VALUES_MAX)
        script_raise(L, "emit: more than %d values for one object", INDEX_VALUES_MAX);
    index_values_add(script->emitting, buf_slice(text));
    return 0;
}

static void ask_body(lua_State *L, void *ctx)
{
    const struct asking *asking = ctx;
    lua_rawgeti(L, LUA_REGISTRYINDEX, asking->function->ref);
    view_push_object(L, asking->object);
    push_ref(L, asking->function->script, REF_EMIT);
    lua_call(L, 2, 0);
}

static void report(struct index_function *f, struct root *object, enum script_result result)
{
    struct buf key = {0};
    root_key(object, &key);
    const struct log_field about[] = {F("index", f->name), FS("key", buf_slice(&key)), {.key = NULL}};
    report_failure(&f->report, f->script, SCRIPT_INDEX, result, about);
    buf_clear(&key);
}

static bool ask(void *ctx, struct root *object, struct index_values *out, struct err *err)
{
    struct index_function *f = ctx;
    struct script *script = f->script;
    struct index_values *outer = script->emitting;
    struct asking asking = {f, object};
    script->emitting = out;
    f->running = true;
    enum script_result result =
        script->inside ? script_call_nested(script->inside, "an index function", f->name, ask_body, &asking)
                       : script_call_filter(script, "an index function", f->name, ask_body, &asking);
    f->running = false;
    script->emitting = outer;
    if (result == SCRIPT_OK) return true;
    series_inc(f->errors);
    report(f, object, result);
    return err_set(err, ERR_SCRIPT, "index function %s failed", f->name);
}

/* The function goes with its state: a claim is released when that is closed already. */
static void free_function(void *ctx)
{
    struct index_function *f = ctx;
    report_end(&f->report);
    series_free(f->errors);
    free(f);
}

struct index_source index_function(lua_State *L, int ref, struct str name)
{
    struct index_function *f = xcalloc(1, sizeof *f + name.n + 1);
    f->script = script_of(L);
    f->ref = ref;
    report_place(&f->report, L, ref);
    memcpy(f->name, name.p, name.n);
    f->errors = SERIES(FAMILY_INDEX_ERRORS, f->script->name, f->name);
    return (struct index_source){ask, free_function, f};
}

bool index_function_is_running(const struct index_source *source)
{
    return source->values == ask && ((const struct index_function *)source->ctx)->running;
}

lua_State *index_functions_enter(lua_State *L)
{
    struct script *script = script_of(L);
    lua_State *outer = script->inside;
    script->inside = L;
    return outer;
}

void index_functions_leave(lua_State *L, lua_State *outer)
{
    script_of(L)->inside = outer;
}

void index_function_setup(lua_State *L)
{
    lua_pushcfunction(L, l_emit);
    set_ref(L, REF_EMIT);
}

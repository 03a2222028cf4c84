/* Hashes of functions; see function_hash.h. */
#include "script/inventory/function_hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/must.h"
#include "script/inventory/inventory.h"
#include "script/inventory/script_texts.h"
#include "script/vm/args.h"
#include "script/vm/bundle.h"
#include "script/vm/call.h"
#include "script/vm/modules.h"
#include "script/vm/state.h"

/* Limit of functions of lua/k8s around a script's function, one inside the other. */
enum { WRAPPED_MAX = 4 };

static void keep_function(lua_State *L, int idx, int depth, struct buf *out);

static bool is_ours(lua_State *L, int idx)
{
    lua_Debug ar;
    lua_pushvalue(L, idx);
    lua_getinfo(L, ">S", &ar);
    return *ar.what != 'C' && *ar.source == '=';
}

/* Adds the parts that distinguish a function of lua/k8s from others: its upvalues, such as the script's
 * function or the queue. */
static void keep_upvalue(lua_State *L, int idx, int depth, struct buf *out)
{
    if (lua_isfunction(L, idx) && depth < WRAPPED_MAX) {
        keep_function(L, idx, depth + 1, out);
    } else if (lua_isuserdata(L, idx) && luaL_callmeta(L, idx, CLASS_NAMED_BY)) {
        buf_puts(out, own_text(L, -1));
        lua_pop(L, 1);
    } else if (lua_type(L, idx) == LUA_TSTRING) {
        buf_str(out, arg_bytes(L, idx, "plan: text"));
    }
}

/* Pushes the stripped code. */
static void push_code(lua_State *L, int idx)
{
    push_ref(L, script_of(L), REF_DUMP);
    lua_pushvalue(L, idx);
    lua_pushboolean(L, 1);
    lua_call(L, 2, 1);
}

void function_code(lua_State *L, int idx, bool strings, struct buf *out)
{
    size_t len;
    push_code(L, idx);
    const char *code = lua_tolstring(L, -1, &len);
    const struct str dump = {code, len};
    must(strings ? function_strings(dump, out) : function_canonical(dump, out));
    lua_pop(L, 1);
}

static void keep_function(lua_State *L, int idx, int depth, struct buf *out)
{
    luaL_checkstack(L, 8, "functions are nested too deeply");
    if (lua_iscfunction(L, idx)) {
        buf_puts(out, "[C]");
        return;
    }
    bool ours = is_ours(L, idx);
    function_code(L, idx, false, out);
    const char *name;
    for (int i = 1; (name = lua_getupvalue(L, idx, i)); i++) {
        buf_puts(out, name);
        buf_putc(out, '\0');
        if (ours) keep_upvalue(L, lua_gettop(L), depth, out);
        lua_pop(L, 1);
    }
}

static void note_place(lua_State *L, int idx, const char *hash)
{
    struct inventory *plan = script_of(L)->own.inventory;
    lua_Debug ar;
    if (!plan->notes_functions) return;
    lua_pushvalue(L, idx);
    lua_getinfo(L, ">S", &ar);
    if (*ar.source == '@') inventory_note_function(plan, hash, ar.source + 1, ar.linedefined);
}

void function_hash(lua_State *L, int idx, char out[FUNCTION_HASH_LEN + 1])
{
    struct buf *code = script_scratch(script_of(L));
    keep_function(L, idx, 0, code);
    snprintf(out, FUNCTION_HASH_LEN + 1, "%016" PRIx64, (uint64_t)XXH3_64bits(code->data, code->len));
    note_place(L, idx, out);
}

/* --- Canonical order of a function's bytecode; see function_hash.h. The format is that of LuaJIT's
 * lj_bcdump.h, version 2 */

enum { VERSION = 2, FLAG_STRIPPED = 2 };
/* Kinds of constants: of functions, and in tables. */
enum { KGC_CHILD, KGC_TAB, KGC_I64, KGC_U64, KGC_COMPLEX, KGC_STR };
enum { KTAB_NIL, KTAB_FALSE, KTAB_TRUE, KTAB_INT, KTAB_NUM, KTAB_STR };

struct dump_reader {
    const unsigned char *p, *end;
    bool bad, strings; /* `strings`: only these are copied */
};

static uint32_t take_number(struct dump_reader *r)
{
    uint32_t n = 0;
    for (unsigned shift = 0; !r->bad; shift += 7) {
        if (r->p == r->end || shift > 28) {
            r->bad = true;
            break;
        }
        unsigned char byte = *r->p++;
        n |= (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return n;
    }
    return 0;
}

static void skip(struct dump_reader *r, size_t n)
{
    if (n > (size_t)(r->end - r->p))
        r->bad = true;
    else
        r->p += n;
}

static void append(const struct dump_reader *r, struct buf *out, const void *bytes, size_t n)
{
    if (!r->bad && !r->strings) buf_append(out, bytes, n);
}

static void keep(struct dump_reader *r, size_t n, struct buf *out)
{
    const unsigned char *begin = r->p;
    skip(r, n);
    append(r, out, begin, n);
}

static void keep_string(const struct dump_reader *r, struct buf *out, const unsigned char *text, uint32_t n)
{
    if (r->bad || !r->strings) return;
    buf_append(out, &n, sizeof n);
    buf_append(out, text, n);
}

/* Skips a value of a table; copies strings if the caller wants them. */
static void skip_in_table(struct dump_reader *r, struct buf *out)
{
    uint32_t kind = take_number(r);
    if (kind >= KTAB_STR) {
        const unsigned char *text = r->p;
        skip(r, kind - KTAB_STR);
        keep_string(r, out, text, kind - KTAB_STR);
    }
    if (kind == KTAB_INT || kind == KTAB_NUM) take_number(r);
    if (kind == KTAB_NUM) take_number(r);
}

/* Copies the array part, then a sum over the fields. */
static void keep_table(struct dump_reader *r, struct buf *out)
{
    uint32_t items = take_number(r), fields = take_number(r);
    uint64_t sum = 0;
    const unsigned char *begin = r->p;
    for (uint32_t i = 0; i < items && !r->bad; i++) skip_in_table(r, out);
    append(r, out, begin, (size_t)(r->p - begin));
    for (uint32_t i = 0; i < fields && !r->bad; i++) {
        const unsigned char *field = r->p;
        skip_in_table(r, out);
        skip_in_table(r, out);
        sum += XXH3_64bits(field, (size_t)(r->p - field));
    }
    append(r, out, &fields, sizeof fields);
    append(r, out, &sum, sizeof sum);
}

static void keep_constant(struct dump_reader *r, struct buf *out)
{
    const unsigned char *begin = r->p;
    uint32_t kind = take_number(r);
    int numbers = kind == KGC_I64 || kind == KGC_U64 ? 2 : kind == KGC_COMPLEX ? 4 : 0;
    if (kind >= KGC_STR) {
        const unsigned char *text = r->p;
        skip(r, kind - KGC_STR);
        keep_string(r, out, text, kind - KGC_STR);
    }
    for (int i = 0; i < numbers; i++) take_number(r);
    append(r, out, begin, (size_t)(r->p - begin));
    if (kind == KGC_TAB) keep_table(r, out);
}

/* Copies a function; functions inside it precede it. The outermost has its upvalues as slots of a function
 * that is missing here, which change with every local declared above: the caller adds the names. */
static void keep_prototype(struct dump_reader *r, bool outermost, struct buf *out)
{
    enum { HEAD = 4 }; /* flags, parameters, frame size, upvalues */
    size_t upvalues = r->end - r->p >= HEAD ? r->p[HEAD - 1] : 0;
    keep(r, HEAD, out);
    uint32_t constants = take_number(r), numbers = take_number(r), code = take_number(r);
    keep(r, (size_t)code * 4, out);
    if (outermost)
        skip(r, upvalues * 2);
    else
        keep(r, upvalues * 2, out);
    for (uint32_t i = 0; i < constants && !r->bad; i++) keep_constant(r, out);
    append(r, out, &numbers, sizeof numbers);
    keep(r, (size_t)(r->end - r->p), out);
}

static bool read_dump(struct str dump, bool strings, struct buf *out)
{
    struct dump_reader r = {(const unsigned char *)dump.p, (const unsigned char *)dump.p + dump.n, false,
                            strings};
    if (dump.n < 5 || memcmp(dump.p, "\033LJ", 3) != 0 || r.p[3] != VERSION) return false;
    skip(&r, 4);
    if (!(take_number(&r) & FLAG_STRIPPED)) return false;
    for (uint32_t size = take_number(&r); size > 0 && !r.bad;) {
        struct dump_reader one = {r.p, r.p + size, false, strings};
        skip(&r, size);
        if (r.bad) break;
        size = take_number(&r);
        keep_prototype(&one, size == 0, out);
        r.bad |= one.bad;
    }
    return !r.bad && r.p == r.end;
}

bool function_canonical(struct str dump, struct buf *out)
{
    return read_dump(dump, false, out);
}

bool function_strings(struct str dump, struct buf *out)
{
    return read_dump(dump, true, out);
}

/* --- strings in the code of a script */

struct hash_texts {
    struct str source;
    struct buf *found; /* each after its length, a uint32_t */
};

static void compile(lua_State *L, void *ctx)
{
    const struct hash_texts *texts = ctx;
    modules_push_chunk(L, texts->source, "=texts");
    function_code(L, lua_gettop(L), true, texts->found);
}

static void each(const struct buf *found, void (*fn)(void *ctx, struct str text), void *ctx)
{
    for (size_t at = 0; at < found->len;) {
        uint32_t n;
        memcpy(&n, found->data + at, sizeof n);
        fn(ctx, (struct str){found->data + at + sizeof n, n});
        at += sizeof n + n;
    }
}

/* Calls `fn` with each string of the sources. Files that do not compile here were not loaded either. */
void script_each_text(struct script *script, void (*fn)(void *ctx, struct str text), void *ctx)
{
    struct buf found = {0};
    for (size_t i = 0; i < bundle_count(script->id.bundle); i++) {
        struct hash_texts texts = {.found = &found};
        struct err err;
        found.len = 0;
        if (!bundle_text(script->id.bundle, bundle_path(script->id.bundle, i), &texts.source, &err)) continue;
        if (script_call(script, "texts", compile, &texts) == SCRIPT_OK) each(&found, fn, ctx);
    }
    buf_clear(&found);
}

struct closure {
    int ref;
    struct buf *out;
};

static void describe_code(lua_State *L, void *ctx)
{
    const struct closure *closure = ctx;
    modules_internal(L, "k8s.closure");
    lua_rawgeti(L, LUA_REGISTRYINDEX, closure->ref);
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    lua_call(L, 2, 1);
    size_t len;
    const char *code = lua_tolstring(L, -1, &len);
    buf_append(closure->out, code, len);
}

bool function_closure_code(struct script *script, int ref, struct buf *out)
{
    struct closure closure = {ref, out};
    return script_call_load(script, "a reload", describe_code, &closure) == SCRIPT_OK;
}

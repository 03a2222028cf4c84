/* Handover of state tables between generations; see state_table.h. Each Lua state is entered by protected
 * calls of its own; between them there are only bytes that belong to neither, so that an error on one side
 * leaves nothing behind on the other. */
#include <string.h>

#include "base/must.h"
#include "script/inventory/inventory.h"
#include "script/view/state_table.h"
#include "script/vm/args.h"
#include "script/vm/call.h"

struct table_handover {
    const struct state_table *from, *to;
    struct buf bytes, migrated;
    lua_Debug place; /* of migrate, once it was called */
};

static void write_old(lua_State *L, void *ctx)
{
    struct table_handover *h = ctx;
    lua_rawgeti(L, LUA_REGISTRYINDEX, h->from->table);
    state_table_write(L, lua_gettop(L), &h->bytes);
}

static void read_bytes(lua_State *L, const struct table_handover *h, const struct buf *bytes)
{
    const char *at = bytes->data;
    lua_rawgeti(L, LUA_REGISTRYINDEX, h->to->table);
    state_table_read(L, lua_gettop(L), &at);
}

static void read_new(lua_State *L, void *ctx)
{
    const struct table_handover *h = ctx;
    read_bytes(L, h, &h->bytes);
}

/* Calls migrate; its result is checked as if it were assigned. */
static void migrate(lua_State *L, void *ctx)
{
    struct table_handover *h = ctx;
    const char *at = h->bytes.data;
    lua_rawgeti(L, LUA_REGISTRYINDEX, h->to->migrate);
    lua_pushvalue(L, -1);
    lua_getinfo(L, ">S", &h->place);
    state_table_push_plain(L, &at);
    lua_pushinteger(L, h->from->version);
    lua_call(L, 2, 1);
    int result = lua_gettop(L);
    if (!lua_istable(L, result))
        script_raise(L, "k8s.state: %s: migrate must return a table, not %s", h->to->name,
                     arg_type_name(L, result));
    const char *name = lua_pushfstring(L, "%s: the value returned by migrate", h->to->name);
    state_table_push_root(L, name, (size_t)(h->to - script_of(L)->own.states->items), result);
    state_table_write(L, lua_gettop(L), &h->migrated);
    read_bytes(L, h, &h->migrated);
}

/* Sets err to the failure. An error that no line of the script raised is placed where migrate begins. */
static bool failed(struct script *script, const struct table_handover *h, struct err *err)
{
    const char *why = buf_text(&script->failure.text);
    if (script->failure.line == 0 && h->place.linedefined > 0)
        return err_set(err, ERR_SCRIPT, "%s:%d: %s", h->place.short_src, h->place.linedefined, why);
    return err_set(err, ERR_SCRIPT, "%s", why);
}

bool state_table_reject_version(const struct inventory_entry *entry, const char *name, int before, int after,
                                struct err *err)
{
    err_set(err, ERR_SCRIPT, "k8s.state: %s: version changes from %d to %d without a migrate function", name,
            before, after);
    return inventory_wrap_place(entry, err);
}

static bool refuse(const struct script *new_, const struct table_handover *h, struct err *err)
{
    const struct inventory_entry *entry =
        inventory_find(new_->own.inventory, INVENTORY_STATE, str_of(h->to->name));
    return state_table_reject_version(entry, h->to->name, h->from->version, h->to->version, err);
}

static bool handover(struct script *old, struct script *new_, struct table_handover *h, struct err *err)
{
    bool same = h->from->version == h->to->version;
    if (!same && h->to->migrate == LUA_NOREF) return refuse(new_, h, err);
    if (script_call_load(old, "a reload", write_old, h) != SCRIPT_OK) return failed(old, h, err);
    if (same) lua_gc(new_->L, LUA_GCSTOP, 0); /* without garbage to find: the engine waits */
    bool ok =
        script_call_load(new_, same ? "a reload" : "migrate", same ? read_new : migrate, h) == SCRIPT_OK;
    lua_gc(new_->L, LUA_GCRESTART, 0);
    return ok || failed(new_, h, err);
}

bool state_tables_handover(struct script *old, struct script *new_, struct err *err)
{
    bool ok = true;
    must(old->call.depth == 0 && new_->call.depth == 0);
    for (size_t i = 0; ok && i < new_->own.states->count; i++) {
        struct table_handover h = {.to = &new_->own.states->items[i]};
        h.from = state_table_find(old, str_of(h.to->name));
        if (h.from) ok = handover(old, new_, &h, err);
        buf_clear(&h.bytes);
        buf_clear(&h.migrated);
    }
    return ok;
}

/* --- State tables as bytes, to move them between Lua states; see state_table.h. A value is a letter and its
 * data: f, t: booleans; n: a double; s: length and bytes; { or [: two sizes, then key, value, ..., and }. The
 * process that writes them reads them, so byte order and doubles need no conversion. */

enum { LEVEL_SLOTS = 8 };

struct sizes {
    uint32_t items, fields; /* hints for the new table */
};

/* --- writing */

static void write_value(lua_State *L, int idx, struct buf *out)
{
    lua_Number number;
    struct str text;
    uint32_t len;
    switch (lua_type(L, idx)) {
    case LUA_TBOOLEAN: buf_putc(out, lua_toboolean(L, idx) ? 't' : 'f'); break;
    case LUA_TNUMBER:
        number = lua_tonumber(L, idx);
        buf_putc(out, 'n');
        buf_append(out, &number, sizeof number);
        break;
    case LUA_TSTRING:
        text.p = lua_tolstring(L, idx, &text.n);
        len = (uint32_t)text.n;
        buf_putc(out, 's');
        buf_append(out, &len, sizeof len);
        buf_str(out, text);
        break;
    default: state_table_write(L, idx, out);
    }
}

void state_table_write(lua_State *L, int table, struct buf *out)
{
    luaL_checkstack(L, LEVEL_SLOTS, "k8s.state");
    lua_getfenv(L, table);
    int content = lua_gettop(L);
    struct sizes sizes = {.items = (uint32_t)lua_objlen(L, content)};
    /* Only arrays have a metatable: the letter restores it. */
    buf_putc(out, lua_getmetatable(L, content) ? '[' : '{');
    lua_settop(L, content);
    /* The number of fields is known after the walk: reserve its place. */
    size_t at = out->len;
    buf_append(out, &sizes, sizeof sizes);
    uint32_t count = 0;
    lua_pushnil(L);
    while (lua_next(L, content)) {
        /* A state table may be large, and the engine waits for the handover: the load limit bounds it. */
        budget_poll(L, script_of(L));
        write_value(L, content + 1, out);
        write_value(L, content + 2, out);
        lua_pop(L, 1);
        count++;
    }
    lua_pop(L, 1);
    sizes.fields = count > sizes.items ? count - sizes.items : 0;
    memcpy(out->data + at, &sizes, sizeof sizes);
    buf_putc(out, '}');
}

/* --- reading */

static void take(const char **at, void *into, size_t n)
{
    memcpy(into, *at, n);
    *at += n;
}

/* Pushes a value that is not a table. */
static void push_scalar(lua_State *L, const char **at)
{
    lua_Number number;
    uint32_t len;
    switch (*(*at)++) {
    case 'f': lua_pushboolean(L, 0); break;
    case 't': lua_pushboolean(L, 1); break;
    case 'n':
        take(at, &number, sizeof number);
        lua_pushnumber(L, number);
        break;
    case 's':
        take(at, &len, sizeof len);
        lua_pushlstring(L, *at, len);
        *at += len;
        break;
    default: must(!"no such value");
    }
}

static bool is_table(const char *at)
{
    return *at == '{' || *at == '[';
}

/* Pushes an empty table of the recorded sizes, so that reading does not rehash. */
static void push_new(lua_State *L, const char **at)
{
    struct sizes sizes;
    luaL_checkstack(L, LEVEL_SLOTS, "k8s.state");
    bool is_array = *(*at)++ == '[';
    take(at, &sizes, sizeof sizes);
    lua_createtable(L, (int)sizes.items, (int)sizes.fields);
    if (!is_array) return;
    push_ref(L, script_of(L), REF_ARRAY_META);
    lua_setmetatable(L, -2);
}

/* Pushes the state table at the key on top of the stack in the old content at `was`, or a new one. Reusing it
 * keeps references that the new generation took while it loaded. */
static void push_same(lua_State *L, int was, struct state_table_node node)
{
    lua_pushvalue(L, -1);
    lua_rawget(L, was);
    if (lua_isuserdata(L, -1)) return;
    lua_pop(L, 1);
    lua_newtable(L);
    state_table_push_table(L, node);
}

void state_table_read(lua_State *L, int table, const char **at)
{
    struct state_table_node below = *(const struct state_table_node *)lua_touserdata(L, table);
    below.depth++;
    luaL_checkstack(L, LEVEL_SLOTS, "k8s.state");
    lua_getfenv(L, table);
    int was = lua_gettop(L);
    push_new(L, at);
    while (**at != '}') {
        budget_poll(L, script_of(L));
        push_scalar(L, at);
        if (is_table(*at)) {
            push_same(L, was, below);
            state_table_read(L, lua_gettop(L), at);
        } else {
            push_scalar(L, at);
        }
        lua_rawset(L, was + 1);
    }
    (*at)++;
    lua_setfenv(L, table);
    lua_pop(L, 1);
}

void state_table_push_plain(lua_State *L, const char **at)
{
    push_new(L, at);
    int table = lua_gettop(L);
    while (**at != '}') {
        budget_poll(L, script_of(L));
        push_scalar(L, at);
        if (is_table(*at))
            state_table_push_plain(L, at);
        else
            push_scalar(L, at);
        lua_rawset(L, table);
    }
    (*at)++;
}

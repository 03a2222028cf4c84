/* Lua functions that transform objects; see transform.h. */
#include "script/transform.h"

#include <stdlib.h>

#include "base/mem.h"
#include "object/pack.h"
#include "script/args.h"
#include "script/json_encode.h"
#include "script/report.h"
#include "script/view.h"

struct script_transform {
    struct script *script;
    int ref;
    struct failure_report report;
    char kind[];
};

struct transforming {
    const struct script_transform *transform;
    struct root *object, *out; /* `out` NULL: it is not wanted */
};

static bool same_identity(const struct root *a, const struct root *b)
{
    struct text ta, tb;
    return root_key_equal(a, b) && str_eq(root_uid(a, &ta), root_uid(b, &tb)) &&
           str_eq(root_resource_version(a, &ta), root_resource_version(b, &tb));
}

/* Packs the table at the top of the stack; it keeps the kind of what it was made from. */
static struct root *pack_result(lua_State *L, struct root *object)
{
    struct script *script = script_of(L);
    struct text version, kind;
    struct root *out;
    struct err err;
    struct buf *json = json_encode(L, lua_gettop(L), "a transform", 0);
    buf_reserve(json, TAPE_PADDING);
    const struct pack_type type = {
        .api_version = value_str(value_field(root_value(object), STR("apiVersion")), &version),
        .kind = value_str(value_field(root_value(object), STR("kind")), &kind),
        .always = true,
    };
    if (!pack_text(shared_factory_packer(script->host->factory), json->data, json->len, &type, &out, &err))
        script_raise(L, "a transform: %s", err.text);
    if (same_identity(object, out)) return out;
    root_unref(out);
    script_raise(L, "a transform must keep metadata.name, namespace, uid and resourceVersion");
}

static void run(lua_State *L, void *ctx)
{
    struct transforming *t = ctx;
    lua_rawgeti(L, LUA_REGISTRYINDEX, t->transform->ref);
    copy_push_value(L, root_value(t->object));
    int base = lua_gettop(L) - 2;
    lua_call(L, 1, LUA_MULTRET);
    if (lua_gettop(L) == base) /* who forgets the return would have an empty cache for no visible reason */
        script_raise(L, "a transform must return the object, a changed copy, or nil to drop it");
    lua_settop(L, base + 1);
    if (lua_isnil(L, -1)) return;
    if (!lua_istable(L, -1))
        script_raise(L, "a transform must return a table, or nil for what is not wanted, not %s",
                     arg_type_name(L, -1));
    t->out = pack_result(L, t->object);
}

static void report(struct script_transform *t, const struct root *object, enum script_result result)
{
    struct buf key = {0};
    root_key(object, &key);
    const struct log_field about[] = {F("informer", t->kind), FS("key", buf_slice(&key)), {.key = NULL}};
    report_failure(&t->report, t->script, SCRIPT_TRANSFORM, result, about);
    buf_clear(&key);
}

static enum transform_result transform(void *ctx, struct root *object, struct root **out)
{
    struct script_transform *t = ctx;
    struct transforming transforming = {t, object, NULL};
    enum script_result result = script_call_filter(t->script, "a transform", t->kind, run, &transforming);
    *out = transforming.out;
    if (result == SCRIPT_OK) return *out ? TRANSFORM_KEPT : TRANSFORM_DROPPED;
    report(t, object, result);
    return TRANSFORM_FAILED;
}

static void free_transform(void *ctx)
{
    struct script_transform *t = ctx;
    report_end(&t->report);
    free(t);
}

struct transform script_transform(lua_State *L, int ref, const char *kind)
{
    struct script *script = script_of(L);
    struct script_transform *t = xcalloc(1, sizeof *t + strlen(kind) + 1);
    t->script = script;
    t->ref = ref;
    report_place(&t->report, L, ref);
    strcpy(t->kind, kind);
    return (struct transform){.fn = transform, .free = free_transform, .ctx = t, .owner = script->name};
}

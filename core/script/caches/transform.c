/* Lua functions that transform objects; see transform.h. */
#include "script/caches/transform.h"

#include <stdlib.h>

#include "base/mem.h"
#include "object/pack/pack.h"
#include "script/caches/informer_options.h"
#include "script/inventory/function_hash.h"
#include "script/inventory/inventory.h"
#include "script/view/json_encode.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/call.h"
#include "script/vm/failure_log.h"
#include "script/vm/quarantine.h"
#include "script/vm/turns.h"

struct script_transform {
    TAILQ_ENTRY(script_transform) link, on_binding;
    struct script *script;
    struct transform_binding *binding;
    int ref;
    struct failure_log report;
    struct quarantine quarantine;
    char *informer, *code; /* as in the inventory; NULL until loaded */
    char kind[];
};

/* Transform binding: identity of equal transforms of all generations, by which an informer recognizes
 * them. */
struct transform_binding {
    size_t claims;
    TAILQ_HEAD(bound, script_transform) functions; /* newest generation last */
    struct script_transform *current;              /* function that is called */
    bool cut_short; /* a limit ended a call; the next generation may have another limit, so it does not share
                       the cache */
    char owner[];
};

struct transforming {
    const struct script_transform *transform;
    struct root *object, *out; /* `out` NULL: dropped */
};

static bool same_identity(const struct root *a, const struct root *b)
{
    struct text ta, tb;
    return root_key_equal(a, b) && str_eq(root_uid(a, &ta), root_uid(b, &tb)) &&
           str_eq(root_resource_version(a, &ta), root_resource_version(b, &tb));
}

/* Packs the table on top of the stack, with the kind of the original object. */
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
    if (!pack_text(shared_factory_packer(script->host->cluster->factory), json->data, json->len, &type, &out,
                   &err))
        script_raise(L, "a transform: %s", err.text);
    if (same_identity(object, out)) return out;
    root_unref(out);
    script_raise(L, "a transform must keep metadata.name, namespace, uid and resourceVersion");
}

static void run(lua_State *L, void *ctx)
{
    struct transforming *t = ctx;
    script_push_function(L, t->transform->ref);
    copy_push_value(L, root_value(t->object));
    int base = lua_gettop(L) - 2;
    lua_call(L, 1, LUA_MULTRET);
    if (lua_gettop(L) == base) /* a forgotten return would leave the cache empty without a visible reason */
        script_raise(L, "a transform must return the object, a changed copy, or nil to drop it");
    lua_settop(L, base + 1);
    if (lua_isnil(L, -1)) return;
    if (!lua_istable(L, -1))
        script_raise(L, "a transform must return a table, or nil to drop the object, not %s",
                     arg_type_name(L, -1));
    t->out = pack_result(L, t->object);
}

static void report(struct script_transform *t, const struct root *object, enum script_result result)
{
    struct buf key = {0};
    root_key(object, &key);
    const struct log_field about[] = {F("informer", t->kind), FS("key", buf_slice(&key)), {.key = NULL}};
    failure_log_add(&t->report, t->script, SCRIPT_TRANSFORM, result, about);
    buf_clear(&key);
}

static enum transform_result transform(void *ctx, struct root *object, struct root **out)
{
    struct script_transform *t = ((struct transform_binding *)ctx)->current;
    *out = NULL;
    if (!t || quarantine_skips(&t->quarantine)) return TRANSFORM_FAILED; /* NULL: the claim is about to go */
    struct transforming transforming = {t, object, NULL};
    enum script_result result = script_call_filter(t->script, "a transform", t->kind, run, &transforming);
    if (result != SCRIPT_OK) report(t, object, result);
    quarantine_note(&t->quarantine, QUARANTINE_CALL, result);
    *out = result == SCRIPT_OK ? transforming.out : NULL;
    if (result == SCRIPT_OK) return *out ? TRANSFORM_KEPT : TRANSFORM_DROPPED;
    root_unref(transforming.out); /* the limit was found exceeded at the very end */
    if (result != SCRIPT_ERROR) t->binding->cut_short = true;
    return TRANSFORM_FAILED;
}

/* Relists after a quarantine: only the server still has the objects that failed. */
static void list_again(struct quarantine *quarantine)
{
    const struct script_transform *t = container_of(quarantine, struct script_transform, quarantine);
    for (size_t i = 0; i < t->script->informers.count; i++)
        if (claim_spec(t->script->informers.claims[i])->transform.ctx == t->binding)
            claim_relist(t->script->informers.claims[i]);
}

/* --- transform bindings */

static void unbind_transform(struct script_transform *t)
{
    struct transform_binding *binding = t->binding;
    TAILQ_REMOVE(&binding->functions, t, on_binding);
    if (binding->current == t) binding->current = TAILQ_LAST(&binding->functions, bound);
}

static void bind_transform(struct script_transform *t, struct transform_binding *binding)
{
    t->binding = binding;
    TAILQ_INSERT_TAIL(&binding->functions, t, on_binding);
    if (!binding->current) binding->current = t;
}

/* Releases the binding of one claim. */
static void release_binding(void *ctx)
{
    struct transform_binding *binding = ctx;
    if (--binding->claims == 0) free(binding);
}

/* --- turns */

/* The rest of a list, and further changes, wait until the script has had a turn: then it has new time. */
static bool puts_off(void *ctx)
{
    const struct script_transform *t = ((struct transform_binding *)ctx)->current;
    if (!t || !t->script->host->turns || !turns_are_owed(t->script)) return false;
    t->script->own.transforms->waits = true;
    turns_schedule(t->script);
    return true;
}

void transforms_turn(struct script *script)
{
    bool waits = script->own.transforms->waits;
    for (size_t i = 0; waits && i < script->informers.count; i++) {
        struct informer_claim *claim = script->informers.claims[i];
        if (claim_spec(claim)->transform.fn) shared_factory_go_on(claim_factory(claim));
    }
    script->own.transforms->waits = false;
}

static struct transform transform_of(struct transform_binding *binding)
{
    binding->claims++;
    return (struct transform){
        .fn = transform, .free = release_binding, .ctx = binding, .later = puts_off, .owner = binding->owner};
}

struct transform script_transform(lua_State *L, int ref, const char *kind)
{
    struct script *script = script_of(L);
    struct script_transform *t = xcalloc(1, sizeof *t + strlen(kind) + 1);
    struct transform_binding *binding = xcalloc(1, sizeof *binding + strlen(script->id.name) + 1);
    t->script = script;
    t->ref = ref;
    failure_log_set_place(&t->report, L, ref);
    strcpy(t->kind, kind);
    char *id = xasprintf("transform/%s", kind);
    quarantine_init(&t->quarantine, script, id, list_again);
    free(id);
    strcpy(binding->owner, script->id.name);
    TAILQ_INIT(&binding->functions);
    bind_transform(t, binding);
    TAILQ_INSERT_TAIL(&script->own.transforms->list, t, link);
    return transform_of(binding);
}

/* --- handover */

/* Returns the code of the function with everything that it reaches, as it is now; free() it. */
static char *code_of(const struct script_transform *t)
{
    struct buf out = {0};
    if (!function_closure_code(t->script, t->ref, &out)) {
        out.len = 0;
        buf_printf(&out, "?cannot be compared: %s", buf_text(&t->script->failure.text));
    }
    return buf_take(&out);
}

static bool has_function_of(const struct transform_binding *binding, const struct script *script)
{
    const struct script_transform *t;
    TAILQ_FOREACH (t, &binding->functions, on_binding)
        if (t->script == script) return true;
    return false;
}

/* Returns whether the function is unchanged since it was loaded. Its upvalues and globals count too: their
 * values are part of the cached objects. */
static bool is_still(const struct script_transform *before, const char *code)
{
    char *now = code_of(before);
    bool same = strcmp(now, code) == 0;
    free(now);
    return same;
}

static struct script_transform *find_same(const struct script *before, const struct script_transform *t)
{
    struct script_transform *b;
    /* Not comparable: a new cache is always right. */
    if (*t->code == '?') return NULL;
    TAILQ_FOREACH (b, &before->own.transforms->list, link)
        if (b->code && strcmp(b->informer, t->informer) == 0 && strcmp(b->code, t->code) == 0 &&
            !has_function_of(b->binding, t->script) && !b->binding->cut_short && is_still(b, t->code))
            return b;
    return NULL;
}

static void load_one(struct script *script, struct informer_claim *claim, struct script_transform *t)
{
    struct buf text = {0};
    informer_spec_describe(claim_spec(claim), &text);
    t->informer = buf_take(&text);
    t->code = code_of(t);
    inventory_add(script->own.inventory, INVENTORY_TRANSFORM, str_of(t->informer), str_of(t->code));
    const struct inventory_entry *informer =
        inventory_find(script->own.inventory, INVENTORY_INFORMER, str_of(t->informer));
    if (informer && informer->file)
        inventory_set_place(script->own.inventory, INVENTORY_TRANSFORM, str_of(t->informer), informer->file,
                            informer->line);
    struct script_transform *same = script->load.before ? find_same(script->load.before, t) : NULL;
    if (!same) return;
    unbind_transform(t);
    bind_transform(t, same->binding);
    claim_set_transform(claim, &(const struct transform){0}); /* releases its own binding */
    const struct transform shared = transform_of(same->binding);
    claim_set_transform(claim, &shared);
}

void transforms_loaded(struct script *script)
{
    for (size_t i = 0; i < script->informers.count; i++) {
        const struct transform *transform = &claim_spec(script->informers.claims[i])->transform;
        if (!transform->fn) continue;
        const struct transform_binding *binding = transform->ctx;
        load_one(script, script->informers.claims[i], binding->current);
    }
    /* No call of the old generation until the activation means no changed state: that saves the comparison,
     * which is part of the pause. */
    script->own.transforms->compared = script->load.before ? script->load.before->report.tally.calls : 0;
}

/* Returns the transform of `before` that shares the binding; NULL: none. */
static const struct script_transform *sharer(const struct script *before, const struct script_transform *t)
{
    const struct script_transform *b;
    TAILQ_FOREACH (b, &before->own.transforms->list, link)
        if (b->binding == t->binding) return b;
    return NULL;
}

bool transforms_are_still(const struct script *before, const struct script *script, struct err *err)
{
    const struct script_transform *t;
    if (before->report.tally.calls == script->own.transforms->compared) return true; /* no call since */
    TAILQ_FOREACH (t, &script->own.transforms->list, link) {
        const struct script_transform *b = sharer(before, t);
        if (b && (b->binding->cut_short || !is_still(b, t->code)))
            return err_set(err, ERR_OUTDATED,
                           "the transform of %s changed its state since the new generation was loaded",
                           t->kind);
    }
    return true;
}

void transforms_handover(struct script *script)
{
    struct script_transform *t;
    TAILQ_FOREACH (t, &script->own.transforms->list, link) t->binding->current = t;
    /* Informers may wait for a turn of the generation before, which may end first. */
    script->own.transforms->waits = !TAILQ_EMPTY(&script->own.transforms->list);
}

void transforms_init(struct script *script)
{
    TAILQ_INIT(&script->own.transforms->list);
}

void transforms_clear(struct script *script)
{
    struct script_transform *t;
    while ((t = TAILQ_FIRST(&script->own.transforms->list))) {
        TAILQ_REMOVE(&script->own.transforms->list, t, link);
        unbind_transform(t);
        failure_log_flush(&t->report);
        quarantine_clear(&t->quarantine);
        free(t->informer);
        free(t->code);
        free(t);
    }
}

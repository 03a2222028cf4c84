/* raw.informer.wait_version, raw.informer.wait_synced: waiting for caches (I-19). */
#include <stdlib.h>

#include "base/mem.h"
#include "informer/shared/claim_status.h"
#include "informer/shared/shared_factory.h"
#include "kube/kinds/resource.h"
#include "script/caches/bind_informer.h"
#include "script/caches/running_informer.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/task.h"

/* Of a script. */
struct script_waits {
    TAILQ_HEAD(, wait_synced) list; /* for first lists */
    TAILQ_HEAD(, wait_version) versions;
};

/* --- a version */

struct wait_version {
    struct task_wait wait;
    TAILQ_ENTRY(wait_version) link; /* of the script's */
    struct script *script;
    struct running_informer *informer; /* a reference; may be NULL */
    struct timer timeout;
    int64_t timeout_ms;
    struct informer_claim *claim;
    struct version_wait *version; /* NULL once it was reached */
    struct buf ns;                /* of which alone; empty: of all */
};

static void on_reached(void *ctx)
{
    struct wait_version *w = ctx;
    w->version = NULL;
    timer_cancel(&w->timeout);
    task_wake(&w->wait);
}

static void on_version_timeout(struct timer *timer)
{
    task_wake(&container_of(timer, struct wait_version, timeout)->wait);
}

static int push_stopped(lua_State *L, const struct informer_claim *claim)
{
    struct buf *text = script_scratch(script_of(L));
    buf_printf(text, "the informer of %s was stopped", claim_spec(claim)->kind);
    return push_error(L, 0, "Stopped", buf_slice(text));
}

static int push_version(lua_State *L, struct task_wait *wait)
{
    struct wait_version *w = container_of(wait, struct wait_version, wait);
    if (!w->version) {
        lua_pushboolean(L, 1);
        return 1;
    }
    if (claim_is_stopped(w->claim)) return push_stopped(L, w->claim);
    struct buf *text = script_scratch(script_of(L));
    buf_printf(text, "%s: not reached within %g s, the cache is at version \"%.*s\"",
               claim_spec(w->claim)->kind, (double)w->timeout_ms / 1e3,
               STR_ARG(claim_version(w->claim, buf_slice(&w->ns))));
    return push_error(L, 0, "Timeout", buf_slice(text));
}

static void free_version(struct wait_version *w)
{
    buf_clear(&w->ns);
    free(w);
}

static void drop_version(struct task_wait *wait)
{
    struct wait_version *w = container_of(wait, struct wait_version, wait);
    timer_cancel(&w->timeout);
    TAILQ_REMOVE(&w->script->own.waits->versions, w, link);
    if (w->version) version_wait_cancel(w->version);
    running_informer_unref(w->informer);
    free_version(w);
}

/* wait_version(informer, version, timeout, namespace): true once the cache has it (B-10), or nil, err. */
static int l_wait_version(lua_State *L)
{
    static const struct task_wait_ops ops = {push_version, drop_version, .finishes = false};
    struct informer_claim *claim = informer_waited_arg(L, 1, "wait_rv");
    struct str version = arg_str(L, 2, "wait_rv: the resource version");
    int64_t timeout_ms = arg_duration_ms(L, 3, "wait_rv: the timeout");
    struct str ns = lua_isnoneornil(L, 4) ? (struct str){0} : arg_str(L, 4, "wait_rv: the namespace");
    struct err err;
    if (!resource_version_check(version, &err))
        script_raise(L, "wait_rv: \"%.64s\" is not the version of a list or an object", version.p);
    task_check(L, "wait_rv");
    if (claim_is_stopped(claim)) return push_stopped(L, claim);
    if (version_reached(claim_version(claim, ns), version)) {
        lua_pushboolean(L, 1);
        return 1;
    }
    struct wait_version *w = NEW(struct wait_version);
    w->claim = claim;
    w->timeout_ms = timeout_ms;
    w->timeout.fn = on_version_timeout;
    w->version = claim_wait_version(claim, ns, version, on_reached, w, &err);
    buf_str(&w->ns, ns);
    if (!w->version) {
        free_version(w);
        return push_err(L, &err);
    }
    w->script = script_of(L);
    w->informer = running_informer_ref(informer_held(L, 1));
    TAILQ_INSERT_TAIL(&w->script->own.waits->versions, w, link);
    timer_start(&w->timeout, script_clock(w->script), timeout_ms);
    return task_yield(L, &w->wait, &ops);
}

/* --- first lists */

struct wait_synced {
    struct task_wait wait;
    TAILQ_ENTRY(wait_synced) link; /* of the script's, until it is woken */
    struct script *script;
    struct running_informer **informers; /* references, as many as there are claims; each may be NULL */
    struct timer timeout;
    int64_t timeout_ms;
    size_t count;
    struct informer_claim *claims[];
};

static bool all_synced(const struct wait_synced *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (!claim_has_synced(w->claims[i])) return false;
    return true;
}

static void wake(struct wait_synced *w)
{
    TAILQ_REMOVE(&w->script->own.waits->list, w, link);
    timer_cancel(&w->timeout);
    task_wake(&w->wait);
}

static void on_sync_timeout(struct timer *timer)
{
    wake(container_of(timer, struct wait_synced, timeout));
}

static bool waits_for(const struct wait_synced *w, const struct informer_claim *claim)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->claims[i] == claim) return true;
    return false;
}

void waits_stopped(struct script *script, const struct informer_claim *claim)
{
    struct wait_synced *w, *next;
    struct wait_version *version;
    for (w = TAILQ_FIRST(&script->own.waits->list); w; w = next) {
        next = TAILQ_NEXT(w, link);
        if (waits_for(w, claim)) wake(w);
    }
    TAILQ_FOREACH (version, &script->own.waits->versions, link) {
        if (version->claim != claim || !version->version || version->wait.woken) continue;
        timer_cancel(&version->timeout);
        task_wake(&version->wait);
    }
}

static void waits_claims_changed(struct script *script)
{
    struct wait_synced *w, *next;
    for (w = TAILQ_FIRST(&script->own.waits->list); w; w = next) {
        next = TAILQ_NEXT(w, link);
        if (all_synced(w)) wake(w);
    }
}

/* I-20: each laggard with its state, cause and since when. */
static int push_synced(lua_State *L, struct task_wait *wait)
{
    const struct wait_synced *w = container_of(wait, struct wait_synced, wait);
    for (size_t i = 0; i < w->count; i++)
        if (claim_is_stopped(w->claims[i])) return push_stopped(L, w->claims[i]);
    struct buf *lag = script_scratch(script_of(L));
    for (size_t i = 0; i < w->count; i++)
        if (!claim_has_synced(w->claims[i])) claim_describe_lag(w->claims[i], lag);
    if (lag->len == 0) {
        lua_pushboolean(L, 1);
        return 1;
    }
    const char *text =
        lua_pushfstring(L, "not synced within %f s: %s", (lua_Number)w->timeout_ms / 1e3, buf_text(lag));
    return push_error(L, 0, "Timeout", str_of(text));
}

static void drop_synced(struct task_wait *wait)
{
    struct wait_synced *w = container_of(wait, struct wait_synced, wait);
    if (!wait->woken) TAILQ_REMOVE(&w->script->own.waits->list, w, link);
    timer_cancel(&w->timeout);
    for (size_t i = 0; i < w->count; i++) running_informer_unref(w->informers[i]);
    free(w->informers);
    free(w);
}

/* wait_synced(timeout, of_factory, informer, ...): true once all of them hold their first lists, or nil, err.
 */
static int l_wait_synced(lua_State *L)
{
    static const struct task_wait_ops ops = {push_synced, drop_synced, .finishes = false};
    struct script *script = script_of(L);
    bool of_factory = lua_toboolean(L, 2);
    const char *name = of_factory ? "factory:wait_for_cache_sync" : "informer:wait_for_sync";
    const char *what =
        of_factory ? "factory:wait_for_cache_sync: the timeout" : "informer:wait_for_sync: the timeout";
    lua_remove(L, 2);
    size_t count = (size_t)lua_gettop(L) - 1;
    int64_t timeout_ms = arg_duration_ms(L, 1, what);
    task_check(L, name);
    for (size_t i = 0; i < count; i++) {
        const struct informer_claim *claim = informer_waited_arg(L, (int)i + 2, name);
        if (claim_is_stopped(claim)) return push_stopped(L, claim);
    }
    struct wait_synced *w = xcalloc(1, sizeof *w + count * sizeof w->claims[0]);
    w->script = script;
    w->timeout_ms = timeout_ms;
    w->timeout.fn = on_sync_timeout;
    w->count = count;
    for (size_t i = 0; i < count; i++) w->claims[i] = informer_waited_arg(L, (int)i + 2, name);
    if (all_synced(w)) {
        free(w);
        lua_pushboolean(L, 1);
        return 1;
    }
    w->informers = xcalloc(count + 1, sizeof(struct running_informer *));
    for (size_t i = 0; i < count; i++) w->informers[i] = running_informer_ref(informer_held(L, (int)i + 2));
    TAILQ_INSERT_TAIL(&script->own.waits->list, w, link);
    timer_start(&w->timeout, script_clock(script), timeout_ms);
    return task_yield(L, &w->wait, &ops);
}

void bind_wait(lua_State *L)
{
    lua_getfield(L, -1, "informer");
    lua_pushcfunction(L, l_wait_version);
    lua_setfield(L, -2, "wait_version");
    lua_pushcfunction(L, l_wait_synced);
    lua_setfield(L, -2, "wait_synced");
    lua_pop(L, 1);
}

static void open_waits(struct script *script)
{
    TAILQ_INIT(&script->own.waits->list);
    TAILQ_INIT(&script->own.waits->versions);
}

const struct feature feature_wait = {FEATURE_OWNS(waits), .open = open_waits,
                                     .claims_changed = waits_claims_changed};

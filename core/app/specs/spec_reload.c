/* Reloads of scripts under test; see spec_reload.h. */
#include "app/specs/spec_reload.h"

#include <stdlib.h>
#include <string.h>

#include "app/specs/spec_kinds.h"
#include "base/mem.h"
#include "script/generation/handover.h"
#include "script/vm/bundle.h"

enum { DRAIN_MS = 10000 }; /* as of the engine */

/* A generation that runs out. */
struct spec_draining {
    TAILQ_ENTRY(spec_draining) link;
    struct script *script;
    struct timer deadline;
    bool over;
};

/* --- running out */

static void on_deadline(struct timer *timer)
{
    container_of(timer, struct spec_draining, deadline)->over = true;
}

static void drain(struct spec_engine *engine, struct script *script)
{
    struct spec_draining *d = NEW(struct spec_draining);
    d->script = script;
    d->deadline.fn = on_deadline;
    timer_start(&d->deadline, loop_clock(engine->base.loop), DRAIN_MS);
    TAILQ_INSERT_TAIL(&engine->draining, d, link);
}

static void end(struct spec_engine *engine, struct spec_draining *d)
{
    TAILQ_REMOVE(&engine->draining, d, link);
    timer_cancel(&d->deadline);
    script_free(d->script);
    free(d);
}

bool spec_reload_drop(struct spec_engine *engine)
{
    struct spec_draining *d, *next;
    bool any = false;
    for (d = TAILQ_FIRST(&engine->draining); d; d = next) {
        next = TAILQ_NEXT(d, link);
        if (!d->over && script_waiting_calls(d->script) > 0) continue;
        end(engine, d);
        any = true;
    }
    return any;
}

void spec_reload_clear(struct spec_engine *engine)
{
    struct spec_draining *d;
    while ((d = TAILQ_FIRST(&engine->draining))) end(engine, d);
}

/* --- taking over */

static struct spec_script *find(struct spec_engine *engine, const char *name)
{
    for (size_t i = 0; i < engine->script_count; i++)
        if (strcmp(engine->scripts[i].name, name) == 0) return &engine->scripts[i];
    return NULL;
}

struct str spec_reload_source(struct spec_engine *engine, const char *name)
{
    struct spec_script *one = find(engine, name);
    struct str text = {0};
    struct err err;
    if (one) bundle_text(script_bundle(one->script), script_path(one->script), &text, &err);
    return text;
}

static struct script *prepare(struct spec_engine *engine, const struct spec_script *one, struct str text,
                              struct err *err)
{
    struct bundle *bundle = bundle_new();
    if (text.p) bundle_set_text(bundle, script_path(one->script), text);
    const struct script_source source = {.path = script_path(one->script),
                                         .name = one->name,
                                         .bundle = bundle,
                                         .generation = script_generation(one->script) + 1,
                                         .before = one->script};
    spec_engine_enter(engine);
    struct script *script = script_prepare(&engine->host, &source, err);
    engine->candidate = script;
    if (script) spec_kinds_resolve(engine);
    spec_engine_leave();
    bundle_unref(bundle);
    return script;
}

/* Its informers have had all the time that there is: the clock stands still. */
static bool is_ready(struct spec_engine *engine, const struct script *old, struct script *next,
                     struct err *err)
{
    struct informer_claim *claim = NULL;
    struct buf lag = {0};
    if (!spec_engine_settle(engine, err)) return false;
    if (engine->unknown.code != ERR_NONE) {
        *err = engine->unknown;
        err_clear(&engine->unknown);
        return false;
    }
    if (script_lagging_claims(old, next, &claim) == 0) {
        while (!script_build_indexes(next)) continue;
        return true;
    }
    claim_describe_lag(claim, &lag);
    err_set(err, ERR_TIMEOUT, "not ready: %s", lag.len ? buf_text(&lag) : "an informer is not synced");
    buf_clear(&lag);
    return false;
}

static bool take_over(struct spec_engine *engine, struct script *old, struct script *next,
                      struct handover *done, struct err *err)
{
    spec_engine_enter(engine);
    bool ok = script_handover(old, next, done, err);
    spec_engine_leave();
    return ok;
}

/* A lease that nobody asked for before is won, as at the beginning. */
static bool settle(struct spec_engine *engine, size_t leases, struct err *err)
{
    if (!spec_engine_settle(engine, err)) return false;
    if (leaders_count(engine->leaders) == leases) return true;
    leaders_decide(engine->leaders, true);
    return spec_engine_settle(engine, err);
}

bool spec_reload(struct spec_engine *engine, const char *name, struct str text, struct handover *done,
                 struct err *err)
{
    struct spec_script *one = find(engine, name);
    size_t leases = leaders_count(engine->leaders);
    if (!one) return err_set(err, ERR_NOT_FOUND, "there is no script: test.load or env:load loads one");
    struct script *old = one->script, *next = prepare(engine, one, text, err);
    if (!next) return false;
    bool ok = is_ready(engine, old, next, err) && take_over(engine, old, next, done, err);
    engine->candidate = NULL;
    if (!ok) {
        spec_engine_enter(engine);
        script_free(next);
        spec_engine_leave();
        return false;
    }
    one->script = next;
    drain(engine, old);
    return settle(engine, leases, err);
}

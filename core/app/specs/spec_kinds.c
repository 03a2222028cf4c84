/* Discovery of a test's engine; see spec_kinds.h. */
#include "app/specs/spec_kinds.h"

#include "base/log.h"
#include "base/mem.h"

enum { LATER_MS = 1000 };

static bool put_place(const struct script *script, const struct informer_claim *claim, struct buf *out)
{
    size_t i = 0, count = script ? script_claim_count(script) : 0;
    while (i < count && script_claim(script, i) != claim) i++;
    if (i < count) script_put_claim_place(script, i, out);
    return i < count;
}

/* Keeps the first, with the line that asks for it. */
static void note(struct spec_engine *engine, const struct informer_claim *claim, const struct err *err)
{
    struct buf place = {0};
    bool found = put_place(engine->candidate, claim, &place);
    for (size_t i = 0; i < engine->script_count && !found; i++)
        found = put_place(engine->scripts[i].script, claim, &place);
    engine->unknown = *err;
    if (found) err_wrap(&engine->unknown, "%s", buf_text(&place));
    buf_clear(&place);
}

/* As `kubelua run` has it: a name without a group that nobody serves is a mistake of the script. A replay
 * tells itself what its recording lacks (replay_kinds.h). */
static void on_unknown(void *ctx, struct informer_claim *claim, const struct err *err)
{
    struct spec_engine *engine = ctx;
    const char *kind = claim_spec(claim)->kind;
    if (engine->unknown.code == ERR_NONE && !resource_name_has_group(str_of(kind))) note(engine, claim, err);
    if (engine->host.not_sent) return;
    log_warn("Waiting for a kind the server does not serve", F("kind", kind), F("err", err->text));
}

static void on_found(void *ctx, struct catalogue *catalogue, const struct err *err)
{
    struct spec_engine *engine = ctx;
    engine->discovery = NULL;
    if (err)
        kinds_fail(engine->kinds, err);
    else {
        kinds_set(engine->kinds, catalogue);
        catalogue_free(engine->catalogue);
        engine->catalogue = catalogue;
        spec_kinds_resolve(engine);
    }
    bool again = engine->ask_again;
    engine->ask_again = false;
    if (again) spec_kinds_refresh(engine);
}

static void ask(void *ctx)
{
    spec_kinds_refresh(ctx);
}

static void on_ask(struct timer *timer)
{
    spec_kinds_refresh(container_of(timer, struct spec_engine, ask));
}

void spec_kinds_refresh(struct spec_engine *engine)
{
    if (engine->discovery)
        engine->ask_again = true;
    else
        engine->discovery = discovery_start(engine->base.client, on_found, engine);
}

void spec_kinds_refresh_later(struct spec_engine *engine)
{
    if (!timer_running(&engine->ask)) timer_start(&engine->ask, loop_clock(engine->base.loop), LATER_MS);
}

void spec_kinds_resolve(struct spec_engine *engine)
{
    if (engine->catalogue)
        shared_factory_resolve(engine->base.factory, engine->catalogue, on_unknown, engine);
}

void spec_kinds_begin(struct spec_engine *engine)
{
    engine->ask.fn = on_ask;
    engine->kinds = kinds_new(loop_clock(engine->base.loop), ask, engine);
    spec_kinds_refresh(engine);
}

void spec_kinds_end(struct spec_engine *engine)
{
    timer_cancel(&engine->ask);
    if (engine->discovery) discovery_cancel(engine->discovery);
    if (engine->kinds) kinds_free(engine->kinds);
    catalogue_free(engine->catalogue);
}

/* Waits for the first lists of a script; see initial_sync.h. */
#include "script/handlers/initial_sync.h"

#include "base/log.h"
#include "informer/shared/shared_factory.h"
#include "script/caches/index_function.h"
#include "script/vm/state.h"

static bool is_skipped(struct informer_claim *claim)
{
    return claim_is_of_home(claim) && !claim_is_suspended(claim) && !claim_has_synced(claim) &&
           claim_has_settled(claim);
}

static bool describe_skipped(const struct script *script, size_t i, struct buf *out)
{
    return is_skipped(script->informers.claims[i]) && claim_describe_lag(script->informers.claims[i], out);
}

void initial_sync_log(const struct script *script, const char *message)
{
    struct buf text = {0};
    for (size_t i = 0; i < script_loaded_claims(script); i++) {
        text.len = 0;
        if (describe_skipped(script, i, &text))
            log_warn(message, F("script", script->id.name),
                     F("informer", claim_spec(script->informers.claims[i])->kind),
                     F("reason", buf_text(&text)));
    }
    buf_clear(&text);
}

/* A script that works without an informer looks as if it worked. */
static void log_skipped(const struct script *script)
{
    if (script->informers.awaited && !script->host->knows_missing_kinds)
        initial_sync_log(script, "Handlers start without an informer that cannot sync");
}

static bool is_awaited(const struct script *script, size_t i, const struct shared_factory *factory)
{
    const struct informer_claim *claim = script->informers.claims[i];
    return claim_factory(claim) == factory && !claim_has_settled(claim);
}

static bool is_any_awaited(const struct script *script, const struct shared_factory *factory)
{
    for (size_t i = 0; i < script_loaded_claims(script); i++)
        if (is_awaited(script, i, factory)) return true;
    return false;
}

bool initial_sync_reached_by(struct script *script, const struct informer_claim *claim)
{
    if (claim_is_of_home(claim)) return initial_sync_reached(script);
    return !script->restoring && !is_any_awaited(script, claim_factory(claim)) &&
           (script->informers.synced || !index_functions_rest(script));
}

bool initial_sync_reached(struct script *script)
{
    if (script->restoring) return false;
    if (!script->informers.synced && is_any_awaited(script, script->host->cluster->factory)) return false;
    if (!script->informers.synced && index_functions_rest(script)) return false;
    if (!script->informers.synced) log_skipped(script);
    return script->informers.synced = true;
}

bool initial_sync_describe(const struct script *script, struct buf *out)
{
    size_t before = out->len;
    if (script->informers.synced || !script->informers.awaited) return false;
    for (size_t i = 0; i < script_loaded_claims(script); i++)
        if (is_awaited(script, i, script->host->cluster->factory))
            claim_describe_lag(script->informers.claims[i], out);
    return out->len > before;
}

bool initial_sync_describe_skipped(const struct script *script, struct buf *out)
{
    size_t before = out->len;
    if (!script->informers.synced || !script->informers.awaited) return false;
    for (size_t i = 0; i < script_loaded_claims(script); i++) describe_skipped(script, i, out);
    return out->len > before;
}

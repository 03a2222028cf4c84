/* Resolution of claims to the server's kinds; see engine_internal.h. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/engine_internal.h"
#include "informer/history/history.h"
#include "kube/kinds/kinds.h"
#include "kube/kinds/well_known.h"
#include "script/rules/rule.h"
#include "script/server/declared.h"

/* Delays of discovery refreshes while a kind is missing: short at first, then ever longer. */
enum { REFRESH_FIRST_MS = 1000, REFRESH_MAX_MS = 10000, REFRESH_SELDOM_MS = 30000, REFRESH_CALM_MS = 60000 };

struct resolution {
    struct engine *engine;
    const struct catalogue *catalogue;
    bool only_incoming; /* everything about the others was logged before */
    struct skipped_kinds skipped;
};

/* Returns the script with the claim; sets `*at` to its number there. */
static const struct script *engine_holder_of(const struct engine *engine, const struct informer_claim *claim,
                                             size_t *at)
{
    for (size_t i = 0; i < engine->scripts.generation_count; i++)
        for (*at = 0; *at < script_claim_count(engine->scripts.generations[i]); ++*at)
            if (script_claim(engine->scripts.generations[i], *at) == claim)
                return engine->scripts.generations[i];
    return NULL;
}

const char *engine_script_of(const struct engine *engine, const struct informer_claim *claim)
{
    size_t at;
    const struct script *script = engine_holder_of(engine, claim, &at);
    return script ? script_path(script) : "";
}

/* Refuses the incoming generation; the running one goes on. The message explains why a reload does not wait
 * for a kind, unlike a start, and how to continue. */
static void refuse_incoming(struct managed_script *managed, const char *place, const struct err *err,
                            bool may_come)
{
    struct buf text = {0};
    buf_printf(&text, "%s: %s", place, err->text);
    if (may_come)
        buf_printf(&text,
                   "; a reload does not wait for missing kinds: install the CustomResourceDefinition and run "
                   "%s, or change the file",
                   managed->scripts->options.reload_name);
    reload_unknown_kind(managed, buf_text(&text));
    buf_clear(&text);
}

static bool has_line(const struct buf *lines, const char *line)
{
    struct str rest = buf_slice(lines), one;
    while (str_cut(&rest, '\n', &one))
        if (str_is(one, line)) return true;
    return false;
}

/* Rules may check and use one kind: each line stands once. */
static void refuse_start(struct buf *refused, const char *place, const struct err *err)
{
    struct buf line = {0};
    buf_printf(&line, "%s: %s", place, err->text);
    if (!has_line(refused, buf_text(&line))) buf_printf(refused, "%s\n", buf_text(&line));
    buf_clear(&line);
}

static void report_start(struct resolution *r, const struct script *script, const char *kind,
                         const char *place, bool may_come, const struct err *err)
{
    const struct engine_watcher *watcher = &r->engine->options.watcher;
    if (watcher->unknown_kind && watcher->unknown_kind(watcher->ctx, place, may_come, err)) return;
    if (!may_come)
        refuse_start(&r->engine->refused, place, err);
    else
        log_warn("Waiting for an unknown kind", F("script", script_path(script)), F("place", place),
                 F("kind", kind), F("err", err->text));
}

/* Handles a claim whose kind the server lacks. A bare name that no group serves is a mistake, unless a group
 * did not respond; a name with its group may come with a CRD. Once the engine runs nothing ends it: a claim
 * waits, unless it is suspended. */
static void on_unknown_kind(void *ctx, struct informer_claim *claim, const struct err *err)
{
    struct resolution *r = ctx;
    const char *kind = claim_spec(claim)->kind, *failures = catalogue_failures(r->catalogue);
    size_t at;
    const struct script *script = engine_holder_of(r->engine, claim, &at);
    if (script && script_claim_is_running(script, at)) return; /* it waits, and its script was told */
    struct managed_script *managed = script ? managed_script_of_incoming(&r->engine->scripts, script) : NULL;
    if (catalogue_is_partial(r->catalogue)) return; /* its group may respond later */
    if (script && err->code == ERR_NOT_FOUND &&
        engine_skip_kind(r->engine, script, claim, r->catalogue, &r->skipped))
        return;
    bool has_group = resource_name_has_group(str_of(kind));
    bool may_come = err->code == ERR_NOT_FOUND && (has_group || *failures);
    if (!script || (!managed && (r->engine->refreshes > 0 || r->only_incoming))) return;
    if (claim_is_suspended(claim) && (has_group || (may_come && !managed))) return;
    struct buf place = {0};
    script_put_claim_place(script, at, &place);
    if (managed)
        refuse_incoming(managed, buf_text(&place), err, may_come && has_group);
    else
        report_start(r, script, kind, buf_text(&place), may_come, err);
    buf_clear(&place);
}

static bool is_anything_missing(const struct engine *engine)
{
    for (size_t i = 0; i < engine->scripts.generation_count; i++)
        for (size_t j = 0; j < script_claim_count(engine->scripts.generations[i]); j++)
            if (claim_is_of_home(script_claim(engine->scripts.generations[i], j)) &&
                claim_is_missing(script_claim(engine->scripts.generations[i], j)) &&
                !managed_script_of_incoming(&engine->scripts, engine->scripts.generations[i]))
                return true;
    return false;
}

/* Grows the delays: discovery may lag behind the server's lists, so that a kind it still has responds with
 * 404. */
static void refresh_kinds(struct engine *engine, int64_t max_ms)
{
    int64_t now_ms = clock_now_ms(loop_clock(engine->loop)), delay_ms;
    if (discoverer_is_refreshing(engine->cluster->discoverer)) return;
    if (now_ms - engine->refresh_due_ms > REFRESH_CALM_MS) engine->refreshes = 0;
    delay_ms = engine->refreshes < 4 ? REFRESH_FIRST_MS << engine->refreshes : max_ms;
    engine->refreshes++;
    engine->refresh_due_ms = now_ms + delay_ms;
    discoverer_refresh(engine->cluster->discoverer, delay_ms);
}

void engine_refresh_kinds_soon(struct engine *engine)
{
    refresh_kinds(engine, REFRESH_MAX_MS);
}

static void check_write(const struct engine *engine, const struct script *script,
                        const struct declared *write)
{
    struct resource resource;
    struct err err;
    if (strcmp(write->kind, "*") == 0 || write->group) return;
    if (kinds_resolve(engine->cluster->parts.kinds, str_of(write->kind), &resource, &err)) {
        resource_clear(&resource);
        return;
    }
    log_warn("Declared write uses an unknown kind", F("script", script_name(script)), F("write", write->text),
             F("err", err.text));
}

/* Warns about a wrong kind name, which would otherwise show only when the write raises. Once, and no error,
 * as the kind may come later. */
static void check_writes(struct engine *engine)
{
    if (engine->writes_checked) return;
    engine->writes_checked = true;
    for (size_t i = 0; i < engine->scripts.generation_count; i++)
        engine_check_writes_of(engine, engine->scripts.generations[i]);
}

void engine_check_writes_of(struct engine *engine, const struct script *script)
{
    const struct declarations *writes = script_declared_writes(script);
    for (size_t i = 0; kinds_known(engine->cluster->parts.kinds) && i < writes->count; i++)
        check_write(engine, script, &writes->items[i]);
}

void engine_resolve_kinds(struct engine *engine)
{
    struct resolution r = {
        .engine = engine, .catalogue = kinds_catalogue(engine->cluster->parts.kinds), .only_incoming = true};
    engine_take_kinds(engine, r.catalogue);
    shared_factory_resolve(engine->cluster->parts.factory, r.catalogue, on_unknown_kind, &r);
    engine_log_skipped(&r.skipped);
    engine_claims_settled(engine);
}

void engine_update_kinds(struct engine *engine, const struct catalogue *catalogue)
{
    struct resolution r = {.engine = engine, .catalogue = catalogue};
    bool lacking = engine_take_kinds(engine, catalogue);
    shared_factory_resolve(engine->cluster->parts.factory, catalogue, on_unknown_kind, &r);
    lacking |= r.skipped.kinds.count > 0;
    engine_log_skipped(&r.skipped);
    engine_claims_settled(engine);
    if (engine->refused.len)
        engine_stop_as(engine, ENGINE_REFUSED);
    else if (is_anything_missing(engine))
        engine_refresh_kinds_soon(engine);
    else if (lacking)
        refresh_kinds(engine, REFRESH_SELDOM_MS);
}

void engine_refresh_kinds(void *ctx)
{
    struct engine *engine = ctx;
    cluster_refresh_kinds(engine->cluster);
    clusters_refresh_kinds(&engine->clusters);
}

static void notify_watcher(const struct engine *engine, const struct err *err)
{
    const struct engine_watcher *watcher = &engine->options.watcher;
    if (watcher->kinds) watcher->kinds(watcher->ctx, err);
}

/* A script that uses an unknown kind is refused or waits; --history alone would say nothing. */
static void check_history(struct engine *engine)
{
    const char *kind;
    const struct history *history = engine->cluster->parts.history;
    if (!history || engine->history_checked) return;
    engine->history_checked = true;
    const struct informer_claim *claim;
    for (size_t i = 0; (claim = history_claim(history, i, &kind)) != NULL; i++) {
        if (claim_is_resolved(claim)) continue;
        struct err err = {0};
        struct resource resource;
        if (kinds_resolve(engine->cluster->parts.kinds, str_of(kind), &resource, &err)) continue;
        log_warn("No history is kept", F("kind", kind), F("error", err.text));
    }
}

void engine_found_kinds(void *ctx, const struct catalogue *catalogue)
{
    struct engine *engine = ctx;
    bool partial = catalogue_is_partial(catalogue);
    if (catalogue != kinds_catalogue(engine->cluster->parts.kinds))
        kinds_set(engine->cluster->parts.kinds, catalogue);
    if (engine_awaits_cluster(engine)) return;
    if (!partial) check_writes(engine);
    engine_update_kinds(engine, catalogue);
    if (!partial) engine_end_warm_start(engine);
    if (!partial) check_history(engine);
    if (!partial) engine_check_shard_kinds(engine);
    reload_check_soon(&engine->scripts);
    if (!partial) notify_watcher(engine, NULL);
}

void engine_failed_kinds(void *ctx, const struct err *err)
{
    const struct engine *engine = ctx;
    kinds_fail(engine->cluster->parts.kinds, err);
    notify_watcher(engine, err);
}

/* --- Kinds that only rules need and the server lacks: nothing waits for them, and rules are evaluated once
 * they exist. Their claims are suspended (shared_factory.h); an engine with rules suspends no others. See
 * engine_internal.h */

static bool needs(const struct script_rule *rule, const struct informer_claim *claim)
{
    for (size_t k = 0; k < rule->kind_count; k++)
        if (rule->kinds[k] == claim) return true;
    for (size_t u = 0; u < rule->use_count; u++)
        if (rule->uses[u].claim == claim) return true;
    return false;
}

/* --- log: one line, however many kinds are missing */

enum { NAMED = 10 };

static void add_name(struct skipped_names *names, const char *name)
{
    if (has_line(&names->all, name)) return;
    buf_printf(&names->all, "%s\n", name);
    if (names->count++ < NAMED) buf_printf(&names->shown, "%s%s", names->count > 1 ? ", " : "", name);
}

static void end_names(struct skipped_names *names)
{
    if (names->count > NAMED) buf_printf(&names->shown, " and %zu more", names->count - NAMED);
}

static void clear_names(struct skipped_names *names)
{
    buf_clear(&names->all);
    buf_clear(&names->shown);
    *names = (struct skipped_names){0};
}

void engine_log_skipped(struct skipped_kinds *skipped)
{
    end_names(&skipped->kinds);
    end_names(&skipped->rules);
    if (skipped->kinds.count)
        log_warn("Rules are not evaluated for kinds that the server does not have",
                 F("kinds", buf_text(&skipped->kinds.shown)), F("rules", buf_text(&skipped->rules.shown)));
    clear_names(&skipped->kinds);
    clear_names(&skipped->rules);
}

/* --- claims */

static bool is_of_rule(const struct script *script, const struct informer_claim *claim)
{
    for (size_t i = 0; i < script_rule_count(script); i++)
        if (needs(script_rule(script, i), claim)) return true;
    return false;
}

static bool may_have(const char *kind)
{
    struct catalogue *known = catalogue_well_known();
    bool may = well_known_may_have(known, str_of(kind));
    catalogue_free(known);
    return may;
}

bool engine_skip_kind(const struct engine *engine, const struct script *script, struct informer_claim *claim,
                      const struct catalogue *catalogue, struct skipped_kinds *skipped)
{
    const char *kind = claim_spec(claim)->kind;
    if (!engine->host.runs_rules || !is_of_rule(script, claim)) return false;
    if (claim_is_suspended(claim)) return true;
    if (*catalogue_failures(catalogue) || !may_have(kind)) return false;
    claim_suspend(claim, true);
    add_name(&skipped->kinds, kind);
    for (size_t i = 0; i < script_rule_count(script); i++)
        if (needs(script_rule(script, i), claim)) add_name(&skipped->rules, script_rule(script, i)->id);
    return true;
}

bool engine_take_kinds(const struct engine *engine, const struct catalogue *catalogue)
{
    bool lacking = false;
    struct informer_claim *claim = NULL;
    while (engine->host.runs_rules &&
           (claim = shared_factory_next_claim(engine->cluster->parts.factory, claim))) {
        struct resource resource;
        struct err err;
        if (!claim_is_suspended(claim)) continue;
        if (!catalogue_resolve(catalogue, str_of(claim_spec(claim)->kind), &resource, &err)) {
            lacking = true;
            continue;
        }
        resource_clear(&resource);
        claim_suspend(claim, false);
    }
    return lacking;
}

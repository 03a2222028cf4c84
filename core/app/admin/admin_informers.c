/* Informers of a running engine as the admin socket shows them: each once, with the scripts that share it,
 * and whether the history does; see admin_engine.h. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_engine.h"
#include "base/array.h"
#include "base/text/json_out.h"
#include "engine/engine_view.h"
#include "informer/history/history.h"
#include "informer/shared/informer_key.h"

/* The claims of all scripts but for those that are held, and those of the history. */
struct claims {
    struct claim_of {
        struct informer_claim *claim;
        const char *script; /* NULL: the history */
    } * items;
    size_t count;
};

static void collect_scripts(const struct managed_scripts *scripts, struct claims *all)
{
    for (size_t i = 0; i < scripts->generation_count; i++)
        for (size_t j = 0; j < script_claim_count(scripts->generations[i]); j++) {
            struct informer_claim *claim = script_claim(scripts->generations[i], j);
            if (claim_is_suspended(claim)) continue;
            *array_add(all->items, all->count) =
                (struct claim_of){claim, script_name(scripts->generations[i])};
        }
}

static void collect_history(const struct history *history, struct claims *all)
{
    struct informer_claim *claim;
    const char *kind;
    for (size_t i = 0; history && (claim = history_claim(history, i, &kind)) != NULL; i++)
        *array_add(all->items, all->count) = (struct claim_of){claim, NULL};
}

/* Appends "pods in 2 namespaces with labels app=web", whether the kind is resolved or not. */
static void describe(const struct informer_spec *spec, const struct resource *resource, struct buf *out)
{
    const struct lw_scope scope = {
        .namespace_ = spec->namespace_count ? "" : spec->namespace_,
        .namespace_selector = spec->namespace_selector,
        .label_selector = spec->label_selector,
        .field_selector = spec->field_selector,
        .projection = spec->projection,
        .metadata_only = spec->metadata_only,
    };
    if (spec->cluster) buf_printf(out, "%s: ", spec->cluster);
    if (resource)
        resource_name(resource, out);
    else
        buf_puts(out, spec->kind);
    if (spec->namespace_count) buf_printf(out, " in %zu namespaces", spec->namespace_count);
    informer_scope_describe(&scope, &spec->transform, out);
    informer_shard_describe(spec->shard, out);
}

static bool has_same_name(const struct informer_spec *a, const struct informer_spec *b)
{
    struct buf x = {0}, y = {0};
    describe(a, NULL, &x);
    describe(b, NULL, &y);
    bool same = str_eq(buf_slice(&x), buf_slice(&y));
    buf_clear(&x);
    buf_clear(&y);
    return same;
}

/* Returns whether two claims are one informer: by their cache, or by their options before they have one. */
static bool is_same(struct informer_claim *a, struct informer_claim *b)
{
    const struct informer_spec *x = claim_spec(a), *y = claim_spec(b);
    if (claim_indexer(a) || claim_indexer(b)) return claim_indexer(a) == claim_indexer(b);
    if (x->namespace_count != y->namespace_count) return false;
    for (size_t i = 0; i < x->namespace_count; i++)
        if (strcmp(x->namespaces[i], y->namespaces[i]) != 0) return false;
    return has_same_name(x, y);
}

static void put_name(const struct informer_claim *claim, struct buf *out)
{
    struct buf name = {0};
    if (claim_part_count(claim) == 1)
        buf_puts(&name, claim_part_name(claim, 0));
    else
        describe(claim_spec(claim), claim_resource(claim), &name);
    json_text(out, "name", buf_text(&name));
    buf_clear(&name);
}

static void put_names(const struct informer_claim *claim, struct buf *out)
{
    const struct informer_spec *spec = claim_spec(claim);
    const struct resource *resource = claim_resource(claim);
    struct buf name = {0}, version = {0};
    if (resource) {
        resource_name(resource, &name);
        resource_api_version(resource, &version);
    }
    put_name(claim, out);
    json_text(out, "cluster", spec->cluster ? spec->cluster : "");
    json_text(out, "kind", spec->kind);
    json_text(out, "resource", buf_text(&name));
    json_text(out, "apiVersion", buf_text(&version));
    json_text(out, "namespace", spec->namespace_);
    json_text(out, "namespaceSelector", spec->namespace_selector);
    json_text(out, "selector", spec->label_selector);
    json_text(out, "fieldSelector", spec->field_selector);
    json_bool(out, "partial", claim_shard(claim) != SHARD_BY_NOTHING);
    buf_clear(&name);
    buf_clear(&version);
}

static void put_status(const struct claim_status *status, struct buf *out)
{
    const struct reflector_status *r = &status->reflector;
    json_text(out, "state", claim_state_name(status->state));
    json_time(out, "since", status->since_us);
    json_text(out, "cause", status->text);
    json_bool(out, "unreachable", status->last_error.unreachable);
    json_bool(out, "synced", status->synced);
    json_int(out, "objects", (int64_t)status->objects);
    json_int(out, "bytes", (int64_t)status->bytes);
    json_text(out, "resourceVersion", status->resource_version);
    json_time(out, "heard", status->heard_us);
    json_text(out, "doing", reflector_state_name(r->state));
    json_text(out, "syncedBy", r->synced_by == REFLECTOR_SYNC_NONE ? "" : reflector_sync_name(r->synced_by));
    json_text(out, "syncedHow", r->sync_text);
    json_time(out, "noWatchListUntil", r->no_watch_list_until_us);
    json_bool(out, "watchesEachNamespace", status->each);
    json_int(out, "namespacesFollowed", (int64_t)status->namespaces.followed);
    json_int(out, "namespacesJoining", (int64_t)status->namespaces.joining);
    json_int(out, "lists", (int64_t)r->counters.lists);
    json_int(out, "watchLists", (int64_t)r->counters.watch_lists);
    json_int(out, "watches", (int64_t)r->counters.watches);
    json_int(out, "events", (int64_t)r->counters.watched_objects);
    json_int(out, "transformDropped", (int64_t)status->transform.dropped);
    json_int(out, "transformErrors", (int64_t)status->transform.failed);
    json_int(out, "refused", (int64_t)r->counters.refused);
}

/* Each namespace of a set has a watch and a fate of its own. */
static void put_parts(struct informer_claim *claim, struct buf *out)
{
    if (claim_part_count(claim) < 2) return;
    json_open(out, "parts", '[');
    for (size_t i = 0; i < claim_part_count(claim); i++) {
        struct claim_status status;
        const char *ns = claim_get_part_status(claim, i, &status);
        json_open(out, NULL, '{');
        json_text(out, "name", claim_part_name(claim, i));
        json_text(out, "namespace", ns);
        put_status(&status, out);
        json_close(out, '}');
    }
    json_close(out, ']');
}

/* Appends who shares the informer of claim number `first`, from it on. */
static void put_holders(const struct claims *all, size_t first, struct buf *out)
{
    const char *script = NULL;
    int64_t claims = 0;
    bool is_of_history = false;
    json_open(out, "scripts", '[');
    for (size_t i = first; i < all->count; i++) {
        const struct claim_of *of = &all->items[i];
        if (!is_same(all->items[first].claim, of->claim)) continue;
        if (of->script && script != of->script) json_text(out, NULL, of->script);
        script = of->script; /* those of one script stand together */
        is_of_history |= !of->script;
        claims++;
    }
    json_close(out, ']');
    json_bool(out, "history", is_of_history);
    json_int(out, "claims", claims);
}

static void put_informer(const struct claims *all, size_t first, struct buf *out)
{
    struct informer_claim *claim = all->items[first].claim;
    struct claim_status status;
    claim_get_status(claim, &status);
    json_open(out, NULL, '{');
    put_names(claim, out);
    put_status(&status, out);
    put_parts(claim, out);
    put_holders(all, first, out);
    json_close(out, '}');
}

static bool is_listed(const struct claims *all, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (is_same(all->items[i].claim, all->items[at].claim)) return true;
    return false;
}

bool admin_put_informers(const struct admin_engine *admin, size_t at, struct buf *out)
{
    struct claims all = {0};
    collect_scripts(engine_scripts(admin->engine), &all);
    collect_history(engine_cluster(admin->engine)->parts.history, &all);
    size_t count = all.count;
    if (at == 0) json_open(out, "informers", '[');
    if (at < count && !is_listed(&all, at)) put_informer(&all, at, out);
    free(all.items);
    if (at + 1 < count) return true;
    json_close(out, ']');
    return false;
}

/* --- Timers and schedules of scripts in the reply of `kubelua status` */

/* A script may have thousands. */
enum { SHOWN_MAX = 100 };

struct put {
    struct buf *out;
    const struct script *script;
    size_t shown;
};

static void put_timer(void *ctx, const struct script_timer_status *timer)
{
    struct put *put = ctx;
    if (put->shown == SHOWN_MAX) return;
    put->shown++;
    json_open(put->out, NULL, '{');
    json_text(put->out, "timer", timer->what);
    json_text(put->out, "kind", timer->kind);
    json_text(put->out, "script", script_name(put->script));
    json_text(put->out, "place", timer->place);
    json_time(put->out, "due", timer->due_us);
    json_int(put->out, "calls", (int64_t)timer->calls);
    json_int(put->out, "skipped", (int64_t)timer->skipped);
    json_bool(put->out, "leader", timer->leader);
    json_close(put->out, '}');
}

bool admin_put_timers(const struct admin_engine *admin, size_t at, struct buf *out)
{
    const struct managed_scripts *scripts = engine_scripts(admin->engine);
    if (at == 0) json_open(out, "timers", '[');
    if (at < scripts->generation_count) {
        struct put put = {.out = out, .script = scripts->generations[at]};
        script_each_timer(put.script, put_timer, &put);
    }
    if (at + 1 < scripts->generation_count) return true;
    json_close(out, ']');
    return false;
}

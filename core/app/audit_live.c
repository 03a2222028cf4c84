/* A cluster, rules and caches put together; see audit_live.h. */
#include "app/audit_live.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/audit_apply.h"
#include "app/audit_kinds.h"
#include "app/audit_scripts.h"
#include "app/one_loop.h"
#include "audit/progress.h"
#include "base/mem.h"
#include "informer/indexer.h"
#include "kube/kinds.h"
#include "object/pool.h"
#include "script/turns.h"

struct live_audit {
    const struct audit_request *request;
    const struct cluster_config *cluster;
    struct one_loop base;
    struct kinds *kinds;
    struct discovery *discovery; /* that is under way; NULL: none */
    struct catalogue *catalogue; /* NULL: it is not known yet, or failed with `failure` */
    struct err failure;
    struct turns turns;
    struct script_host host;
    struct audit_scripts scripts;
    struct timer deadline;
    struct progress progress;
    size_t looked_at;
    struct buf told;   /* what was said on stderr, a line each: no line comes twice */
    struct buf absent; /* kinds that the server does not have, ", " between them */
    bool is_late, incomplete;
};

/* False: it was said before. */
static bool is_new(struct live_audit *live, const char *text)
{
    char *line = xasprintf("\n%s\n", text);
    bool found = strstr(buf_text(&live->told), line) != NULL;
    if (!found) buf_puts(&live->told, line);
    free(line);
    return !found;
}

static void note(struct live_audit *live, const char *text)
{
    live->incomplete = true;
    if (is_new(live, text)) fprintf(stderr, "kubelua audit: %s\n", text);
}

/* --- what there is */

static void on_found(void *ctx, struct catalogue *catalogue, const struct err *err)
{
    struct live_audit *live = ctx;
    live->discovery = NULL;
    live->catalogue = catalogue;
    if (err)
        live->failure = *err;
    else
        kinds_set(live->kinds, catalogue);
}

static bool ask_kinds(struct live_audit *live, struct err *err)
{
    live->discovery = discovery_start(live->base.client, on_found, live);
    while (live->discovery && !live->is_late) loop_once(live->base.loop, true);
    if (live->catalogue) return true;
    if (live->is_late) err_set(&live->failure, ERR_TIMEOUT, "no answer within --sync-timeout");
    *err = live->failure;
    return err_wrap(err, "%s", live->cluster->server);
}

/* --- caches */

/* A server may do without a kind, and has no objects of it then, when it is known to have told all of its
 * kinds.
 */
static bool may_be_absent(const struct live_audit *live, struct str kind)
{
    return audit_kind_may_be(kind) && !*catalogue_failures(live->catalogue);
}

static void on_unknown(void *ctx, struct informer_claim *claim, const struct err *err)
{
    struct live_audit *live = ctx;
    const char *kind = claim_spec(claim)->kind;
    if (!may_be_absent(live, str_of(kind)))
        note(live, err->text);
    else if (is_new(live, kind))
        buf_printf(&live->absent, "%s%s", live->absent.len ? ", " : "", kind);
}

static void tell_absent(const struct live_audit *live)
{
    if (live->absent.len)
        fprintf(stderr, "kubelua audit: the server has no %.*s\n", STR_ARG(buf_slice(&live->absent)));
}

static void on_changed(void *ctx, struct informer_claim *claim) {}

static void on_late(struct timer *timer)
{
    container_of(timer, struct live_audit, deadline)->is_late = true;
}

/* What the server refuses is not waited for: rights seldom come while an audit runs. */
static bool is_awaited(const struct informer_claim *claim)
{
    struct claim_status status;
    if (!claim_resource(claim) || claim_has_synced(claim)) return false;
    claim_get_status((struct informer_claim *)claim, &status);
    return status.state != CLAIM_FORBIDDEN;
}

static struct informer_claim *next_claim(const struct live_audit *live, const struct informer_claim *claim)
{
    return shared_factory_next_claim(live->base.factory, claim);
}

static bool all_here(const struct live_audit *live)
{
    for (struct informer_claim *claim = next_claim(live, NULL); claim; claim = next_claim(live, claim))
        if (is_awaited(claim)) return false;
    return true;
}

static void tell_lags(struct live_audit *live)
{
    for (struct informer_claim *claim = next_claim(live, NULL); claim; claim = next_claim(live, claim)) {
        struct buf lag = {0};
        if (claim_resource(claim) && claim_describe_lag(claim, &lag)) note(live, buf_text(&lag));
        buf_clear(&lag);
    }
}

static void fill_caches(struct live_audit *live)
{
    audit_scripts_want(&live->scripts, AUDIT_WANTS_ALL);
    shared_factory_resolve(live->base.factory, live->catalogue, on_unknown, live);
    while (!live->is_late && !all_here(live)) loop_once(live->base.loop, true);
    tell_absent(live);
    tell_lags(live);
    size_t left_out = audit_kinds_leave_out(&live->scripts, false);
    if (!left_out) return;
    live->incomplete = true;
    fprintf(stderr, "kubelua audit: %zu rule%s not asked, as the server did not give what %s\n", left_out,
            left_out == 1 ? " was" : "s were", left_out == 1 ? "it uses" : "they use");
}

/* --- objects */

static bool on_object(void *ctx, struct root *object)
{
    struct live_audit *live = ctx;
    auditor_look_at(live->scripts.auditor, &(const struct audit_subject){.object = object});
    progress_step(&live->progress, ++live->looked_at, -1);
    return true;
}

/* Several rules may look at one kind, by caches that they share. */
static void add_once(struct indexer **caches, size_t *count, struct indexer *cache)
{
    for (size_t i = 0; i < *count; i++)
        if (caches[i] == cache) return;
    caches[(*count)++] = cache;
}

/* The caches of what rules look at, each once; the caller frees the array. */
static struct indexer **caches_of_rules(struct live_audit *live, size_t *count)
{
    size_t claims = 0;
    for (struct informer_claim *claim = next_claim(live, NULL); claim; claim = next_claim(live, claim))
        claims++;
    struct indexer **caches = xcalloc(claims ? claims : 1, sizeof *caches);
    *count = 0;
    for (size_t s = 0; s < live->scripts.count; s++)
        for (size_t i = 0; i < script_rule_count(live->scripts.items[s]); i++) {
            const struct script_rule *rule = script_rule(live->scripts.items[s], i);
            for (size_t k = 0; k < rule->kind_count; k++) {
                struct indexer *cache = claim_indexer(rule->kinds[k]);
                if (cache) add_once(caches, count, cache);
            }
        }
    return caches;
}

static void look_at_all(struct live_audit *live)
{
    size_t count, total = 0;
    struct indexer **caches = caches_of_rules(live, &count);
    for (size_t i = 0; i < count; i++) total += indexer_count(caches[i]);
    progress_begin(&live->progress, "Auditing", total);
    for (size_t i = 0; i < count; i++) indexer_each(caches[i], on_object, live);
    progress_end(&live->progress);
    free(caches);
}

/* --- start and stop */

static void ask_nobody(void *ctx) {}

static bool open(struct live_audit *live, struct err *err)
{
    const struct options *options = &live->request->options;
    struct loop *loop = loop_new_alone();
    const struct kube_client_options client = {.config = live->cluster,
                                               .max_object_size = options->max_object_size,
                                               .request_timeout_ms = options->request_timeout_ms,
                                               .qps = options->kube_api_qps,
                                               .burst = options->kube_api_burst};
    turns_init(&live->turns);
    live->kinds = kinds_new(loop_clock(loop), ask_nobody, NULL);
    if (!one_loop_open(
            &live->base,
            &(struct one_loop_options){.loop = loop, .client = &client, .changed = on_changed, .ctx = live},
            err))
        return false;
    live->host = (struct script_host){.factory = live->base.factory,
                                      .loop = loop,
                                      .turns = &live->turns,
                                      .live = live->base.live,
                                      .kinds = live->kinds,
                                      .default_namespace = ""};
    audit_scripts_give(live->request, &live->host);
    live->deadline.fn = on_late;
    timer_start(&live->deadline, loop_clock(loop), options->sync_timeout_ms);
    return true;
}

static void close_all(struct live_audit *live)
{
    audit_scripts_close(&live->scripts);
    one_loop_end(&live->base);
    if (live->discovery) discovery_cancel(live->discovery);
    timer_cancel(&live->deadline);
    kinds_free(live->kinds);
    catalogue_free(live->catalogue);
    one_loop_close(&live->base);
    buf_clear(&live->told);
    buf_clear(&live->absent);
}

enum audit_end audit_live(const struct audit_request *request, const struct cluster_config *cluster,
                          struct audit_table *table, struct err *err)
{
    struct live_audit live = {.request = request, .cluster = cluster};
    bool ok = open(&live, err) && audit_scripts_load(&live.scripts, request, &live.host, err) &&
              ask_kinds(&live, err) &&
              audit_scripts_begin(&live.scripts, request, live.base.pool, live.catalogue, table, err);
    if (ok) {
        fill_caches(&live);
        look_at_all(&live);
        if (request->apply) audit_apply(request, live.base.client);
    }
    close_all(&live);
    return !ok ? AUDIT_FAILED : live.incomplete ? AUDIT_INCOMPLETE : AUDIT_WHOLE;
}

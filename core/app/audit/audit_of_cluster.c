/* A cluster, rules and caches put together; see audit_of_cluster.h. */
#include "app/audit/audit_of_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/audit/audit_apply.h"
#include "app/audit/audit_kinds.h"
#include "app/audit/audit_pages.h"
#include "app/audit/audit_scripts.h"
#include "audit/fix/fixer_values.h"
#include "base/cli/progress.h"
#include "base/mem.h"
#include "engine/engine_view.h"
#include "informer/store/indexer.h"
#include "kube/kinds/kinds.h"
#include "object/pack/pool.h"

struct cluster_audit {
    const struct audit_request *request;
    const struct cluster_config *cluster;
    struct loop *loop;
    struct engine *engine;           /* without a script */
    struct engine_settings settings; /* of it */
    struct shared_factory *factory;  /* its own, as the client */
    struct kube_client *client;
    struct catalogue *catalogue; /* a reference; NULL: it is not known yet, or failed with `failure` */
    struct err failure;
    struct audit_scripts scripts;
    struct timer deadline;
    struct pool *pool; /* of objects that nobody keeps */
    struct packer *packer;
    struct progress progress;
    size_t audited;
    struct buf reported; /* what was said on stderr, a line each: no line comes twice */
    bool is_late, incomplete;
};

static void note(struct cluster_audit *live, const char *text)
{
    char *line = xasprintf("\n%s\n", text);
    live->incomplete = true;
    if (!strstr(buf_text(&live->reported), line)) {
        buf_puts(&live->reported, line);
        fprintf(stderr, "kubelua audit: %s\n", text);
    }
    free(line);
}

/* --- what there is */

/* The first answer alone counts: the whole audit is of the same kinds. */
static void on_kinds(void *ctx, const struct err *err)
{
    struct cluster_audit *live = ctx;
    if (err)
        live->failure = *err;
    else if (!live->catalogue)
        live->catalogue = catalogue_ref(kinds_catalogue(engine_cluster(live->engine)->parts.kinds));
}

static bool refresh_kinds(struct cluster_audit *live, struct err *err)
{
    err_clear(&live->failure);
    engine_refresh_kinds(live->engine);
    while (!live->catalogue && live->failure.code == ERR_NONE && !live->is_late) loop_once(live->loop, true);
    if (live->catalogue) return true;
    if (live->is_late) err_set(&live->failure, ERR_TIMEOUT, "no response within --sync-timeout");
    *err = live->failure;
    return err_wrap(err, "%s", live->cluster->server);
}

/* --- caches */

static void on_unknown(void *ctx, struct informer_claim *claim, const struct err *err) {}

static void on_missing(void *ctx, const char *text)
{
    note(ctx, text);
}

static void on_absent(void *ctx, const char *text)
{
    fprintf(stderr, "kubelua audit: %s\n", text);
}

static void on_late(struct timer *timer)
{
    container_of(timer, struct cluster_audit, deadline)->is_late = true;
}

/* Returns whether to wait for the claim. Kinds that the server forbids are not awaited: permissions seldom
 * appear while an audit runs. */
static bool is_awaited(const struct informer_claim *claim)
{
    struct claim_status status;
    if (!claim_resource(claim) || claim_has_synced(claim)) return false;
    claim_get_status((struct informer_claim *)claim, &status);
    return status.state != CLAIM_FORBIDDEN;
}

static struct informer_claim *next_claim(const struct cluster_audit *live, const struct informer_claim *claim)
{
    return shared_factory_next_claim(live->factory, claim);
}

static bool all_here(const struct cluster_audit *live)
{
    for (struct informer_claim *claim = next_claim(live, NULL); claim; claim = next_claim(live, claim))
        if (is_awaited(claim)) return false;
    return true;
}

static void print_lags(struct cluster_audit *live)
{
    for (struct informer_claim *claim = next_claim(live, NULL); claim; claim = next_claim(live, claim)) {
        struct buf lag = {0};
        if (claim_resource(claim) && claim_describe_lag(claim, &lag)) note(live, buf_text(&lag));
        buf_clear(&lag);
    }
}

/* Notes the kinds of which objects were refused: the server has them, but no cache does. */
static void print_refused(struct cluster_audit *live)
{
    for (struct informer_claim *claim = next_claim(live, NULL); claim; claim = next_claim(live, claim)) {
        struct buf text = {0};
        claim_note_refused(claim);
        if (claim_describe_refused(claim, &text)) note(live, buf_text(&text));
        buf_clear(&text);
    }
}

static void leave_out(struct cluster_audit *live)
{
    struct buf ids = {0}, text = {0};
    static const char nobody[] = "the server did not return";
    size_t left_out = audit_kinds_leave_out(&live->scripts, false, nobody, &ids);
    if (left_out) {
        audit_kinds_put_left_out(left_out, nobody, &ids, &text);
        note(live, buf_text(&text));
    }
    buf_clear(&ids);
    buf_clear(&text);
}

/* All objects of the kind, as they are. */
static bool is_plain(const struct informer_spec *spec)
{
    return !spec->namespace_count && !*spec->namespace_selector && !*spec->label_selector &&
           !*spec->field_selector && !spec->projection && !spec->metadata_only && !spec->transform.fn;
}

static bool is_kept(const struct cluster_audit *live, const struct informer_claim *of)
{
    const struct informer_spec *spec = claim_spec(of);
    struct resource resource;
    struct err err;
    bool found = false;
    if (!is_plain(spec)) return true;
    if (!catalogue_resolve(live->catalogue, str_of(spec->kind), &resource, &err)) return false;
    for (struct informer_claim *claim = next_claim(live, NULL); claim; claim = next_claim(live, claim))
        found |= claim_resource(claim) && resource_equal(claim_resource(claim), &resource) &&
                 is_plain(claim_spec(claim)) && strcmp(claim_spec(claim)->namespace_, spec->namespace_) == 0;
    resource_clear(&resource);
    return found;
}

/* Fills the caches that rules use; rules read those kinds from there. All other kinds are read page by page,
 * and not kept. */
static void fill_caches(struct cluster_audit *live)
{
    audit_scripts_want_uses(&live->scripts);
    shared_factory_resolve(live->factory, live->catalogue, on_unknown, live);
    for (struct informer_claim *claim = next_claim(live, NULL); claim; claim = next_claim(live, claim))
        if (claim_is_suspended(claim) && is_kept(live, claim)) claim_suspend(claim, false);
    shared_factory_resolve(live->factory, live->catalogue, on_unknown, live);
    while (!live->is_late && !all_here(live)) loop_once(live->loop, true);
    audit_kinds_report_missing(live->scripts.items, live->scripts.count, live->factory, live->catalogue,
                               &(const struct audit_kinds_sink){on_missing, on_absent, live});
    print_lags(live);
    print_refused(live);
    leave_out(live);
}

/* --- objects */

static void on_audited(void *ctx)
{
    struct cluster_audit *live = ctx;
    progress_step(&live->progress, ++live->audited, -1);
}

static bool on_object(void *ctx, struct root *object)
{
    struct cluster_audit *live = ctx;
    auditor_audit(live->scripts.auditor, &(const struct audit_subject){.object = object});
    on_audited(live);
    return true;
}

static void check_pages(struct cluster_audit *live, const struct audit_target *target)
{
    struct err err;
    const char *selector = live->request->selector;
    const struct audit_pages_options options = {.loop = live->loop,
                                                .client = live->client,
                                                .packer = live->packer,
                                                .auditor = live->scripts.auditor,
                                                .resource = &target->resource,
                                                .namespace_ = target->namespace_,
                                                .selector = selector ? selector : "",
                                                .whole = live->request->fix,
                                                .wait_ms = live->request->options.sync_timeout_ms,
                                                .audited = on_audited,
                                                .ctx = live};
    struct buf name = {0};
    if (audit_pages_read(&options, &err)) return;
    resource_name(&target->resource, &name);
    err_wrap(&err, "%s", buf_text(&name));
    progress_clear(&live->progress);
    note(live, err.text);
    buf_clear(&name);
}

static void audit_all(struct cluster_audit *live)
{
    struct audit_targets targets = {0};
    audit_targets_find(&targets, &live->scripts, live->catalogue);
    progress_begin(&live->progress, "Auditing", 0);
    for (size_t i = 0; i < targets.count; i++) {
        const struct audit_target *target = &targets.items[i];
        if (target->cache)
            indexer_each(target->cache, on_object, live);
        else
            check_pages(live, target);
    }
    progress_end(&live->progress);
    print_refused(live); /* what came meanwhile */
    audit_targets_clear(&targets);
}

/* --- start and stop */

static bool open(struct cluster_audit *live, struct err *err)
{
    live->loop = loop_new_alone();
    live->pool = pool_new(NULL);
    live->packer = packer_new(live->pool);
    live->settings = audit_scripts_settings(live->request);
    struct cluster *cluster = cluster_new(&(const struct cluster_options){.engine_loop = live->loop,
                                                                          .io_loop = live->loop,
                                                                          .config = live->cluster,
                                                                          .settings = &live->settings,
                                                                          .is_quiet = true},
                                          err);
    live->engine = engine_new(&(const struct engine_options){.is_driven = true,
                                                             .loop = live->loop,
                                                             .cluster = cluster,
                                                             .settings = &live->settings,
                                                             .watcher = {.kinds = on_kinds, .ctx = live}},
                              err);
    if (!live->engine) return false;
    live->factory = cluster->parts.factory;
    live->client = io_thread_client(cluster->io);
    live->deadline.fn = on_late;
    timer_start(&live->deadline, loop_clock(live->loop), live->request->options.sync_timeout_ms);
    return true;
}

static void close_all(struct cluster_audit *live)
{
    audit_scripts_close(&live->scripts);
    if (live->engine) {
        engine_close(live->engine);
        engine_free(live->engine);
    }
    timer_cancel(&live->deadline);
    catalogue_free(live->catalogue);
    loop_free(live->loop);
    packer_free(live->packer);
    pool_drain(live->pool);
    pool_free(live->pool);
    buf_clear(&live->reported);
}

enum audit_end audit_of_cluster(const struct audit_request *request, const struct cluster_config *cluster,
                                struct audit_table *table, struct err *err)
{
    struct cluster_audit live = {.request = request, .cluster = cluster};
    bool ok = open(&live, err) && audit_scripts_load(&live.scripts, request, engine_host(live.engine), err) &&
              refresh_kinds(&live, err) &&
              audit_scripts_begin(&live.scripts, request, io_thread_pool(engine_cluster(live.engine)->io),
                                  live.catalogue, table, err);
    if (ok) {
        fill_caches(&live);
        audit_all(&live);
        if (request->fixes) fixes_mark_there(request->fixes, live.factory);
        if (request->apply) audit_apply(request, live.client);
    }
    close_all(&live);
    return !ok ? AUDIT_FAILED : live.incomplete ? AUDIT_INCOMPLETE : AUDIT_COMPLETE;
}

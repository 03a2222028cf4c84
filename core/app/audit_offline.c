/* Files, rules and caches put together; see audit_offline.h. */
#include "app/audit_offline.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "app/dry_host.h"
#include "app/script_options.h"
#include "audit/auditor.h"
#include "audit/objects.h"
#include "base/mem.h"
#include "kube/well_known.h"
#include "object/pool.h"

struct offline {
    const struct audit_offline_options *options;
    struct dry_host dry;
    struct pool *pool;
    struct packer *packer;
    struct catalogue *catalogue;
    struct audit_objects *objects; /* NULL: each is forgotten once it was looked at */
    struct script **scripts;
    size_t script_count;
    struct auditor *auditor;
    bool partial;
};

/* --- scripts */

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    const struct offline *offline = ctx;
    return audit_objects_source(offline->objects, resource, scope);
}

/* Of those that do not load all are told. */
static bool load_scripts(struct offline *offline, struct err *err)
{
    const struct script_files *files = offline->options->files;
    size_t rules = 0, failed = 0;
    offline->scripts = xcalloc(files->count, sizeof *offline->scripts);
    for (size_t i = 0; i < files->count; i++) {
        struct script_source source = {.path = files->paths[i], .name = files->names[i], .generation = 1};
        struct err cause;
        struct script *script = script_prepare(&offline->dry.host, &source, &cause);
        if (script) {
            offline->scripts[offline->script_count++] = script;
            rules += script_rule_count(script);
        } else if (failed++ == 0) {
            *err = cause;
        } else {
            fprintf(stderr, "kubelua audit: %s\n", cause.text);
        }
    }
    if (failed) return false;
    return rules > 0 || err_set(err, ERR_INVALID, "no script has a rule (k8s.rule)");
}

/* Caches are of what rules use; what they check passes by once. False when there are none, and informers of a
 * script's own neither, so that each object may be forgotten. */
static bool wants_caches(const struct offline *offline)
{
    const struct shared_factory *factory = offline->dry.host.factory;
    const struct informer_claim *claim = NULL;
    for (size_t s = 0; s < offline->script_count; s++)
        for (size_t i = 0; i < script_rule_count(offline->scripts[s]); i++) {
            const struct script_rule *rule = script_rule(offline->scripts[s], i);
            for (size_t u = 0; u < rule->use_count; u++) claim_hold(rule->uses[u].claim, false);
        }
    while ((claim = shared_factory_next_claim(factory, claim)))
        if (!claim_is_held(claim)) return true;
    return false;
}

/* --- objects */

static bool on_object(void *ctx, struct root *object, struct str file, size_t line)
{
    struct offline *offline = ctx;
    const struct audit_subject subject = {object, file, line};
    if (offline->objects)
        audit_objects_add(offline->objects, &subject);
    else
        auditor_look_at(offline->auditor, &subject);
    return true;
}

static void on_refused(void *ctx, const struct err *err)
{
    struct offline *offline = ctx;
    offline->partial = true;
    fprintf(stderr, "kubelua audit: %s\n", err->text);
}

static bool is_wanted(void *ctx, struct str api_version, struct str kind)
{
    const struct offline *offline = ctx;
    return auditor_wants(offline->auditor, api_version, kind);
}

/* A file that cannot be read does not hide what is found in the others. */
static void read_all(struct offline *offline)
{
    const struct audit_input_sink sink = {on_object, on_refused, offline};
    const struct audit_input_options input = {.packer = offline->packer,
                                              .sink = &sink,
                                              .wanted = offline->objects ? NULL : is_wanted,
                                              .recursive = offline->options->recursive,
                                              .max_object_size = offline->options->max_object_size,
                                              .ctx = offline};
    const struct flag_list *from = offline->options->from;
    struct audit_input_counts counts = {0};
    for (size_t i = 0; i < from->count; i++) {
        struct err err;
        if (!audit_input_read(&input, from->items[i], &counts, &err)) on_refused(offline, &err);
    }
}

/* --- caches */

/* Kinds that nothing in the input is of are no error: their caches are empty. */
static void on_unknown(void *ctx, struct informer_claim *claim, const struct err *err) {}

static bool all_synced(const struct offline *offline)
{
    const struct shared_factory *factory = offline->dry.host.factory;
    for (struct informer_claim *claim = shared_factory_next_claim(factory, NULL); claim;
         claim = shared_factory_next_claim(factory, claim))
        if (claim_resource(claim) && !claim_has_synced(claim)) return false;
    return true;
}

static void fill_caches(struct offline *offline)
{
    shared_factory_resolve(offline->dry.host.factory, offline->catalogue, on_unknown, NULL);
    while (!all_synced(offline)) loop_once(offline->dry.loop, true);
}

static void look_at_all(struct offline *offline)
{
    fill_caches(offline);
    for (size_t i = 0; i < audit_objects_count(offline->objects); i++) {
        const struct audit_subject subject = audit_objects_at(offline->objects, i);
        auditor_look_at(offline->auditor, &subject);
    }
}

/* --- start and stop */

static void open_host(struct offline *offline)
{
    const struct options *options = offline->options->options;
    dry_host_open_on(&offline->dry, new_source, offline);
    options_give_scripts(options, &offline->dry.host);
    if (!options->all_namespaces && options->cluster.namespace_)
        offline->dry.host.default_namespace = options->cluster.namespace_;
    offline->catalogue = catalogue_well_known();
    offline->pool = pool_new(NULL);
    offline->packer = packer_new(offline->pool);
}

static void close_all(struct offline *offline)
{
    auditor_free(offline->auditor);
    for (size_t i = 0; i < offline->script_count; i++) script_free(offline->scripts[i]);
    free(offline->scripts);
    dry_host_close(&offline->dry);
    audit_objects_free(offline->objects);
    catalogue_free(offline->catalogue);
    packer_free(offline->packer);
    pool_free(offline->pool);
}

static bool prepare(struct offline *offline, struct err *err)
{
    const struct audit_offline_options *options = offline->options;
    if (!load_scripts(offline, err)) return false;
    offline->auditor = auditor_new(&(const struct auditor_options){.scripts = offline->scripts,
                                                                   .script_count = offline->script_count,
                                                                   .catalogue = offline->catalogue,
                                                                   .table = options->table,
                                                                   .now_s = time(NULL),
                                                                   .fixes = options->fixes},
                                   err);
    if (!offline->auditor) return false;
    if (wants_caches(offline)) offline->objects = audit_objects_new(offline->dry.loop);
    return true;
}

enum audit_end audit_offline(const struct audit_offline_options *options, struct err *err)
{
    struct offline offline = {.options = options};
    open_host(&offline);
    bool ok = prepare(&offline, err);
    if (ok) read_all(&offline);
    if (ok && offline.objects) look_at_all(&offline);
    close_all(&offline);
    return !ok ? AUDIT_FAILED : offline.partial ? AUDIT_PARTIAL : AUDIT_WHOLE;
}

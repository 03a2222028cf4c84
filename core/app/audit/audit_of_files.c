/* Files, rules and caches put together; see audit_of_files.h. */
#include "app/audit/audit_of_files_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/audit/audit_kinds.h"
#include "audit/fix/fixer_values.h"
#include "audit/rules/rule_kinds.h"
#include "base/mem.h"
#include "base/number_map.h"
#include "kube/kinds/catalogue.h"
#include "kube/kinds/well_known.h"
#include "object/pack/pool.h"
#include "object/value/value.h"

/* --- rules that look at other objects too */

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    const struct offline *offline = ctx;
    return audit_objects_source(offline->objects, resource, scope);
}

/* Caches are of what rules use; what they check passes by once. False when there are none, and informers of a
 * script's own neither, so that each object may be forgotten. */
static bool wants_caches(const struct offline *offline)
{
    const struct shared_factory *factory = offline->dry.parts.factory;
    const struct informer_claim *claim = NULL;
    while ((claim = shared_factory_next_claim(factory, claim)))
        if (!claim_is_suspended(claim)) return true;
    return false;
}

/* --- objects */

/* As of a cluster: what has no namespace is looked at whatever -n says. */
static bool is_elsewhere(const struct offline *offline, const struct root *object)
{
    struct text text;
    struct str ns = root_namespace(object, &text);
    const char *wanted = offline->dry.host.default_namespace;
    return *wanted && ns.n && !str_is(ns, wanted);
}

/* Returns the namespace that `kubectl create -n` would use. */
static struct str namespace_of(void *ctx, struct str api_version, struct str kind)
{
    const struct offline *offline = ctx;
    const char *wanted = offline->dry.host.default_namespace;
    bool has = *wanted && rule_kinds_is_namespaced(offline->catalogue, api_version, kind);
    return has ? str_of(wanted) : STR("");
}

static void on_skipped(void *ctx, struct str api_version, struct str kind, struct str file, size_t line)
{
    struct offline *offline = ctx;
    if (offline->worker)
        audit_worker_unmatched(offline->worker, api_version, kind, line);
    else
        audit_unmatched_note(&offline->unmatched, api_version, kind, file, line);
}

static void on_foreign(void *ctx, struct str file, size_t line)
{
    struct offline *offline = ctx;
    if (offline->worker) {
        offline->worker->is_unusual = true;
        return;
    }
    progress_clear(&offline->progress);
    fprintf(stderr,
            "kubelua audit: %.*s:%zu: skipped, not a Kubernetes object: no metadata and no known kind\n",
            STR_ARG(file), line);
}

bool offline_wants(void *ctx, struct str api_version, struct str kind)
{
    const struct offline *offline = ctx;
    if (offline->worker) audit_stream_put_type(&offline->worker->out, api_version, kind);
    return auditor_wants(offline->scripts.auditor, api_version, kind);
}

static void note_unmatched(struct offline *offline, const struct audit_subject *subject)
{
    struct text version, kind;
    struct value whole = root_value(subject->object);
    on_skipped(offline, value_str(value_field(whole, STR("apiVersion")), &version),
               value_str(value_field(whole, STR("kind")), &kind), subject->file, subject->line);
}

static void audit_object(struct offline *offline, const struct audit_subject *subject)
{
    if (auditor_audit(offline->scripts.auditor, subject) == AUDITOR_NO_RULE_MATCHES)
        note_unmatched(offline, subject);
}

/* Counts an object of another namespace only if a rule matches its kind; the place of others does not
 * matter. */
static void leave_out(struct offline *offline, const struct audit_subject *subject)
{
    struct text version, kind;
    struct value whole = root_value(subject->object);
    if (offline_wants(offline, value_str(value_field(whole, STR("apiVersion")), &version),
                      value_str(value_field(whole, STR("kind")), &kind)))
        *(offline->worker ? &offline->worker->elsewhere : &offline->elsewhere) += 1;
    else
        note_unmatched(offline, subject);
}

static bool on_object(void *ctx, const struct audit_input_object *object)
{
    struct offline *offline = ctx;
    const struct audit_subject subject = {.object = object->root,
                                          .file = object->file,
                                          .line = object->line,
                                          .projection = object->projection,
                                          .again = object->again,
                                          .ctx = object->text};
    if (is_elsewhere(offline, object->root)) {
        leave_out(offline, &subject);
        return true;
    }
    if (offline->objects)
        audit_objects_add(offline->objects, &subject);
    else
        audit_object(offline, &subject);
    if (offline->worker)
        offline->worker->objects++;
    else
        progress_step(&offline->progress, ++offline->read, offline->share);
    return true;
}

static void on_refused(void *ctx, const struct err *err)
{
    struct offline *offline = ctx;
    if (offline->worker) {
        offline->worker->is_unusual = true;
        return;
    }
    offline->partial = true;
    progress_clear(&offline->progress);
    fprintf(stderr, "kubelua audit: %s\n", err->text);
}

/* Reports progress. The size of stdin is unknown, and so is its share then. */
static void on_bytes(void *ctx, uint64_t done, uint64_t total)
{
    struct offline *offline = ctx;
    double paths = (double)offline->request->from.count;
    offline->share = total ? ((double)offline->path + (double)done / (double)total) / paths : -1;
    progress_step(&offline->progress, offline->read, offline->share);
}

/* Objects that are kept for others to use are kept whole, and so are those that a rule may mend. */
static const struct projection *projection_of(void *ctx, struct str api_version, struct str kind)
{
    const struct offline *offline = ctx;
    return auditor_projection(offline->scripts.auditor, api_version, kind);
}

/* A name that is misspelt leaves everything in, and looks as if it did not. */
static void print_unused(const struct audit_request *request, const struct input_exclude *exclude)
{
    char *from = flag_list_text(&request->from);
    for (size_t i = 0; i < exclude->count; i++)
        if (!exclude->used[i])
            fprintf(stderr, "kubelua audit: --exclude \"%s\" matches no file or directory below %s\n",
                    request->exclude.items[i], from);
    free(from);
}

/* A file that cannot be read does not hide what is found in the others. */
static void read_all(struct offline *offline)
{
    const struct audit_input_sink sink = {.object = on_object, .refused = on_refused, .ctx = offline};
    struct number_set seen = {0};
    struct input_total total = {.max = offline->request->max_input_size};
    struct input_exclude exclude;
    input_exclude_init(&exclude, offline->request->exclude.items, offline->request->exclude.count);
    offline->input = (struct audit_input_options){
        .packer = offline->packer,
        .sink = &sink,
        .seen = &seen,
        .projection_of = offline->objects || offline->request->fix ? NULL : projection_of,
        .wanted = offline->objects ? NULL : offline_wants,
        .namespace_of = namespace_of,
        .skipped = on_skipped,
        .foreign = on_foreign,
        .recursive = offline->request->options.recursive,
        .exclude = &exclude,
        .max_object_size = offline->request->options.max_object_size,
        .total = total.max ? &total : NULL,
        .share = offline->objects || offline->request->fix ? NULL : offline_share,
        .progress = on_bytes,
        .ctx = offline};
    const struct flag_list *from = &offline->request->from;
    struct audit_input_counts counts = {0};
    progress_begin(&offline->progress, offline->objects ? "Reading" : "Auditing", 0);
    for (size_t i = 0; i < from->count; i++) {
        struct err err;
        offline->path = i;
        offline->share = -1;
        if (!audit_input_read(&offline->input, from->items[i], &counts, &err)) on_refused(offline, &err);
    }
    progress_end(&offline->progress);
    audit_table_set_not_objects(offline->table, counts.foreign);
    number_set_clear(&seen);
    print_unused(offline->request, &exclude);
    input_exclude_clear(&exclude);
}

/* --- caches */

/* Custom kinds, too, may be used. Most objects are of the type of the one before. */
static void add_kinds(struct offline *offline)
{
    struct value last_version = value_absent, last_kind = value_absent;
    for (size_t i = 0; i < audit_objects_count(offline->objects); i++) {
        const struct audit_subject subject = audit_objects_at(offline->objects, i);
        struct value version = value_field(root_value(subject.object), STR("apiVersion")),
                     kind = value_field(root_value(subject.object), STR("kind"));
        struct text version_text, kind_text, ns;
        if (value_equal(version, last_version) && value_equal(kind, last_kind)) continue;
        last_version = version;
        last_kind = kind;
        catalogue_add_guess(offline->catalogue, value_str(version, &version_text),
                            value_str(kind, &kind_text), root_namespace(subject.object, &ns).n > 0);
    }
    catalogue_finish(offline->catalogue);
}

/* A name that is Kubernetes' own means that, whatever kinds the input has besides. */
static void fill_caches(struct offline *offline)
{
    load_host_fill(&offline->dry, offline->catalogue);
    add_kinds(offline);
    load_host_fill(&offline->dry, offline->catalogue);
    struct buf ids = {0}, text = {0};
    static const char nobody[] = "the input cannot contain";
    size_t left_out = audit_kinds_leave_out(&offline->scripts, true, nobody, &ids);
    if (left_out) {
        audit_kinds_put_left_out(left_out, nobody, &ids, &text);
        fprintf(stderr, "kubelua audit: %s\n", buf_text(&text));
        offline->unevaluated = true;
    }
    buf_clear(&ids);
    buf_clear(&text);
}

static void audit_all(struct offline *offline)
{
    size_t count = audit_objects_count(offline->objects);
    fill_caches(offline);
    progress_begin(&offline->progress, "Auditing", count);
    for (size_t i = 0; i < count; i++) {
        const struct audit_subject subject = audit_objects_at(offline->objects, i);
        audit_object(offline, &subject);
        progress_step(&offline->progress, i + 1, -1);
    }
    progress_end(&offline->progress);
}

/* --- start and stop */

static void open_host(struct offline *offline)
{
    const struct engine_settings settings = audit_scripts_settings(offline->request);
    load_host_open_on(&offline->dry, &settings, new_source, offline);
    offline->catalogue = catalogue_well_known();
    offline->pool = pool_new(NULL);
    offline->packer = packer_new(offline->pool);
}

static void close_all(struct offline *offline)
{
    audit_unmatched_clear(&offline->unmatched);
    audit_scripts_close(&offline->scripts);
    load_host_close(&offline->dry);
    audit_objects_free(offline->objects);
    catalogue_free(offline->catalogue);
    packer_free(offline->packer);
    pool_free(offline->pool);
}

static bool prepare(struct offline *offline, struct err *err)
{
    const struct audit_request *request = offline->request;
    if (!audit_scripts_load(&offline->scripts, request, &offline->dry.host, err)) return false;
    audit_scripts_want_uses(&offline->scripts);
    if (wants_caches(offline)) offline->objects = audit_objects_new(offline->dry.loop);
    return audit_scripts_begin(&offline->scripts, request, offline->pool, offline->catalogue, offline->table,
                               err);
}

enum audit_end audit_of_files(const struct audit_request *request, struct audit_table *table, struct err *err)
{
    struct offline offline = {.request = request, .table = table};
    open_host(&offline);
    bool ok = prepare(&offline, err);
    if (ok) read_all(&offline);
    if (ok && offline.objects) audit_all(&offline);
    if (ok && request->fixes) fixes_mark_there(request->fixes, offline.dry.parts.factory);
    if (ok && !audit_kinds_check(&offline.scripts)) offline.unevaluated = true;
    audit_table_set_unmatched(table, offline.unmatched.count);
    audit_table_set_other_namespaces(table, offline.elsewhere);
    close_all(&offline);
    if (!ok) return AUDIT_FAILED;
    return offline.partial ? AUDIT_UNREADABLE : offline.unevaluated ? AUDIT_INCOMPLETE : AUDIT_COMPLETE;
}

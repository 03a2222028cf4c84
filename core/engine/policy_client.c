/* Policy reports in the cluster; see policy_client.h. */
#include "engine/policy_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/series/series.h"
#include "kube/kinds/resource.h"
#include "object/pack/projection.h"
#include "object/value/value.h"

FAMILY(family_policy_reports, 510, GAUGE, "kubelua_policy_reports", "", NULL,
       "Number of policy reports in the cluster written by this engine.");
FAMILY(family_policy_writes, 511, COUNTER, "kubelua_policy_report_writes_total", "verb,result", NULL,
       "Number of policy report writes by result.");
FAMILY(family_policy_left_out, 512, GAUGE, "kubelua_policy_report_namespaces_left_out", "", NULL,
       "Number of namespaces without a policy report because of the report limit.");

enum { PAGE = 500, LABEL_MAX = 63, NAME_MAX_BYTES = 200 };

/* Write in flight. */
struct sent {
    LIST_ENTRY(sent) link;
    struct policy_client *writer;
    struct policy_write_call *flight;
    struct live_read *read;
    const char *verb;
};

struct report_listing {
    struct policy_client *writer;
    struct live_read *read; /* NULL: none is under way */
    bool of_cluster;
};

struct policy_client {
    struct policy_client_options options;
    const struct policy_api *api;
    struct resource resources[2]; /* the texts are constants; [1]: of the cluster */
    struct policy_writer *writer;
    struct report_listing listings[2];
    LIST_HEAD(sents, sent) sent;
    struct projection *projection;
    struct buf selector, waiting, refused;
    char instance[LABEL_MAX + 1];
    struct series *reports, *left_out, *written[2][2]; /* by verb, and whether it failed */
};

/* --- lists */

static void notify_found(struct policy_client *w, const struct root *report)
{
    struct text ns, name, content;
    policy_writer_found(w->writer, root_namespace(report, &ns), root_name(report, &name),
                        value_str(value_field(root_annotations(report), STR(POLICY_CONTENT)), &content));
}

static void on_listed(void *ctx, const struct live_response *response)
{
    struct report_listing *listing = ctx;
    struct policy_client *w = listing->writer;
    struct live_response taken = *response;
    struct err err;
    bool failed = response->err != NULL;
    if (failed) err = *response->err;
    for (size_t i = 0; i < taken.count; i++) notify_found(w, taken.objects[i]);
    bool last = taken.last;
    live_response_clear(&taken);
    if (!last) {
        live_next(listing->read);
        return;
    }
    live_close(listing->read);
    listing->read = NULL;
    policy_writer_listed(w->writer, listing->of_cluster, failed ? &err : NULL);
}

/* Metadata alone, of those that this engine wrote, or one before it of the same field manager. */
static void list(void *ctx, bool of_cluster)
{
    struct policy_client *w = ctx;
    struct report_listing *listing = &w->listings[of_cluster];
    must(!listing->read);
    listing->read = live_start(w->options.live,
                               &(const struct live_request){
                                   .verb = LIVE_LIST,
                                   .resource = &w->resources[of_cluster],
                                   .scope = {.namespace_ = of_cluster ? "" : w->options.namespace_,
                                             .label_selector = buf_text(&w->selector),
                                             .field_selector = "",
                                             .projection = w->projection,
                                             .metadata_only = true},
                                   .resource_version = "",
                                   .resource_version_match = "",
                                   .page_size = PAGE,
                                   .whole_if_expired = true,
                               },
                               on_listed, listing);
}

/* --- writes */

static void show(struct policy_client *w)
{
    struct policy_writer_status status = policy_writer_status(w->writer);
    series_set(w->reports, (double)status.reports);
    series_set(w->left_out, (double)status.left_out);
}

static void on_written(void *ctx, const struct object_response *response)
{
    struct sent *sent = ctx;
    struct policy_client *w = sent->writer;
    struct policy_write_call *flight = sent->flight;
    bool deletes = strcmp(sent->verb, "delete") == 0, failed = response->err != NULL;
    struct err err;
    struct series **series = &w->written[deletes][failed];
    if (failed) err = *response->err;
    if (!*series) *series = SERIES(&family_policy_writes, sent->verb, failed ? "error" : "ok");
    series_inc(*series);
    root_unref(response->object);
    live_close(sent->read);
    LIST_REMOVE(sent, link);
    free(sent);
    policy_writer_wrote(w->writer, flight, failed ? &err : NULL);
    show(w);
}

static void send(void *ctx, const struct policy_write *write, struct policy_write_call *flight)
{
    struct policy_client *w = ctx;
    struct sent *sent = NEW(struct sent);
    bool deletes = !write->body.p, is_tried = w->options.is_tried;
    sent->writer = w;
    sent->flight = flight;
    sent->verb = deletes ? "delete" : "apply";
    LIST_INSERT_HEAD(&w->sent, sent, link);
    const struct object_request request = {
        .verb = deletes ? OBJECT_DELETE : OBJECT_APPLY,
        .place = {&w->resources[!*write->ns], write->ns, write->name},
        .body = !deletes   ? write->body
                : is_tried ? STR("{\"dryRun\":[\"All\"]}")
                           : STR("{}"),
        .manager = w->options.field_manager,
        .force = true,
        .dry_run = is_tried,
        .fence = w->options.fence(w->options.ctx),
    };
    sent->read = live_call(w->options.live, &request, on_written, sent);
}

static void cancel(void *ctx)
{
    struct policy_client *w = ctx;
    struct sent *sent;
    while ((sent = LIST_FIRST(&w->sent))) {
        LIST_REMOVE(sent, link);
        live_close(sent->read);
        free(sent);
    }
    for (size_t i = 0; i < ARRAY_LEN(w->listings); i++) {
        if (w->listings[i].read) live_close(w->listings[i].read);
        w->listings[i].read = NULL;
    }
}

/* --- the audit */

static struct continuous_walk *walk(void *ctx, struct str ns)
{
    struct policy_client *w = ctx;
    return continuous_walk_new(w->options.audit(w->options.ctx), ns);
}

static void put_waiting(void *ctx, const struct continuous_rule_status *rule)
{
    struct buf *names = ctx;
    if (rule->waits) buf_printf(names, "%s%s", names->len ? ", " : "", rule->ref->rule->id);
}

static void put_refused(void *ctx, const char *kind, const char *text)
{
    struct buf *kinds = ctx;
    buf_printf(kinds, "%s%s", kinds->len ? ", " : "", kind);
}

static void observe(void *ctx, struct policy_outlook *out)
{
    struct policy_client *w = ctx;
    const struct continuous_audit *audit = w->options.audit(w->options.ctx);
    struct continuous_status status = continuous_status(audit);
    w->waiting.len = 0;
    if (status.waiting_rules) continuous_each_rule(audit, put_waiting, &w->waiting);
    w->refused.len = 0;
    continuous_each_refused(audit, put_refused, &w->refused);
    *out = (struct policy_outlook){.pending = status.pending,
                                   .waiting = buf_text(&w->waiting),
                                   .refused = buf_text(&w->refused),
                                   .findings_left_out = status.left_out > 0};
    show(w);
}

/* --- start and stop */

/* A field manager may have any name; a name of objects and a label may not. */
static void set_instance(struct policy_client *w, const char *manager)
{
    size_t n = 0;
    for (const char *p = manager; *p && n < sizeof w->instance - 1; p++) {
        char c = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
        bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (fits || n) w->instance[n++] = fits ? c : '-';
    }
    while (n && w->instance[n - 1] == '-') n--;
    w->instance[n] = '\0';
    if (!n) snprintf(w->instance, sizeof w->instance, "kubelua");
}

static void make_selector(struct policy_client *w)
{
    buf_printf(&w->selector, "app.kubernetes.io/managed-by=kubelua,app.kubernetes.io/instance=%s",
               w->instance);
}

static void make_resources(struct policy_client *w)
{
    static const char *const annotations[] = {"metadata.annotations"};
    struct err err;
    const struct policy_api *api = w->api;
    for (int i = 0; i < 2; i++)
        w->resources[i] = (struct resource){.group = (char *)api->group,
                                            .version = (char *)api->version,
                                            .plural = (char *)(i ? api->cluster_plural : api->plural),
                                            .kind = (char *)(i ? api->cluster_kind : api->kind),
                                            .namespaced = !i};
    w->projection =
        projection_new((struct projection_paths){annotations, 1}, (struct projection_paths){0}, &err);
    must(w->projection);
}

struct policy_client *policy_client_new(const struct policy_client_options *options)
{
    struct policy_client *w = NEW(struct policy_client);
    char name[NAME_MAX_BYTES];
    w->options = *options;
    if (!w->options.field_manager) w->options.field_manager = "kubelua";
    w->api = options->api;
    LIST_INIT(&w->sent);
    for (int i = 0; i < 2; i++) w->listings[i] = (struct report_listing){.writer = w, .of_cluster = i == 1};
    set_instance(w, w->options.field_manager);
    make_selector(w);
    make_resources(w);
    w->reports = series_new(&family_policy_reports, NULL);
    w->left_out = series_new(&family_policy_left_out, NULL);
    snprintf(name, sizeof name, "%s-audit", w->instance);
    w->writer = policy_writer_new(
        &(const struct policy_writer_options){.clock = options->clock,
                                              .api = w->api,
                                              .name = name,
                                              .instance = w->instance,
                                              .max_reports = POLICY_REPORTS_MAX,
                                              .cluster_when_needed = *options->namespace_ != '\0',
                                              .walk = walk,
                                              .observe = observe,
                                              .list = list,
                                              .write = send,
                                              .cancel = cancel,
                                              .ctx = w});
    return w;
}

void policy_client_free(struct policy_client *w)
{
    if (!w) return;
    policy_writer_free(w->writer);
    projection_unref(w->projection);
    buf_clear(&w->selector);
    buf_clear(&w->waiting);
    buf_clear(&w->refused);
    series_free(w->reports);
    series_free(w->left_out);
    for (int i = 0; i < 4; i++) series_free(w->written[i / 2][i % 2]);
    free(w);
}

void policy_client_set_active(struct policy_client *w, bool active)
{
    if (w) policy_writer_set_active(w->writer, active);
}

void policy_client_changed(struct policy_client *w, struct str ns)
{
    if (w) policy_writer_changed(w->writer, ns);
}

struct policy_writer_status policy_client_status(const struct policy_client *w)
{
    return policy_writer_status(w->writer);
}

const char *policy_client_kind(const struct policy_client *w)
{
    return w->api->kind;
}

bool policy_client_is_tried(const struct policy_client *w)
{
    return w->options.is_tried;
}

/* Families created by scripts, and their series; see user_metric.h. */
#include "base/series/user_metric.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/series/user_metric_internal.h"

/* Default buckets of the client libraries. */
static const double default_bounds[] = {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};

/* Under the lock of series; by name, and those of a name in the order in which they were shown. */
static TAILQ_HEAD(shown_metrics, user_metric) shown = TAILQ_HEAD_INITIALIZER(shown);
static size_t page_bytes; /* of all metrics of the page of the process; on the engine thread */

void user_metrics_each(const void *page, void (*fn)(void *ctx, const struct user_metric *metric), void *ctx)
{
    const struct user_metric *metric;
    series_lock();
    TAILQ_FOREACH (metric, &shown, link)
        if (metric->page == page) fn(ctx, metric);
    series_unlock();
}

static char *help_on_page(const char *help)
{
    struct buf out = {0};
    series_put_help(&out, str_of(help));
    return buf_take(&out);
}

/* --- bytes on the page */

static void note_bytes(struct user_metric *metric, size_t added, size_t removed)
{
    metric->bytes += added - removed;
    if (!metric->page) page_bytes += added - removed;
}

/* Of a series, but for its labels, at most. */
static void measure(struct user_metric *metric)
{
    enum { NUMBER = 24, LINE = 4, BUCKET = 16 + NUMBER, SUM_AND_COUNT = 10, HEAD = 30 };
    size_t name = strlen(metric->name), line = name + LINE + NUMBER, count = metric->buckets.count;
    bool is_histogram = metric->family.kind == FAMILY_HISTOGRAM;
    metric->lines = is_histogram ? count + 3 : 1;
    metric->line_bytes = metric->lines * line + (is_histogram ? (count + 1) * BUCKET + SUM_AND_COUNT : 0);
    note_bytes(metric, HEAD + 2 * name + strlen(metric->help), 0);
    metric->memory = sizeof *metric + 2 * name + strlen(metric->help);
}

static size_t bytes_of(const struct user_metric *metric, size_t labels)
{
    return metric->line_bytes + metric->lines * labels;
}

size_t user_metric_bytes(const struct user_metric *metric)
{
    return metric->bytes;
}

size_t user_metrics_page_bytes(void)
{
    return page_bytes;
}

static size_t memory_of(const struct user_metric *metric, size_t labels)
{
    return sizeof(struct user_series) + sizeof(struct series) + metric->buckets.count * sizeof(uint64_t) +
           labels + 1;
}

size_t user_metric_memory(const struct user_metric *metric)
{
    return metric->memory;
}

struct user_metric *user_metric_new(const struct user_metric_options *o)
{
    struct user_metric *metric = NEW(struct user_metric);
    bool own = o->kind == FAMILY_HISTOGRAM && o->bounds;
    const double *bounds = own ? o->bounds : default_bounds;
    size_t count = o->kind != FAMILY_HISTOGRAM ? 0 : own ? o->bound_count : ARRAY_LEN(default_bounds);
    metric->refs = 1;
    metric->page = o->page;
    metric->script = xstrdup(o->script);
    metric->name = xstrdup(o->name);
    metric->help = help_on_page(o->help);
    metric->label_count = o->label_count;
    for (size_t i = 0; i < o->label_count; i++) metric->label_names[i] = xstrdup(o->labels[i]);
    metric->bounds = xcalloc(count + 1, sizeof *metric->bounds);
    memcpy(metric->bounds, bounds, count * sizeof *bounds);
    metric->buckets = (struct buckets){count, metric->bounds};
    metric->family = (struct family){
        .name = metric->name, .help = metric->help, .kind = o->kind, .buckets = &metric->buckets};
    measure(metric);
    if (o->label_count == 0 && o->kind != FAMILY_GAUGE) user_metric_series(metric, NULL, true);
    return metric;
}

struct user_metric *user_metric_ref(struct user_metric *metric)
{
    metric->refs++;
    return metric;
}

static void free_series(struct user_metric *metric, struct user_series *series)
{
    HASH_DELETE(hh, metric->series, series);
    size_t labels = strlen(series->series->labels);
    note_bytes(metric, 0, bytes_of(metric, labels));
    metric->memory -= memory_of(metric, labels);
    free(series->series->labels);
    free(series->series);
    free(series);
}

void user_metric_unref(struct user_metric *metric)
{
    struct user_series *series, *next;
    if (!metric) return;
    must(metric->refs > 0);
    if (--metric->refs > 0) return;
    user_metric_unpublish(metric);
    HASH_ITER (hh, metric->series, series, next) free_series(metric, series);
    note_bytes(metric, 0, metric->bytes);
    for (size_t i = 0; i < metric->label_count; i++) free(metric->label_names[i]);
    free(metric->bounds);
    free(metric->script);
    free(metric->name);
    free(metric->help);
    free(metric);
}

void user_metric_publish(struct user_metric *metric)
{
    struct user_metric *before;
    if (metric->shown) return;
    series_lock();
    metric->id = series_next_id();
    TAILQ_FOREACH_REVERSE(before, &shown, shown_metrics, link)
    if (strcmp(before->name, metric->name) <= 0) break;
    if (before)
        TAILQ_INSERT_AFTER(&shown, before, metric, link);
    else
        TAILQ_INSERT_HEAD(&shown, metric, link);
    series_unlock();
    metric->shown = true;
}

void user_metric_unpublish(struct user_metric *metric)
{
    if (!metric->shown) return;
    series_lock();
    TAILQ_REMOVE(&shown, metric, link);
    series_unlock();
    metric->shown = false;
}

const char *user_metric_name(const struct user_metric *metric)
{
    return metric->name;
}

size_t user_metric_label_count(const struct user_metric *metric)
{
    return metric->label_count;
}

const char *user_metric_label(const struct user_metric *metric, size_t i)
{
    return metric->label_names[i];
}

size_t user_metric_series_count(const struct user_metric *metric)
{
    return HASH_COUNT(metric->series);
}

/* --- series */

/* script="a",name="value" */
static void put_labels(const struct user_metric *metric, const struct str *values, struct buf *out)
{
    buf_puts(out, "script=\"");
    series_put_value(out, str_of(metric->script));
    buf_putc(out, '"');
    for (size_t i = 0; i < metric->label_count; i++) {
        buf_printf(out, ",%s=\"", metric->label_names[i]);
        series_put_value(out, values[i]);
        buf_putc(out, '"');
    }
}

static struct user_series *find_user_series(struct user_metric *metric, struct str labels)
{
    struct user_series *found;
    HASH_FIND(hh, metric->series, labels.p, labels.n, found);
    return found;
}

static struct user_series *add(struct user_metric *metric, struct str labels)
{
    struct user_series *made = NEW(struct user_series);
    struct series *series = xcalloc(1, sizeof *series + metric->buckets.count * sizeof series->counts[0]);
    series->labels = xstrndup(labels.p, labels.n);
    series->family = &metric->family;
    made->series = series;
    note_bytes(metric, bytes_of(metric, labels.n), 0);
    metric->memory += memory_of(metric, labels.n);
    series_lock();
    series->id = series_next_id();
    HASH_ADD_KEYPTR(hh, metric->series, series->labels, labels.n, made);
    series_unlock();
    return made;
}

size_t user_metric_series_bytes(const struct user_metric *metric, const struct str *values)
{
    struct buf labels = {0};
    put_labels(metric, values, &labels);
    size_t bytes = bytes_of(metric, labels.len);
    buf_clear(&labels);
    return bytes;
}

struct series *user_metric_series(struct user_metric *metric, const struct str *values, bool make)
{
    struct buf labels = {0};
    put_labels(metric, values, &labels);
    struct user_series *found = find_user_series(metric, buf_slice(&labels));
    if (!found && make) found = add(metric, buf_slice(&labels));
    buf_clear(&labels);
    return found ? found->series : NULL;
}

bool user_metric_remove(struct user_metric *metric, const struct str *values)
{
    struct buf labels = {0};
    put_labels(metric, values, &labels);
    struct user_series *found = find_user_series(metric, buf_slice(&labels));
    buf_clear(&labels);
    if (!found) return false;
    series_lock();
    free_series(metric, found);
    series_unlock();
    return true;
}

/* --- two of the same script */

bool user_metric_equal(const struct user_metric *a, const struct user_metric *b)
{
    if (strcmp(a->name, b->name) != 0 || strcmp(a->help, b->help) != 0) return false;
    if (a->family.kind != b->family.kind || a->label_count != b->label_count) return false;
    for (size_t i = 0; i < a->label_count; i++)
        if (strcmp(a->label_names[i], b->label_names[i]) != 0) return false;
    return a->buckets.count == b->buckets.count &&
           memcmp(a->bounds, b->bounds, a->buckets.count * sizeof *a->bounds) == 0;
}

static void merge(struct user_metric *into, const struct series *from)
{
    struct str labels = str_of(from->labels);
    struct user_series *found = find_user_series(into, labels);
    if (!found) found = add(into, labels);
    struct series *to = found->series;
    double value = atomic_load_explicit(&from->value, memory_order_relaxed);
    if (into->family.kind == FAMILY_GAUGE)
        series_set(to, value);
    else
        series_add(to, value);
    for (size_t i = 0; i < into->buckets.count; i++) to->counts[i] += from->counts[i];
    to->above += from->above;
}

void user_metric_merge(struct user_metric *into, const struct user_metric *from)
{
    const struct user_series *series;
    for (series = from->series; series; series = series->hh.next) merge(into, series->series);
}

/* --- the page */

/* Returns false when all of the metric is on the page. */
static bool render_metric(const struct user_metric *metric, struct user_metrics_cursor *cursor, size_t until,
                          struct buf *out)
{
    const struct user_series *item;
    if (!cursor->metric) series_render_head(out, &metric->family);
    if (cursor->metric != metric->id) cursor->series = 0;
    cursor->metric = metric->id;
    for (item = metric->series; item; item = item->hh.next) {
        if (item->series->id <= cursor->series) continue;
        if (out->len >= until) return true;
        series_render_one(out, item->series);
        cursor->series = item->series->id;
    }
    return false;
}

bool user_metrics_render_some(const void *page, struct user_metrics_cursor *cursor, size_t most,
                              struct buf *out)
{
    const struct user_metric *metric;
    size_t until = out->len + most;
    bool more = false;
    series_lock();
    TAILQ_FOREACH (metric, &shown, link) {
        int order = strcmp(metric->name, cursor->name);
        if (metric->page != page || order < 0 || (order == 0 && metric->id < cursor->metric)) continue;
        if (order > 0) {
            *cursor = (struct user_metrics_cursor){0};
            strcpy(cursor->name, metric->name); /* USER_METRIC_NAME_MAX at most */
        }
        more = out->len >= until || render_metric(metric, cursor, until, out);
        if (more) break;
    }
    series_unlock();
    return more;
}

void user_metrics_render(const void *page, struct buf *out)
{
    struct user_metrics_cursor cursor = {0};
    while (user_metrics_render_some(page, &cursor, SIZE_MAX / 2, out)) {}
}

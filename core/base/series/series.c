/* Table of series; see series.h. */
#include "base/series/series.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/series/series_internal.h"

const struct buckets buckets_of_calls =
    BUCKETS(1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1, 5);
/* client-go's (I-22). */
const struct buckets buckets_of_processing = BUCKETS(.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct family *families; /* under the lock; by their places */
static uint64_t last_id;        /* under the lock */

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

void series_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* Takes the lock around a fork: a child must not inherit a mutex that another thread held. */
static void watch_forks(void)
{
    pthread_atfork(take_lock, series_unlock, series_unlock);
}

void series_lock(void)
{
    pthread_once(&once, watch_forks);
    take_lock();
}

/* Escapes \, " and line ends, as the format requires; invalid UTF-8 or a zero byte would make the complete
 * page invalid. */
static void put_escaped(struct buf *out, struct str text, bool quoted)
{
    while (text.n > 0) {
        size_t n = str_utf8(text);
        if (n == 0 || *text.p == '\0')
            buf_puts(out, "\xef\xbf\xbd");
        else if (*text.p == '\n')
            buf_puts(out, "\\n");
        else if (*text.p == '\\' || (quoted && *text.p == '"'))
            buf_printf(out, "\\%c", *text.p);
        else
            buf_append(out, text.p, n);
        n = n ? n : 1;
        text = (struct str){text.p + n, text.n - n};
    }
}

void series_put_value(struct buf *out, struct str value)
{
    put_escaped(out, value, true);
}

void series_put_help(struct buf *out, struct str help)
{
    put_escaped(out, help, false);
}

/* name="value",other="value" */
static char *render_labels(const struct family *family, const char *const *values)
{
    struct str rest = str_of(family->labels), name;
    struct buf out = {0};
    for (size_t i = 0; rest.p && rest.n && str_cut(&rest, ',', &name); i++) {
        buf_printf(&out, "%s%.*s=\"", i ? "," : "", STR_ARG(name));
        series_put_value(&out, str_of(values[i] ? values[i] : ""));
        buf_putc(&out, '"');
    }
    return buf_take(&out);
}

/* --- Under the lock */

uint64_t series_next_id(void)
{
    return ++last_id;
}

static void keep_family(struct family *family)
{
    struct family **at = &families;
    if (family->all.tqh_last) return;
    TAILQ_INIT(&family->all);
    while (*at && (*at)->place < family->place) at = &(*at)->next;
    family->next = *at;
    *at = family;
}

static struct series *find_series(struct family *family, const char *labels)
{
    struct series *s;
    TAILQ_FOREACH (s, &family->all, link)
        if (strcmp(s->labels, labels) == 0) return s;
    return NULL;
}

/* --- owners */

struct series *series_new(struct family *family, const char *const *values)
{
    char *labels = render_labels(family, values);
    size_t count = family->buckets ? family->buckets->count : 0;
    series_lock();
    keep_family(family);
    struct series *series = find_series(family, labels);
    if (series) {
        free(labels);
    } else {
        series = xcalloc(1, sizeof *series + count * sizeof series->counts[0]);
        series->family = family;
        series->labels = labels;
        series->id = series_next_id();
        TAILQ_INSERT_TAIL(&family->all, series, link);
    }
    series->refs++;
    series_unlock();
    return series;
}

struct series *series_share(struct series *series)
{
    if (!series) return NULL;
    series_lock();
    series->refs++;
    series_unlock();
    return series;
}

void series_free(struct series *series)
{
    if (!series) return;
    series_lock();
    must(series->refs > 0);
    bool last = --series->refs == 0;
    if (last) TAILQ_REMOVE(&series->family->all, series, link);
    series_unlock();
    if (!last) return;
    free(series->labels);
    free(series);
}

static void add(_Atomic double *to, double amount)
{
    double before = atomic_load_explicit(to, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(to, &before, before + amount, memory_order_relaxed,
                                                  memory_order_relaxed)) {}
}

void series_add(struct series *series, double amount)
{
    if (series) add(&series->value, amount);
}

void series_set(struct series *series, double value)
{
    if (series) atomic_store_explicit(&series->value, value, memory_order_relaxed);
}

void series_set_summary(struct series *summary, double sum, uint64_t count)
{
    if (!summary) return;
    atomic_store_explicit(&summary->value, sum, memory_order_relaxed);
    atomic_store_explicit(&summary->above, count, memory_order_relaxed);
}

/* The first bucket that has the value; their count if none has. */
static size_t bucket_of(const struct buckets *buckets, double value)
{
    size_t first = 0, left = buckets->count;
    while (left > 0) {
        size_t half = left / 2;
        bool is_above = value > buckets->bounds[first + half];
        first = is_above ? first + half + 1 : first;
        left = is_above ? left - half - 1 : half;
    }
    return first;
}

void series_observe(struct series *histogram, double value)
{
    if (!histogram) return;
    const struct buckets *buckets = histogram->family->buckets;
    size_t i = bucket_of(buckets, value);
    add(&histogram->value, value);
    atomic_fetch_add_explicit(i < buckets->count ? &histogram->counts[i] : &histogram->above, 1,
                              memory_order_relaxed);
}

void series_add_to(const struct series *histogram, double *sum, uint64_t *count)
{
    if (!histogram) return;
    *sum += atomic_load_explicit(&histogram->value, memory_order_relaxed);
    *count += atomic_load_explicit(&histogram->above, memory_order_relaxed);
    for (size_t i = 0; i < histogram->family->buckets->count; i++)
        *count += atomic_load_explicit(&histogram->counts[i], memory_order_relaxed);
}

/* --- Series and process-wide counters as Prometheus reads them (text form 0.0.4) */

/* HELP texts are ours, but for a backslash or a line end they would have to be escaped. */
void exposition_head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* The shortest of the usual forms that reads back as the same number. */
void exposition_number(struct buf *out, double value)
{
    char text[32];
    if (isnan(value)) {
        buf_puts(out, "NaN");
    } else if (isinf(value)) {
        buf_puts(out, value > 0 ? "+Inf" : "-Inf");
    } else {
        int digits = 15;
        do snprintf(text, sizeof text, "%.*g", digits, value);
        while (strtod(text, NULL) != value && digits++ < 17);
        buf_puts(out, text);
    }
}

static void render_plain(struct buf *out, const struct series *s)
{
    buf_puts(out, s->family->name);
    if (*s->labels) buf_printf(out, "{%s}", s->labels);
    buf_putc(out, ' ');
    exposition_number(out, atomic_load_explicit(&s->value, memory_order_relaxed));
    buf_putc(out, '\n');
}

static void render_bucket(struct buf *out, const struct series *s, const char *bound, uint64_t count)
{
    buf_printf(out, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", s->family->name, s->labels,
               *s->labels ? "," : "", bound, count);
}

static void render_sum(struct buf *out, const struct series *s, uint64_t count)
{
    const char *open = *s->labels ? "{" : "", *close = *s->labels ? "}" : "";
    buf_printf(out, "%s_sum%s%s%s ", s->family->name, open, s->labels, close);
    exposition_number(out, atomic_load_explicit(&s->value, memory_order_relaxed));
    buf_printf(out, "\n%s_count%s%s%s %" PRIu64 "\n", s->family->name, open, s->labels, close, count);
}

/* Buckets are cumulative; the count is the last one's, so that the two agree whatever happens meanwhile. */
static void render_histogram(struct buf *out, const struct series *s)
{
    uint64_t total = 0;
    for (size_t i = 0; i < s->family->buckets->count; i++) {
        struct buf bound = {0};
        total += atomic_load_explicit(&s->counts[i], memory_order_relaxed);
        exposition_number(&bound, s->family->buckets->bounds[i]);
        render_bucket(out, s, buf_text(&bound), total);
        buf_clear(&bound);
    }
    total += atomic_load_explicit(&s->above, memory_order_relaxed);
    render_bucket(out, s, "+Inf", total);
    render_sum(out, s, total);
}

void series_render_head(struct buf *out, const struct family *family)
{
    static const char *const types[] = {"counter", "gauge", "histogram", "summary"};
    exposition_head(out, family->name, types[family->kind], family->help);
}

void series_render_one(struct buf *out, const struct series *s)
{
    if (s->family->kind == FAMILY_HISTOGRAM)
        render_histogram(out, s);
    else if (s->family->kind == FAMILY_SUMMARY)
        render_sum(out, s, atomic_load_explicit(&s->above, memory_order_relaxed));
    else
        render_plain(out, s);
}

/* Returns false when all of the family is on the page. */
static bool render_family(const struct family *family, struct series_cursor *cursor, size_t until,
                          struct buf *out)
{
    const struct series *s;
    TAILQ_FOREACH (s, &family->all, link) {
        if (s->id <= cursor->id) continue;
        if (out->len >= until) return true;
        if (!cursor->id) series_render_head(out, family);
        series_render_one(out, s);
        cursor->id = s->id;
    }
    return false;
}

bool series_render_some(struct series_cursor *cursor, size_t most, struct buf *out)
{
    size_t until = out->len + most;
    bool more = false;
    series_lock();
    for (const struct family *family = families; family && !more; family = family->next) {
        if (family->place < cursor->place) continue;
        if (family->place > cursor->place) *cursor = (struct series_cursor){family->place, 0};
        more = render_family(family, cursor, until, out);
    }
    series_unlock();
    return more;
}

void series_render(struct buf *out)
{
    struct series_cursor cursor = {0};
    while (series_render_some(&cursor, SIZE_MAX / 2, out)) {}
}

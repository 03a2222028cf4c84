/* Series and process-wide counters as Prometheus reads them (text form 0.0.4); see series.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/series/series_internal.h"

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

struct rendering {
    struct buf *out;
    const struct family_info *family;
    bool begun;
};

static void render_plain(struct rendering *r, const struct series *s)
{
    buf_puts(r->out, r->family->name);
    if (*s->labels) buf_printf(r->out, "{%s}", s->labels);
    buf_putc(r->out, ' ');
    exposition_number(r->out, atomic_load_explicit(&s->value, memory_order_relaxed));
    buf_putc(r->out, '\n');
}

static void render_bucket(struct rendering *r, const struct series *s, const char *bound, uint64_t count)
{
    buf_printf(r->out, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", r->family->name, s->labels,
               *s->labels ? "," : "", bound, count);
}

static void render_sum(struct rendering *r, const struct series *s, uint64_t count)
{
    const char *open = *s->labels ? "{" : "", *close = *s->labels ? "}" : "";
    buf_printf(r->out, "%s_sum%s%s%s ", r->family->name, open, s->labels, close);
    exposition_number(r->out, atomic_load_explicit(&s->value, memory_order_relaxed));
    buf_printf(r->out, "\n%s_count%s%s%s %" PRIu64 "\n", r->family->name, open, s->labels, close, count);
}

/* Buckets are cumulative; the count is the last one's, so that the two agree whatever happens meanwhile. */
static void render_histogram(struct rendering *r, const struct series *s)
{
    uint64_t total = 0;
    for (size_t i = 0; i < s->buckets->count; i++) {
        struct buf bound = {0};
        total += atomic_load_explicit(&s->counts[i], memory_order_relaxed);
        exposition_number(&bound, s->buckets->bounds[i]);
        render_bucket(r, s, buf_text(&bound), total);
        buf_clear(&bound);
    }
    total += atomic_load_explicit(&s->above, memory_order_relaxed);
    render_bucket(r, s, "+Inf", total);
    render_sum(r, s, total);
}

void series_render_head(struct buf *out, const struct family_info *family)
{
    static const char *const types[] = {"counter", "gauge", "histogram", "summary"};
    exposition_head(out, family->name, types[family->kind], family->help);
}

void series_render_one(struct buf *out, const struct family_info *family, const struct series *series)
{
    struct rendering r = {.out = out, .family = family};
    if (family->kind == FAMILY_HISTOGRAM)
        render_histogram(&r, series);
    else if (family->kind == FAMILY_SUMMARY)
        render_sum(&r, series, atomic_load_explicit(&series->above, memory_order_relaxed));
    else
        render_plain(&r, series);
}

static void render(void *ctx, const struct series *series)
{
    struct rendering *r = ctx;
    if (!r->begun) series_render_head(r->out, r->family);
    r->begun = true;
    series_render_one(r->out, r->family, series);
}

void series_render(struct buf *out)
{
    for (enum family f = 0; f < FAMILY_COUNT; f++)
        series_each(f, render, &(struct rendering){.out = out, .family = family_info(f)});
}

/* Documents of a namespace's report; see policy_parts.h. */
#include "audit/policy/policy_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/policy/policy_parts_internal.h"
#include "base/hash.h"
#include "base/mem.h"
#include "object/value/value.h"

/* --- how many */

/* Returns the size of the fullest document if there are so many. */
static size_t fullest(const struct policy_parts *parts, size_t count)
{
    size_t bytes[POLICY_PARTS_MAX] = {0}, most = 0;
    for (size_t i = 0; i < POLICY_PARTS_MAX; i++) bytes[i & (count - 1)] += parts->buckets[i].all;
    for (size_t i = 0; i < count; i++)
        if (bytes[i] > most) most = bytes[i];
    return most;
}

/* The least power of two that will do. One that was enough before stays until half as many are half empty:
 * each time all documents are written again. */
static size_t count_of(const struct policy_parts *parts)
{
    size_t count = 1, before = 1;
    while (before < parts->options.before && before < POLICY_PARTS_MAX) before *= 2;
    while (count < POLICY_PARTS_MAX && fullest(parts, count) > FILL_BYTES) count *= 2;
    if (count < before && fullest(parts, before / 2) > FILL_BYTES / 2) count = before;
    return count;
}

/* --- one of them */

static int by_need(const void *pa, const void *pb)
{
    return rule_output_compare(*(const struct rule_output *const *)pa,
                               *(const struct rule_output *const *)pb);
}

static struct str kind_of(const struct rule_output *output, struct text *text)
{
    return value_str(value_field(root_value(output->object), STR("kind")), text);
}

/* Sorts by the order in which people search; only shown results, as comparing names is slow. */
static int by_name(const void *pa, const void *pb)
{
    const struct rule_output *a = *(const struct rule_output *const *)pa,
                             *b = *(const struct rule_output *const *)pb;
    struct text ta, tb;
    if (a->rule->severity != b->rule->severity) return a->rule->severity > b->rule->severity ? -1 : 1;
    int order = a->rule == b->rule ? 0 : strcmp(a->rule->id, b->rule->id);
    if (!order) order = str_cmp(kind_of(a, &ta), kind_of(b, &tb));
    if (!order) order = str_cmp(root_name(a->object, &ta), root_name(b->object, &tb));
    return order;
}

static size_t collect(struct policy_parts *parts, size_t i)
{
    size_t used = 0, room = 0;
    for (size_t j = i; j < POLICY_PARTS_MAX; j += parts->count) room += parts->buckets[j].used;
    parts->shown = xrealloc(parts->shown, (room + 1) * sizeof *parts->shown);
    parts->left_out = 0;
    for (size_t j = i; j < POLICY_PARTS_MAX; j += parts->count) {
        const struct bucket *bucket = &parts->buckets[j];
        for (size_t n = 0; n < bucket->used; n++) parts->shown[used++] = &bucket->items[n];
        parts->left_out += bucket->left_out;
    }
    return used;
}

/* An object whose results exceed a document is shown in part. */
/* Has it at hand. */
static void parts_show(struct policy_parts *parts, size_t i)
{
    size_t bytes = 0, used;
    if (parts->at == i + 1) return;
    parts->at = i + 1;
    used = collect(parts, i);
    qsort(parts->shown, used, sizeof *parts->shown, by_need);
    parts->shown_count = 0;
    for (size_t n = 0; n < used; n++) {
        bytes += parts->shown[n]->bytes;
        if (bytes <= RESULTS_BYTES || n == 0)
            parts->shown_count++;
        else
            parts->left_out += parts->shown[n]->results;
    }
    qsort(parts->shown, parts->shown_count, sizeof *parts->shown, by_name);
}

/* --- all of them */

struct policy_parts *policy_parts_new(const struct policy_parts_options *options)
{
    struct policy_parts *parts = NEW(struct policy_parts);
    parts->options = *options;
    parts->options.incomplete = options->incomplete ? xstrdup(options->incomplete) : NULL;
    return parts;
}

void policy_parts_free(struct policy_parts *parts)
{
    if (!parts) return;
    continuous_walk_free(parts->options.walk);
    parts_forget(parts);
    buf_clear(&parts->scratch);
    free((char *)parts->options.incomplete);
    free(parts->shown);
    free(parts);
}

bool policy_parts_gather(struct policy_parts *parts, size_t max)
{
    if (continuous_walk_on(parts->options.walk, max, parts_take_in, parts)) return true;
    if (parts->count) parts->count = count_of(parts);
    return false;
}

size_t policy_parts_unevaluated(const struct policy_parts *parts)
{
    return continuous_walk_unevaluated(parts->options.walk);
}

void policy_parts_add_incomplete(struct policy_parts *parts, const char *why)
{
    char *before = (char *)parts->options.incomplete;
    parts->options.incomplete = before ? xasprintf("%s. %s", before, why) : xstrdup(why);
    free(before);
}

size_t policy_parts_count(const struct policy_parts *parts)
{
    return parts->count;
}

/* --- A document of a namespace's report */

struct document {
    struct buf results, one;
    size_t counts[VERDICTS], left_out;
    int64_t time_s;
    bool full;
};

static void add(struct document *d, enum verdict verdict)
{
    if (d->results.len) buf_putc(&d->results, ',');
    buf_str(&d->results, buf_slice(&d->one));
    d->counts[verdict]++;
}

static void add_output(const struct policy_parts *parts, struct document *d, const struct rule_output *output)
{
    struct value value = root_value(output->object);
    struct text version, kind, ns, name, uid;
    const struct audit_object object = {.api_version =
                                            value_str(value_field(value, STR("apiVersion")), &version),
                                        .kind = value_str(value_field(value, STR("kind")), &kind),
                                        .ns = root_namespace(output->object, &ns),
                                        .name = root_name(output->object, &name),
                                        .uid = root_uid(output->object, &uid)};
    struct audit_row row;
    size_t at = 0;
    bool begun = false;
    while (rule_output_next_row(output, &at, &begun, &row)) {
        d->one.len = 0;
        if (!d->full) policy_put_result(parts->options.api, output->rule, &object, &row, d->time_s, &d->one);
        d->full |= d->results.len + d->one.len > RESULTS_BYTES;
        if (d->full)
            d->left_out++;
        else
            add(d, row.verdict);
    }
}

static void add_left_out(struct document *d)
{
    char message[160];
    if (!d->left_out) return;
    snprintf(message, sizeof message,
             "%zu results omitted: reports are limited to %d KiB, and namespaces to %d reports", d->left_out,
             POLICY_REPORT_BYTES >> 10, POLICY_PARTS_MAX);
    d->one.len = 0;
    policy_put_note("left-out", VERDICT_WARN, str_of(message), d->time_s, &d->one);
    add(d, VERDICT_WARN);
}

/* Results of a document, and how many there are of each kind. */
static void fill(const struct policy_parts *parts, size_t i, struct document *d)
{
    if (i == 0) d->counts[VERDICT_PASS] = parts->passes;
    if (i == 0 && parts->options.incomplete) {
        policy_put_incomplete(str_of(parts->options.incomplete), d->time_s, &d->one);
        add(d, VERDICT_ERROR);
    }
    d->left_out = parts->left_out;
    for (size_t n = 0; n < parts->shown_count; n++) add_output(parts, d, parts->shown[n]);
    add_left_out(d);
}

static void put(struct policy_parts *parts, size_t i, int64_t time_s, const char *content, struct buf *out)
{
    struct document d = {.time_s = time_s};
    parts_show(parts, i);
    fill(parts, i, &d);
    const struct policy_head head = {.ns = parts->options.ns,
                                     .name = parts->options.name,
                                     .part = i + 1,
                                     .instance = parts->options.instance,
                                     .content = content,
                                     .incomplete = parts->options.incomplete,
                                     .counts = d.counts};
    policy_put_document(parts->options.api, &head, buf_slice(&d.results), out);
    buf_clear(&d.results);
    buf_clear(&d.one);
}

void policy_parts_content(struct policy_parts *parts, size_t i, char *content)
{
    struct buf text = {0};
    put(parts, i, 0, NULL, &text);
    hash_lasting(buf_slice(&text), content);
    buf_clear(&text);
}

void policy_parts_put(struct policy_parts *parts, size_t i, int64_t time_s, const char *content,
                      struct buf *out)
{
    put(parts, i, time_s, content, out);
}

/* Documents of a namespace's report; see policy_parts.h. */
#include "audit/policy_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/findings.h"
#include "base/hash.h"
#include "base/mem.h"
#include "object/value.h"
#include "script/plan.h"
#include "script/script.h"

enum {
    RESULTS_BYTES = POLICY_REPORT_BYTES - POLICY_REST_BYTES,
    FILL_BYTES = RESULTS_BYTES / 4 * 3, /* that a document is planned for: escapes are not counted */
    RESULT_BYTES = 400,                 /* of a result without its texts */
};

/* What a rule says of an object, unless it is a pass. */
struct said {
    const struct asked_rule *asked;
    const struct root *object;
    const struct findings *findings;
    enum verdict verdict;
    uint64_t hash; /* of the object */
    size_t bytes;  /* about */
};

struct policy_parts {
    struct policy_parts_options options;
    struct said *items; /* by their documents */
    size_t used, cap;
    size_t passes;
    size_t count;                                               /* of documents */
    size_t first[POLICY_PARTS_MAX + 1], fits[POLICY_PARTS_MAX]; /* what is shown comes first */
};

/* --- rows */

static struct audit_rule rule_of(const struct asked_rule *asked)
{
    const struct script_rule *rule = asked->rule;
    const struct plan_entry *place = script_rule_place(asked->script, asked->number);
    return (struct audit_rule){.id = rule->id,
                               .title = rule->title,
                               .category = rule->category,
                               .file = place && place->file ? place->file : script_path(asked->script),
                               .severity = rule->severity};
}

/* Each thing that was said. Of what had no room in memory the verdict alone is known. */
static bool next_row(const struct said *said, size_t *at, bool *begun, struct audit_row *row)
{
    struct rule_finding finding;
    bool accepted, first = !*begun;
    *begun = true;
    if (findings_next(said->findings, at, &finding, &accepted)) {
        *row = (struct audit_row){.verdict = finding.verdict,
                                  .message = finding.message,
                                  .path = finding.path,
                                  .value = finding.value,
                                  .accepted = accepted};
        return true;
    }
    *row = (struct audit_row){.verdict = said->verdict};
    return first && !said->findings;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t bytes_of(const struct said *said)
{
    struct audit_row row;
    size_t bytes = 0, at = 0;
    bool begun = false;
    while (next_row(said, &at, &begun, &row))
        if (policy_has_result(&row))
            bytes += RESULT_BYTES + least(row.message.n, POLICY_MESSAGE_BYTES) +
                     least(row.path.n, POLICY_MESSAGE_BYTES) +
                     (row.value.n <= POLICY_MESSAGE_BYTES ? row.value.n : 0);
    return bytes;
}

/* The same in each process: what an earlier one wrote is to be the same again. */
static uint64_t hash_of(const struct root *object)
{
    struct text text;
    struct buf key = {0};
    char hex[POLICY_CONTENT_SIZE];
    buf_str(&key, value_str(value_field(root_value(object), STR("kind")), &text));
    buf_putc(&key, '/');
    root_key(object, &key);
    hash_lasting(buf_slice(&key), hex);
    buf_clear(&key);
    hex[16] = '\0';
    return strtoull(hex, NULL, 16);
}

static void on_result(void *ctx, const struct continuous_result *result)
{
    struct policy_parts *parts = ctx;
    struct said said = {.asked = result->asked,
                        .object = result->object,
                        .findings = result->findings,
                        .verdict = result->verdict};
    parts->passes += result->verdict == VERDICT_PASS;
    said.bytes = result->verdict == VERDICT_PASS ? 0 : bytes_of(&said);
    if (said.bytes || said.verdict == VERDICT_PASS) parts->count = 1;
    if (!said.bytes) return;
    said.hash = hash_of(result->object);
    if (parts->used == parts->cap) {
        parts->cap = parts->cap ? parts->cap * 2 : 64;
        parts->items = xrealloc(parts->items, parts->cap * sizeof *parts->items);
    }
    parts->items[parts->used++] = said;
}

/* --- into documents */

static size_t fullest(const struct policy_parts *parts, size_t count)
{
    size_t bytes[POLICY_PARTS_MAX] = {0}, most = 0;
    for (size_t i = 0; i < parts->used; i++)
        bytes[parts->items[i].hash & (count - 1)] += parts->items[i].bytes;
    for (size_t i = 0; i < count; i++)
        if (bytes[i] > most) most = bytes[i];
    return most;
}

/* The least power of two that will do. One that was enough before stays until half as many are half empty:
 * each time all documents are written anew. */
static size_t count_of(const struct policy_parts *parts)
{
    size_t count = 1, before = 1;
    while (before < parts->options.before && before < POLICY_PARTS_MAX) before *= 2;
    while (count < POLICY_PARTS_MAX && fullest(parts, count) > FILL_BYTES) count *= 2;
    if (count < before && fullest(parts, before / 2) > FILL_BYTES / 2) count = before;
    return count;
}

static int by_part(const void *pa, const void *pb, void *ctx)
{
    const struct said *a = pa, *b = pb;
    uint64_t mask = *(const size_t *)ctx - 1, pa_number = a->hash & mask, pb_number = b->hash & mask;
    if (pa_number != pb_number) return pa_number < pb_number ? -1 : 1;
    if (a->asked != b->asked) {
        enum severity sa = a->asked->rule->severity, sb = b->asked->rule->severity;
        if (sa != sb) return sa > sb ? -1 : 1;
        int order = strcmp(a->asked->rule->id, b->asked->rule->id);
        if (order) return order;
    }
    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static struct str kind_of(const struct said *said, struct text *text)
{
    return value_str(value_field(root_value(said->object), STR("kind")), text);
}

/* As people look for it; of those alone that are shown, as names take longer to compare. */
static int by_name(const void *pa, const void *pb)
{
    const struct said *a = pa, *b = pb;
    struct text ta, tb;
    enum severity sa = a->asked->rule->severity, sb = b->asked->rule->severity;
    if (sa != sb) return sa > sb ? -1 : 1;
    int order = a->asked == b->asked ? 0 : strcmp(a->asked->rule->id, b->asked->rule->id);
    if (!order) order = str_cmp(kind_of(a, &ta), kind_of(b, &tb));
    if (!order) order = str_cmp(root_name(a->object, &ta), root_name(b->object, &tb));
    return order;
}

static void divide(struct policy_parts *parts)
{
    size_t count = parts->count = count_of(parts), at = 0;
    if (parts->used) qsort_r(parts->items, parts->used, sizeof *parts->items, by_part, &count);
    for (size_t i = 0; i < count; i++) {
        size_t bytes = 0;
        parts->first[i] = at;
        for (; at < parts->used && (parts->items[at].hash & (count - 1)) == i; at++) {
            bytes += parts->items[at].bytes;
            if (bytes <= RESULTS_BYTES) parts->fits[i] = at - parts->first[i] + 1;
        }
        if (parts->fits[i] == 0 && at > parts->first[i]) parts->fits[i] = 1; /* in part */
        if (parts->fits[i] > 1)
            qsort(parts->items + parts->first[i], parts->fits[i], sizeof *parts->items, by_name);
    }
    parts->first[count] = at;
}

/* --- documents */

struct document {
    struct buf results, one;
    size_t counts[VERDICTS], left_out;
    int64_t time_s;
};

static void add(struct document *d, enum verdict verdict)
{
    if (d->results.len) buf_putc(&d->results, ',');
    buf_str(&d->results, buf_slice(&d->one));
    d->counts[verdict]++;
}

static void add_said(const struct policy_parts *parts, struct document *d, const struct said *said, bool fits)
{
    const struct audit_rule rule = rule_of(said->asked);
    struct value value = root_value(said->object);
    struct text version, kind, ns, name, uid;
    const struct audit_object object = {.api_version =
                                            value_str(value_field(value, STR("apiVersion")), &version),
                                        .kind = value_str(value_field(value, STR("kind")), &kind),
                                        .ns = root_namespace(said->object, &ns),
                                        .name = root_name(said->object, &name),
                                        .uid = root_uid(said->object, &uid)};
    struct audit_row row;
    size_t at = 0;
    bool begun = false;
    while (next_row(said, &at, &begun, &row)) {
        if (!policy_has_result(&row)) continue;
        d->one.len = 0;
        if (fits && !d->left_out)
            policy_put_result(parts->options.api, &rule, &object, &row, d->time_s, &d->one);
        if (fits && !d->left_out && d->results.len + d->one.len <= RESULTS_BYTES)
            add(d, row.verdict);
        else
            d->left_out++;
    }
}

static void add_left_out(struct document *d)
{
    char message[160];
    if (!d->left_out) return;
    snprintf(message, sizeof message,
             "%zu more results are not listed: a report takes %d KiB at most, and a namespace %d reports",
             d->left_out, POLICY_REPORT_BYTES >> 10, POLICY_PARTS_MAX);
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
    for (size_t at = parts->first[i]; at < parts->first[i + 1]; at++)
        add_said(parts, d, &parts->items[at], at - parts->first[i] < parts->fits[i]);
    add_left_out(d);
}

static void put(const struct policy_parts *parts, size_t i, int64_t time_s, const char *content,
                struct buf *out)
{
    struct document d = {.time_s = time_s};
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

void policy_parts_content(const struct policy_parts *parts, size_t i, char *content)
{
    struct buf text = {0};
    put(parts, i, 0, NULL, &text);
    hash_lasting(buf_slice(&text), content);
    buf_clear(&text);
}

void policy_parts_put(const struct policy_parts *parts, size_t i, int64_t time_s, const char *content,
                      struct buf *out)
{
    put(parts, i, time_s, content, out);
}

/* --- all of them */

struct policy_parts *policy_parts_new(const struct policy_parts_options *options)
{
    struct policy_parts *parts = NEW(struct policy_parts);
    parts->options = *options;
    options->each(options->ctx, options->ns, on_result, parts);
    if (parts->count) divide(parts);
    return parts;
}

void policy_parts_free(struct policy_parts *parts)
{
    free(parts->items);
    free(parts);
}

size_t policy_parts_count(const struct policy_parts *parts)
{
    return parts->count;
}

/* Gathers results of a namespace, and keeps those that its documents may show; see
 * policy_parts_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "audit/found/findings.h"
#include "audit/policy/policy_parts_internal.h"
#include "base/array.h"
#include "script/generation/script.h"
#include "script/inventory/inventory.h"

/* --- rows */

/* Each thing that was said. Of what had no room in memory the verdict alone is known. */
static bool next_row(const struct rule_output *output, size_t *at, bool *begun, struct audit_row *row)
{
    struct rule_finding finding;
    bool accepted, first = !*begun;
    *begun = true;
    if (findings_next(output->findings, at, &finding, &accepted)) {
        *row = (struct audit_row){.verdict = finding.verdict,
                                  .message = finding.message,
                                  .path = finding.path,
                                  .value = finding.value,
                                  .reason = finding.reason,
                                  .accepted = accepted};
        return true;
    }
    *row = (struct audit_row){.verdict = output->verdict};
    return first && !output->findings;
}

bool rule_output_next_row(const struct rule_output *output, size_t *at, bool *begun, struct audit_row *row)
{
    while (next_row(output, at, begun, row))
        if (policy_has_result(row)) return true;
    return false;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void measure(struct rule_output *output)
{
    struct audit_row row;
    size_t at = 0;
    bool begun = false;
    while (rule_output_next_row(output, &at, &begun, &row)) {
        output->results++;
        output->bytes += RESULT_BYTES + least(row.message.n + row.reason.n, POLICY_MESSAGE_BYTES) +
                         least(row.path.n, POLICY_MESSAGE_BYTES) +
                         (row.value.n <= POLICY_MESSAGE_BYTES ? row.value.n : 0);
    }
}

/* FNV-1a: the same in each process, as what an earlier one wrote is to be the same again. */
static uint64_t hash_of(struct policy_parts *parts, const struct root *object)
{
    struct text text;
    struct buf *key = &parts->scratch;
    uint64_t hash = 0xcbf29ce484222325;
    key->len = 0;
    buf_str(key, value_str(value_field(root_value(object), STR("kind")), &text));
    buf_putc(key, '/');
    root_key(object, key);
    for (size_t i = 0; i < key->len; i++) hash = (hash ^ (unsigned char)key->data[i]) * 0x100000001b3;
    return hash ^ hash >> 32;
}

/* --- rules */

static const struct audit_rule *keep_rule(struct policy_parts *parts, const struct rule_ref *ref)
{
    const struct script_rule *rule = ref->rule;
    for (size_t i = 0; i < parts->rule_count; i++)
        if (strcmp(parts->rules[i]->id, rule->id) == 0) return parts->rules[i];
    const struct inventory_entry *place = script_rule_place(ref->script, ref->number);
    struct audit_rule *copy = NEW(struct audit_rule);
    copy->id = xstrdup(rule->id);
    copy->title = xstrdup(rule->title);
    copy->category = xstrdup(rule->category);
    copy->file = xstrdup(place && place->file ? place->file : script_path(ref->script));
    copy->severity = rule->severity;
    return *array_add(parts->rules, parts->rule_count) = copy;
}

static void free_rule(struct audit_rule *rule)
{
    free((char *)rule->id);
    free((char *)rule->title);
    free((char *)rule->category);
    free((char *)rule->file);
    free(rule);
}

/* --- what there may be room for */

int rule_output_compare(const struct rule_output *a, const struct rule_output *b)
{
    if (a->rule != b->rule) {
        if (a->rule->severity != b->rule->severity) return a->rule->severity > b->rule->severity ? -1 : 1;
        return strcmp(a->rule->id, b->rule->id);
    }
    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static void swap(struct rule_output *a, struct rule_output *b)
{
    struct rule_output c = *a;
    *a = *b;
    *b = c;
}

static void push(struct bucket *bucket, const struct rule_output *output)
{
    size_t at = bucket->used;
    *array_add(bucket->items, bucket->used) = *output;
    bucket->bytes += output->bytes;
    for (; at; at = (at - 1) / 2) {
        struct rule_output *up = &bucket->items[(at - 1) / 2];
        if (rule_output_compare(&bucket->items[at], up) <= 0) return;
        swap(&bucket->items[at], up);
    }
}

static struct rule_output pop(struct bucket *bucket)
{
    struct rule_output first = bucket->items[0], *items = bucket->items;
    size_t at = 0, next;
    bucket->bytes -= first.bytes;
    items[0] = items[--bucket->used];
    while ((next = 2 * at + 1) < bucket->used) {
        if (next + 1 < bucket->used && rule_output_compare(&items[next + 1], &items[next]) > 0) next++;
        if (rule_output_compare(&items[next], &items[at]) <= 0) break;
        swap(&items[at], &items[next]);
        at = next;
    }
    return first;
}

static void drop(struct rule_output *output)
{
    root_unref(output->object);
    free(output->findings);
}

/* Returns whether the results that sort before it fill a document. */
static bool has_no_room(const struct bucket *bucket, const struct rule_output *output)
{
    return bucket->bytes >= RESULTS_BYTES && rule_output_compare(output, &bucket->items[0]) >= 0;
}

static struct findings *copy_findings(const struct findings *findings)
{
    size_t bytes = findings_bytes(findings);
    return bytes ? memcpy(xmalloc(bytes), findings, bytes) : NULL;
}

static void take_in(struct bucket *bucket, struct rule_output *output)
{
    bucket->all += output->bytes;
    if (has_no_room(bucket, output)) {
        bucket->left_out += output->results;
        return;
    }
    output->object = root_ref(output->object);
    output->findings = copy_findings(output->findings);
    push(bucket, output);
    while (bucket->bytes - bucket->items[0].bytes >= RESULTS_BYTES) {
        struct rule_output last = pop(bucket);
        bucket->left_out += last.results;
        drop(&last);
    }
}

void parts_take_in(void *ctx, const struct continuous_result *result)
{
    struct policy_parts *parts = ctx;
    struct rule_output output = {.object = result->object,
                                 .findings = (struct findings *)result->findings,
                                 .verdict = result->verdict};
    if (output.verdict == VERDICT_PASS) {
        parts->passes++;
        parts->count = 1;
        return;
    }
    measure(&output);
    if (!output.results) return;
    parts->count = 1;
    output.rule = keep_rule(parts, result->ref);
    output.hash = hash_of(parts, result->object);
    take_in(&parts->buckets[output.hash % POLICY_PARTS_MAX], &output);
}

void parts_forget(struct policy_parts *parts)
{
    for (size_t i = 0; i < POLICY_PARTS_MAX; i++) {
        for (size_t n = 0; n < parts->buckets[i].used; n++) drop(&parts->buckets[i].items[n]);
        free(parts->buckets[i].items);
    }
    for (size_t i = 0; i < parts->rule_count; i++) free_rule(parts->rules[i]);
    free(parts->rules);
}

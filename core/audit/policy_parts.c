/* Documents of a namespace's report; see policy_parts.h. */
#include "audit/policy_parts.h"

#include <stdlib.h>
#include <string.h>

#include "audit/findings.h"
#include "audit/policy_parts_internal.h"
#include "base/mem.h"
#include "object/value.h"
#include "script/plan.h"
#include "script/script.h"

/* --- rows */

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

bool said_next_row(const struct said *said, size_t *at, bool *begun, struct audit_row *row)
{
    while (next_row(said, at, begun, row))
        if (policy_has_result(row)) return true;
    return false;
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
    while (said_next_row(said, &at, &begun, &row))
        bytes += RESULT_BYTES + least(row.message.n, POLICY_MESSAGE_BYTES) +
                 least(row.path.n, POLICY_MESSAGE_BYTES) +
                 (row.value.n <= POLICY_MESSAGE_BYTES ? row.value.n : 0);
    return bytes;
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

static void on_result(void *ctx, const struct continuous_result *result)
{
    struct policy_parts *parts = ctx;
    struct said said = {.asked = result->asked,
                        .object = result->object,
                        .findings = (struct findings *)result->findings,
                        .verdict = result->verdict};
    parts->passes += result->verdict == VERDICT_PASS;
    said.bytes = result->verdict == VERDICT_PASS ? 0 : bytes_of(&said);
    if (said.bytes || said.verdict == VERDICT_PASS) parts->count = 1;
    if (!said.bytes) return;
    said.hash = hash_of(parts, result->object);
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

static size_t results_of(const struct said *said)
{
    struct audit_row row;
    size_t count = 0, at = 0;
    bool begun = false;
    while (said_next_row(said, &at, &begun, &row)) count++;
    return count;
}

/* Those of document `i`, which begin at `at`; gives their end. */
static size_t choose(struct policy_parts *parts, size_t i, size_t at)
{
    size_t bytes = 0, first = parts->first[i] = at;
    for (; at < parts->used && (parts->items[at].hash & (parts->count - 1)) == i; at++) {
        bytes += parts->items[at].bytes;
        if (bytes <= RESULTS_BYTES || at == first) /* one that is too large alone is shown in part */
            parts->fits[i] = at - first + 1;
        else
            parts->left_out[i] += results_of(&parts->items[at]);
    }
    if (parts->fits[i] > 1) qsort(parts->items + first, parts->fits[i], sizeof *parts->items, by_name);
    return at;
}

/* --- what is shown is kept */

static const struct audit_rule *keep_rule(struct policy_parts *parts, const struct asked_rule *asked)
{
    const struct script_rule *rule = asked->rule;
    for (size_t i = 0; i < parts->rule_count; i++)
        if (strcmp(parts->rules[i]->id, rule->id) == 0) return parts->rules[i];
    const struct plan_entry *place = script_rule_place(asked->script, asked->number);
    struct audit_rule *copy = NEW(struct audit_rule);
    copy->id = xstrdup(rule->id);
    copy->title = xstrdup(rule->title);
    copy->category = xstrdup(rule->category);
    copy->file = xstrdup(place && place->file ? place->file : script_path(asked->script));
    copy->severity = rule->severity;
    parts->rules = xrealloc(parts->rules, (parts->rule_count + 1) * sizeof *parts->rules);
    return parts->rules[parts->rule_count++] = copy;
}

static void free_rule(struct audit_rule *rule)
{
    free((char *)rule->id);
    free((char *)rule->title);
    free((char *)rule->category);
    free((char *)rule->file);
    free(rule);
}

static struct findings *copy_findings(const struct findings *findings)
{
    size_t bytes = findings_bytes(findings);
    return bytes ? memcpy(xmalloc(bytes), findings, bytes) : NULL;
}

static void keep(struct policy_parts *parts)
{
    size_t kept = 0;
    for (size_t i = 0; i < parts->count; i++) {
        for (size_t n = 0; n < parts->fits[i]; n++) {
            struct said said = parts->items[parts->first[i] + n];
            said.rule = keep_rule(parts, said.asked);
            said.asked = NULL;
            said.object = root_ref(said.object);
            said.findings = copy_findings(said.findings);
            parts->items[kept + n] = said;
        }
        parts->first[i] = kept;
        kept += parts->fits[i];
    }
    parts->used = kept;
}

static void divide(struct policy_parts *parts)
{
    size_t at = 0;
    parts->count = count_of(parts);
    if (parts->used) qsort_r(parts->items, parts->used, sizeof *parts->items, by_part, &parts->count);
    for (size_t i = 0; i < parts->count; i++) at = choose(parts, i, at);
}

/* --- all of them */

struct policy_parts *policy_parts_new(const struct policy_parts_options *options)
{
    struct policy_parts *parts = NEW(struct policy_parts);
    parts->options = *options;
    parts->options.incomplete = options->incomplete ? xstrdup(options->incomplete) : NULL;
    options->each(options->ctx, options->ns, on_result, parts);
    if (parts->count) divide(parts);
    keep(parts);
    return parts;
}

void policy_parts_free(struct policy_parts *parts)
{
    if (!parts) return;
    for (size_t i = 0; i < parts->used; i++) {
        root_unref(parts->items[i].object);
        free(parts->items[i].findings);
    }
    for (size_t i = 0; i < parts->rule_count; i++) free_rule(parts->rules[i]);
    buf_clear(&parts->scratch);
    free((char *)parts->options.incomplete);
    free(parts->rules);
    free(parts->items);
    free(parts);
}

size_t policy_parts_count(const struct policy_parts *parts)
{
    return parts->count;
}

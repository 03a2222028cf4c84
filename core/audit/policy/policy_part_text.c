/* A document of a namespace's report; see policy_parts_internal.h. */
#include <stdio.h>

#include "audit/policy/policy_parts_internal.h"
#include "base/hash.h"
#include "base/mem.h"

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

static void add_said(const struct policy_parts *parts, struct document *d, const struct said *said)
{
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
    while (said_next_row(said, &at, &begun, &row)) {
        d->one.len = 0;
        if (!d->full) policy_put_result(parts->options.api, said->rule, &object, &row, d->time_s, &d->one);
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
    d->left_out = parts->left_out;
    for (size_t n = 0; n < parts->shown_count; n++) add_said(parts, d, parts->shown[n]);
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

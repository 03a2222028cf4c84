/* The table of an audit; see table.h. */
#include "audit/found/table.h"

#include <stdlib.h>
#include <string.h>

#include "audit/found/texts.h"
#include "base/array.h"
#include "base/must.h"

struct audit_table {
    struct texts texts, of_rules;
    struct audit_rule *rules;
    size_t rule_count;
    struct audit_object *objects;
    size_t object_count;
    struct audit_row *rows;
    size_t row_count;
    const struct audit_object *now; /* the current object */
    uint32_t now_at;                /* its number in the table, if `now_kept` */
    bool now_stored, keep_passes;
    size_t audited, unmatched, elsewhere, foreign, evaluated;
};

#define IN(type, member) offsetof(struct type, member)

const size_t audit_rule_texts[] = {IN(audit_rule, id),  IN(audit_rule, title), IN(audit_rule, category),
                                   IN(audit_rule, why), IN(audit_rule, how),   IN(audit_rule, file)};
const size_t audit_object_texts[] = {IN(audit_object, api_version), IN(audit_object, kind),
                                     IN(audit_object, ns), IN(audit_object, name), IN(audit_object, uid)};
const size_t audit_row_texts[] = {IN(audit_row, message), IN(audit_row, path), IN(audit_row, place),
                                  IN(audit_row, value), IN(audit_row, reason)};

static void keep_texts(struct texts *texts, void *to, const void *from, const size_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *AUDIT_TEXT(to, struct str, places[i]) =
            texts_keep(texts, *AUDIT_TEXT(from, const struct str, places[i]));
}

struct audit_table *audit_table_new(bool keep_passes)
{
    struct audit_table *f = NEW(struct audit_table);
    f->keep_passes = keep_passes;
    return f;
}

bool audit_table_keeps_passes(const struct audit_table *f)
{
    return f->keep_passes;
}

void audit_table_free(struct audit_table *f)
{
    if (!f) return;
    texts_clear(&f->texts);
    texts_clear(&f->of_rules);
    free(f->rules);
    free(f->objects);
    free(f->rows);
    free(f);
}

uint32_t audit_table_add_rule(struct audit_table *f, const struct audit_rule *rule)
{
    struct audit_rule *kept = array_add(f->rules, f->rule_count);
    *kept = (struct audit_rule){.line = rule->line, .severity = rule->severity};
    for (size_t i = 0; i < RULE_TEXTS; i++) {
        const char *text = *AUDIT_TEXT(rule, const char *const, audit_rule_texts[i]);
        *AUDIT_TEXT(kept, const char *, audit_rule_texts[i]) = texts_keep(&f->of_rules, str_of(text)).p;
    }
    return (uint32_t)(f->rule_count - 1);
}

void audit_table_leave_out(struct audit_table *f, uint32_t rule, struct str reason)
{
    must(rule < f->rule_count);
    if (str_eq(f->rules[rule].not_evaluated, reason))
        return; /* each child of an engine reports the same reason */
    f->rules[rule].not_evaluated = texts_keep(&f->of_rules, reason);
}

size_t audit_table_rule_count(const struct audit_table *f)
{
    return f->rule_count;
}

const struct audit_rule *audit_table_rule(const struct audit_table *f, uint32_t rule)
{
    must(rule < f->rule_count);
    return &f->rules[rule];
}

void audit_table_begin_object(struct audit_table *f, const struct audit_object *object)
{
    f->now = object;
    f->now_stored = false;
    f->audited++;
}

void audit_table_resume_object(struct audit_table *f, uint32_t object)
{
    must(object < f->object_count);
    f->now_at = object;
    f->now_stored = true;
}

size_t audit_table_object_count(const struct audit_table *f)
{
    return f->object_count;
}

const struct audit_object *audit_table_object(const struct audit_table *f, uint32_t object)
{
    must(object < f->object_count);
    return &f->objects[object];
}

static uint32_t keep_object(struct audit_table *f)
{
    const struct audit_object *now = f->now;
    if (!f->now_stored) {
        struct audit_object *kept = array_add(f->objects, f->object_count);
        *kept = (struct audit_object){.file = texts_keep(&f->texts, now->file), .line = now->line};
        keep_texts(&f->texts, kept, now, audit_object_texts, OBJECT_TEXTS);
        f->now_at = (uint32_t)(f->object_count - 1);
        f->now_stored = true;
    }
    return f->now_at;
}

static struct audit_row *add_row(struct audit_table *f, uint32_t rule, enum verdict verdict)
{
    must((f->now || f->now_stored) && rule < f->rule_count);
    uint32_t object = keep_object(f);
    struct audit_row *row = array_add(f->rows, f->row_count);
    *row = (struct audit_row){.rule = rule, .object = object, .verdict = verdict};
    return row;
}

void audit_table_add(struct audit_table *f, const struct audit_row *row)
{
    bool is_empty = row->verdict == VERDICT_SKIP && !row->message.n && !f->keep_passes;
    if (row->verdict == VERDICT_PASS || is_empty) return;
    struct audit_row *kept = add_row(f, row->rule, row->verdict);
    keep_texts(&f->texts, kept, row, audit_row_texts, ROW_TEXTS);
    kept->fix = texts_keep(&f->texts, row->fix);
    kept->accepted = row->accepted;
}

void audit_table_set_fix(struct audit_table *f, size_t row, struct str fix, const char *type)
{
    must(row < f->row_count);
    f->rows[row].fix = texts_keep(&f->texts, fix);
    f->rows[row].fix_type = type;
}

void audit_table_set_place(struct audit_table *f, size_t row, struct str place)
{
    must(row < f->row_count);
    f->rows[row].place = texts_keep(&f->texts, place);
}

void audit_table_drop(struct audit_table *f, size_t first)
{
    must(first <= f->row_count);
    f->row_count = first;
}

void audit_table_count(struct audit_table *f, uint32_t rule, enum verdict verdict)
{
    must(rule < f->rule_count);
    if (verdict == VERDICT_PASS && f->keep_passes) add_row(f, rule, verdict);
    f->rules[rule].counts[verdict]++;
    f->evaluated++;
}

void audit_table_add_pass(struct audit_table *f, uint32_t rule)
{
    if (f->keep_passes) add_row(f, rule, VERDICT_PASS);
}

void audit_table_add_counts(struct audit_table *f, uint32_t rule, const size_t counts[VERDICTS])
{
    must(rule < f->rule_count);
    for (size_t v = 0; v < VERDICTS; v++) {
        f->rules[rule].counts[v] += counts[v];
        f->evaluated += counts[v];
    }
}

void audit_table_add_seen(struct audit_table *f, size_t objects)
{
    f->audited += objects;
}

void audit_table_set_unmatched(struct audit_table *f, size_t objects)
{
    f->unmatched = objects;
}

void audit_table_set_other_namespaces(struct audit_table *f, size_t objects)
{
    f->elsewhere = objects;
}

void audit_table_set_not_objects(struct audit_table *f, size_t count)
{
    f->foreign = count;
}

void audit_table_forget(struct audit_table *f)
{
    texts_clear(&f->texts);
    f->object_count = f->row_count = 0;
    f->audited = f->evaluated = 0;
    f->now = NULL;
    f->now_stored = false;
    for (size_t i = 0; i < f->rule_count; i++) {
        memset(f->rules[i].counts, 0, sizeof f->rules[i].counts);
        f->rules[i].known = 0;
    }
}

size_t audit_table_count_rows(const struct audit_table *f)
{
    return f->row_count;
}

const struct audit_row *audit_table_row(const struct audit_table *f, size_t i)
{
    must(i < f->row_count);
    return &f->rows[i];
}

/* --- hidden findings */

static bool is_finding(const struct audit_row *row)
{
    return row->verdict == VERDICT_WARN || row->verdict == VERDICT_FAIL;
}

/* Returns the end of the group of rows that begins there: rows of one rule and one object are adjacent. */
static size_t end_of_group(const struct audit_table *f, size_t first)
{
    size_t end = first;
    while (end < f->row_count && f->rows[end].rule == f->rows[first].rule &&
           f->rows[end].object == f->rows[first].object)
        end++;
    return end;
}

enum verdict audit_table_worst(const struct audit_table *f, size_t first, size_t end)
{
    enum verdict verdict = VERDICT_PASS;
    must(end <= f->row_count);
    for (size_t i = first; i < end; i++)
        if (f->rows[i].verdict > verdict) verdict = f->rows[i].verdict;
    return verdict;
}

void audit_table_hide(struct audit_table *f,
                      bool (*is_known)(void *ctx, const struct audit_rule *rule,
                                       const struct audit_object *object, const struct audit_row *row),
                      void *ctx)
{
    size_t kept = 0;
    for (size_t first = 0, end; first < f->row_count; first = end) {
        end = end_of_group(f, first);
        struct audit_rule *rule = &f->rules[f->rows[first].rule];
        const struct audit_object *object = &f->objects[f->rows[first].object];
        size_t begin = kept;
        enum verdict before = audit_table_worst(f, first, end);
        for (size_t i = first; i < end; i++)
            if (!is_finding(&f->rows[i]) || !is_known(ctx, rule, object, &f->rows[i]))
                f->rows[kept++] = f->rows[i];
        size_t hidden = end - first - (kept - begin);
        if (hidden == 0) continue;
        rule->known += hidden;
        rule->counts[before]--;
        if (kept > begin) rule->counts[audit_table_worst(f, begin, kept)]++;
    }
    f->row_count = kept;
}

/* --- order of rows */

static int compare(const void *pa, const void *pb, void *ctx)
{
    const struct audit_table *f = ctx;
    const struct audit_row *a = pa, *b = pb;
    const struct audit_rule *ra = &f->rules[a->rule], *rb = &f->rules[b->rule];
    const struct audit_object *oa = &f->objects[a->object], *ob = &f->objects[b->object];
    int order = (int)rb->severity - (int)ra->severity;
    if (!order) order = strcmp(ra->id, rb->id);
    if (!order) order = str_cmp_natural(oa->ns, ob->ns);
    if (!order) order = str_cmp_natural(oa->kind, ob->kind);
    if (!order) order = str_cmp_natural(oa->name, ob->name);
    if (!order) order = a->object < b->object ? -1 : a->object > b->object;
    if (!order) order = str_cmp_natural(a->path, b->path);
    return order ? order : str_cmp_natural(a->message, b->message);
}

void audit_table_sort(struct audit_table *f)
{
    if (f->row_count) qsort_r(f->rows, f->row_count, sizeof *f->rows, compare, f);
}

struct audit_totals audit_table_totals(const struct audit_table *f)
{
    struct audit_totals totals = {.audited = f->audited,
                                  .unmatched = f->unmatched,
                                  .elsewhere = f->elsewhere,
                                  .foreign = f->foreign,
                                  .evaluated = f->evaluated};
    for (size_t i = 0; i < f->rule_count; i++) {
        const struct audit_rule *rule = &f->rules[i];
        totals.known += rule->known;
        for (size_t v = 0; v < VERDICTS; v++) totals.verdicts[v] += rule->counts[v];
    }
    for (size_t i = 0; i < f->row_count; i++) {
        enum severity severity = f->rules[f->rows[i].rule].severity;
        totals.rows[f->rows[i].verdict]++;
        if (is_finding(&f->rows[i])) totals.severities[severity]++;
        if (f->rows[i].accepted) totals.suppressed[severity]++;
    }
    return totals;
}

void audit_row_put_message(struct buf *out, const struct audit_row *row)
{
    buf_str(out, row->message);
    if (row->reason.n) buf_printf(out, row->message.n ? " (%.*s)" : "%.*s", STR_ARG(row->reason));
}

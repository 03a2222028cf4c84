/* One rule asked about one object: the rows of what it says, the fix of a failure, and the object packed
 * again where it lacks what the rule reads; see auditor_internal.h. */
#include <string.h>

#include "audit/fix/fixer.h"
#include "audit/found/finding_key.h"
#include "audit/rules/auditor_internal.h"
#include "object/value/value.h"

struct rule_evaluation {
    struct auditor *auditor;
    uint32_t rule;
    struct root *object;
    struct fields *fields; /* of its type */
    bool is_partial;       /* the object has these alone */
    bool lacks_names;      /* its findings have no places yet */
    bool has_missed;
    bool has_row;
    size_t first_row; /* of this rule and object */
};

/* Names in lists are what findings are known by, whether rules read them or not. */
static struct str place_in(struct rule_evaluation *evaluation, struct str path)
{
    struct buf *place = &evaluation->auditor->place;
    place->len = 0;
    if (!path.n || !memchr(path.p, '[', path.n)) return STR("");
    if (evaluation->is_partial && !fields_have(evaluation->fields, STR("name"))) {
        evaluation->lacks_names = true;
        return STR("");
    }
    return finding_place(root_value(evaluation->object), path, place) ? buf_slice(place) : STR("");
}

static void add_row(struct rule_evaluation *evaluation, const struct rule_finding *finding, bool accepted)
{
    struct audit_table *table = evaluation->auditor->options.table;
    const struct audit_row row = {.rule = evaluation->rule,
                                  .verdict = finding->verdict,
                                  .message = finding->message,
                                  .path = finding->path,
                                  .place = place_in(evaluation, finding->path),
                                  .value = finding->value,
                                  .reason = finding->reason,
                                  .accepted = accepted};
    if (!evaluation->has_row) evaluation->first_row = audit_table_count_rows(table);
    evaluation->has_row = true;
    audit_table_add(table, &row);
}

static void on_found(void *ctx, const struct rule_finding *finding, bool accepted)
{
    add_row(ctx, finding, accepted);
}

/* Appends what the rule's `fix` makes of the object to its first finding. */
static bool add_own_fix(struct rule_evaluation *evaluation, struct err *err)
{
    struct auditor *auditor = evaluation->auditor;
    const struct rule_ref *ref = &auditor->rules[evaluation->rule];
    auditor->fix.len = 0;
    if (!script_fix_by_rule(ref->script, ref->number, evaluation->object, &auditor->fix, err)) return false;
    if (auditor->fix.len)
        audit_table_set_fix(auditor->options.table, evaluation->first_row, buf_slice(&auditor->fix), NULL);
    return true;
}

/* A fix that fails is an error of the rule. */
static enum verdict add_fix(struct rule_evaluation *evaluation)
{
    const struct auditor *auditor = evaluation->auditor;
    const struct rule_ref *ref = &auditor->rules[evaluation->rule];
    struct err err;
    struct text text;
    bool ok = true;
    /* A fix needs the name of its object; an object without one gets none. */
    if (auditor->options.fixer && root_name(evaluation->object, &text).n == 0) return VERDICT_FAIL;
    if (auditor->options.fixer)
        ok = fixer_add(
            auditor->options.fixer,
            &(const struct fixer_failure){ref->script, ref->number, evaluation->rule, evaluation->first_row},
            &err);
    else if (auditor->options.fixes && ref->rule->has_fix)
        ok = add_own_fix(evaluation, &err);
    if (ok) return VERDICT_FAIL;
    add_row(evaluation, &(const struct rule_finding){.verdict = VERDICT_ERROR, .message = str_of(err.text)},
            false);
    return VERDICT_ERROR;
}

static void on_missed(void *ctx, struct str name, bool whole)
{
    struct rule_evaluation *evaluation = ctx;
    evaluation->has_missed = true;
    fields_add(evaluation->fields, name, whole);
}

/* Packed again with all that rules were found to read. False: it cannot be, which no input should make true.
 */
static bool pack_again(struct packed *packed)
{
    packed->projection = fields_projection(packed->fields);
    struct root *again = packed->subject->again(packed->subject->ctx, packed->projection);
    if (!again) return false;
    root_unref(packed->own);
    packed->object = packed->own = again;
    return true;
}

static bool is_rule(void *ctx, struct str id)
{
    const struct auditor *auditor = ctx;
    for (size_t i = 0; i < auditor->count; i++)
        if (str_is(id, auditor->rules[i].rule->id)) return true;
    return false;
}

static enum verdict evaluate_once(struct rule_evaluation *evaluation, const struct packed *packed)
{
    struct auditor *auditor = evaluation->auditor;
    const struct rule_ref *ref = &auditor->rules[evaluation->rule];
    const struct evaluation_sink sink = {.found = on_found,
                                         .ctx = evaluation,
                                         .projection =
                                             packed->projection ? projection_names(packed->projection) : NULL,
                                         .missed = on_missed};
    const struct evaluation_options options = {packed->object,    auditor->options.now_s,
                                               &auditor->message, is_rule,
                                               auditor,           &auditor->options.limits};
    *evaluation = (struct rule_evaluation){.auditor = auditor,
                                           .rule = evaluation->rule,
                                           .object = packed->object,
                                           .fields = packed->fields,
                                           .is_partial = packed->projection != NULL};
    return rule_evaluate(ref, &options, &sink).verdict;
}

/* The verdict, once the rule has seen all that it looked for. False: there is none, as the object turned out
 * to be malformed. */
static bool evaluate_until_packed(struct rule_evaluation *evaluation, struct packed *packed,
                                  enum verdict *verdict)
{
    struct audit_table *table = evaluation->auditor->options.table;
    size_t rows = audit_table_count_rows(table);
    for (;;) {
        *verdict = evaluate_once(evaluation, packed);
        if (!evaluation->has_missed) return true;
        audit_table_drop(table, rows);
        if (!pack_again(packed)) return false;
    }
}

/* From now on objects of the type have names; this one is packed once more for them. */
static bool add_places(struct rule_evaluation *evaluation, struct packed *packed)
{
    struct audit_table *table = evaluation->auditor->options.table;
    fields_expect(evaluation->fields, STR("name"), false);
    if (!pack_again(packed)) return false;
    evaluation->object = packed->object;
    for (size_t i = evaluation->first_row; i < audit_table_count_rows(table); i++)
        audit_table_set_place(table, i, place_in(evaluation, audit_table_row(table, i)->path));
    return true;
}

bool auditor_evaluate(struct auditor *auditor, uint32_t number, struct packed *packed)
{
    struct rule_evaluation evaluation = {.auditor = auditor, .rule = number};
    enum verdict verdict;
    if (!evaluate_until_packed(&evaluation, packed, &verdict)) return false;
    if (evaluation.lacks_names && !add_places(&evaluation, packed)) return false;
    if (verdict == VERDICT_FAIL) verdict = add_fix(&evaluation);
    audit_table_count(auditor->options.table, number, verdict);
    return true;
}

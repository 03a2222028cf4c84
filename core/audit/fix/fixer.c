/* Fixes, one after the other; see fixer.h. */
#include "audit/fix/fixer.h"

#include <stdlib.h>
#include <string.h>

#include "audit/fix/fixer_values.h"
#include "audit/fix/strategic.h"
#include "base/array.h"
#include "base/text/terminal.h"
#include "object/value/merge.h"

struct mended {
    struct fixer_failure failure;
    size_t end_row;
};

struct fixer {
    struct fixer_options options;
    struct packer *packer;
    struct root *object, *now; /* as it was, borrowed; as the fixes leave it, a reference */
    struct mended *rules;      /* whose patches are in `now` */
    size_t count;
    bool has_step; /* something is to be done for this object */
    struct buf json, text;
};

/* --- start and stop */

struct fixer *fixer_new(const struct fixer_options *options)
{
    struct fixer *fixer = NEW(struct fixer);
    fixer->options = *options;
    fixer->packer = packer_new(options->pool);
    return fixer;
}

void fixer_free(struct fixer *fixer)
{
    if (!fixer) return;
    root_unref(fixer->now);
    packer_free(fixer->packer);
    buf_clear(&fixer->json);
    buf_clear(&fixer->text);
    free(fixer->rules);
    free(fixer);
}

void fixer_begin(struct fixer *fixer, struct root *object)
{
    fixer->object = object;
    fixer->now = root_ref(object);
    fixer->count = 0;
    fixer->has_step = false;
}

/* --- what was found */

static const char *rule_id(const struct fixer_failure *failure)
{
    return script_rule(failure->script, failure->number)->id;
}

/* Of the rows of a rule and an object one after the other, behind begin_rows. */
static bool is_new(const struct fixer *fixer, const struct audit_row *row)
{
    const struct fixer_options *options = &fixer->options;
    return row->verdict == VERDICT_FAIL &&
           !(options->known && baseline_takes(options->known, audit_table_rule(options->table, row->rule),
                                              audit_table_object(options->table, row->object), row));
}

static void begin_rows(const struct fixer *fixer)
{
    if (fixer->options.known) baseline_begin(fixer->options.known);
}

static size_t count_new(const struct fixer *fixer, const struct fixer_failure *failure)
{
    size_t count = 0, end = audit_table_count_rows(fixer->options.table);
    begin_rows(fixer);
    for (size_t i = failure->first_row; i < end; i++)
        count += is_new(fixer, audit_table_row(fixer->options.table, i));
    return count;
}

static void put_reason(struct buf *out, struct root *object, const char *what, const char *rule,
                       struct str message)
{
    struct value whole = root_value(object);
    struct text texts[3];
    struct str ns = root_namespace(object, &texts[0]);
    buf_puts(out, "# ");
    terminal_put(out, ns);
    if (ns.n) buf_putc(out, '/');
    terminal_put(out, root_name(object, &texts[1]));
    buf_putc(out, ' ');
    terminal_put(out, value_str(value_field(whole, STR("kind")), &texts[2]));
    buf_printf(out, ": %s", what);
    terminal_put(out, str_of(rule));
    if (message.n) buf_puts(out, ": ");
    terminal_put(out, message);
    buf_putc(out, '\n');
}

static void put_reasons(struct fixer *fixer, const struct fixer_failure *failure, size_t end)
{
    begin_rows(fixer);
    for (size_t i = failure->first_row; i < end; i++) {
        const struct audit_row *row = audit_table_row(fixer->options.table, i);
        if (is_new(fixer, row)) put_reason(&fixer->text, fixer->object, "", rule_id(failure), row->message);
    }
}

/* --- evaluating the rule again */

static void drop(void *ctx, const struct rule_finding *finding) {}

/* A fix before this one may have fixed the finding too: a fix that adds to a list would add twice. */
static bool is_mended(const struct fixer *fixer, const struct fixer_failure *failure)
{
    return fixer->now != fixer->object &&
           script_evaluate_rule(failure->script, failure->number, fixer->now,
                                &(const struct rule_sink){.found = drop}) < VERDICT_WARN;
}

struct again {
    struct fixer *fixer;
    const char *rule;
};

static void put_still(void *ctx, const struct rule_finding *finding)
{
    const struct again *again = ctx;
    if (finding->verdict < VERDICT_FAIL) return;
    put_reason(&again->fixer->text, again->fixer->object, "still fails: ", again->rule, finding->message);
}

static void evaluate_again(struct fixer *fixer, const struct fixer_failure *failure)
{
    struct again again = {fixer, rule_id(failure)};
    enum verdict verdict = script_evaluate_rule(failure->script, failure->number, fixer->now,
                                                &(const struct rule_sink){.found = put_still, .ctx = &again});
    fixer->options.fixes->still += verdict >= VERDICT_FAIL;
}

/* --- steps */

static void note_step(struct fixer *fixer)
{
    fixer->options.fixes->objects += !fixer->has_step;
    fixer->has_step = true;
}

static bool refuse_other(struct audit_fix *fix, const struct audit_fix *other, struct err *err)
{
    err_set(err, ERR_INVALID, "%s %s%s%s conflicts with the fix of %s", fix->kind, fix->ns,
            *fix->ns ? "/" : "", fix->name, other->rules);
    audit_fix_clear(fix);
    return false;
}

/* Several objects may want the same manifest, as one for their namespace. Two for one object would undo each
 * other. */
static bool add_manifest(struct fixer *fixer, const struct fixer_failure *failure, struct value manifest,
                         struct err *err)
{
    struct audit_fixes *fixes = fixer->options.fixes;
    struct audit_fix fix = {0};
    fixer->text.len = 0;
    put_reasons(fixer, failure, audit_table_count_rows(fixer->options.table));
    fix_manifest(fixer->packer, &fix, manifest, fixer->object, fixer->options.catalogue);
    struct audit_fix *same = audit_fixes_find_manifest(fixes, &fix);
    if (same && strcmp(same->json, fix.json) != 0) return refuse_other(&fix, same, err);
    audit_table_set_fix(fixer->options.table, failure->first_row, str_of(fix.json), audit_fix_type(&fix));
    note_step(fixer);
    if (same) {
        audit_fix_add_reasons(same, buf_slice(&fixer->text));
        audit_fix_add_rule(same, rule_id(failure));
        audit_fix_clear(&fix);
        return true;
    }
    audit_fix_add_reasons(&fix, buf_slice(&fixer->text));
    audit_fix_add_rule(&fix, rule_id(failure));
    audit_fixes_add(fixes, &fix);
    return true;
}

static void add_patch(struct fixer *fixer, bool is_strategic)
{
    struct audit_fix fix = {.is_strategic = is_strategic};
    fixer->text.len = 0;
    for (size_t i = 0; i < fixer->count; i++) {
        put_reasons(fixer, &fixer->rules[i].failure, fixer->rules[i].end_row);
        audit_fix_add_rule(&fix, rule_id(&fixer->rules[i].failure));
    }
    for (size_t i = 0; i < fixer->count; i++) evaluate_again(fixer, &fixer->rules[i].failure);
    audit_fix_add_reasons(&fix, buf_slice(&fixer->text));
    fix.json = xstrndup(fixer->json.data, fixer->json.len);
    fix_name(&fix, root_value(fixer->object), fixer->options.catalogue);
    audit_table_set_fix(fixer->options.table, fixer->rules[0].failure.first_row, buf_slice(&fixer->json),
                        audit_fix_type(&fix));
    audit_fixes_add(fixer->options.fixes, &fix);
    note_step(fixer);
}

void fixer_end(struct fixer *fixer)
{
    fixer->json.len = 0;
    struct value from = root_value(fixer->object), to = root_value(fixer->now);
    bool is_strategic = fixer->count && strategic_diff(&fixer->json, from, to);
    if (is_strategic || (fixer->count && merge_diff(&fixer->json, from, to))) add_patch(fixer, is_strategic);
    root_unref(fixer->now);
    fixer->now = fixer->object = NULL;
}

/* --- a fix */

static void note_mended(struct fixer *fixer, const struct fixer_failure *failure)
{
    *array_add(fixer->rules, fixer->count) =
        (struct mended){*failure, audit_table_count_rows(fixer->options.table)};
}

/* `*mended`: something differs. */
static bool take_patch(struct fixer *fixer, struct value patch, bool *mended, struct err *err)
{
    struct root *next;
    fixer->text.len = 0;
    merge_write(&fixer->text, root_value(fixer->now), patch);
    if (!fix_pack(fixer->packer, &fixer->text, &next, err)) return false;
    if (!fix_is_same_object(root_value(next), root_value(fixer->now))) {
        root_unref(next);
        return err_set(err, ERR_INVALID, "must not change apiVersion, kind, namespace or name");
    }
    *mended = !value_equal(root_value(next), root_value(fixer->now));
    root_unref(fixer->now);
    fixer->now = next;
    return true;
}

/* Takes the value that the rule returned. The value stands in a wrapper of ours, as a patch is not an
 * object. */
static bool take(struct fixer *fixer, const struct fixer_failure *failure, struct value given, bool *mended,
                 struct err *err)
{
    if (value_type(given) != VALUE_MAP)
        return err_set(err, ERR_INVALID, "expected a merge patch or a manifest, not a list");
    if (fix_is_manifest(given) && !fix_is_same_object(given, root_value(fixer->object))) {
        *mended = add_manifest(fixer, failure, given, err);
        return *mended;
    }
    if (!take_patch(fixer, given, mended, err)) return false;
    if (*mended) note_mended(fixer, failure);
    return true;
}

static bool add_rule_fix(struct fixer *fixer, const struct fixer_failure *failure, bool *mended,
                         struct err *err)
{
    struct root *wrapped;
    fixer->json.len = 0;
    buf_puts(&fixer->json, "{\"fix\":");
    size_t before = fixer->json.len;
    if (!script_fix_by_rule(failure->script, failure->number, fixer->now, &fixer->json, err)) return false;
    if (fixer->json.len == before) return true;
    buf_putc(&fixer->json, '}');
    bool ok = fix_pack(fixer->packer, &fixer->json, &wrapped, err);
    if (ok) {
        ok = take(fixer, failure, value_field(root_value(wrapped), STR("fix")), mended, err);
        root_unref(wrapped);
    }
    return ok || err_wrap(err, "the fix of %s", rule_id(failure));
}

bool fixer_add(struct fixer *fixer, const struct fixer_failure *failure, struct err *err)
{
    size_t count = count_new(fixer, failure);
    bool mended = false, ok = true;
    if (count == 0) return true;
    if (is_mended(fixer, failure)) {
        note_mended(fixer, failure);
        mended = true;
    } else if (script_rule(failure->script, failure->number)->has_fix) {
        ok = add_rule_fix(fixer, failure, &mended, err);
    }
    if (mended)
        fixer->options.fixes->with += count;
    else
        fixer->options.fixes->without += count;
    return ok;
}

/* Evaluates rules over objects and collects their findings; see auditor.h. */
#include "audit/rules/auditor.h"

#include <stdlib.h>
#include <string.h>

#include "audit/fix/fixer.h"
#include "audit/rules/auditor_internal.h"
#include "audit/rules/suppression.h"
#include "base/array.h"
#include "base/must.h"
#include "object/value/selector.h"
#include "object/value/value.h"
#include "script/inventory/inventory.h"

/* --- start and stop */

static const char *place_of(const struct rule_ref *ref, int *line)
{
    const struct inventory_entry *entry = script_rule_place(ref->script, ref->number);
    *line = entry ? entry->line : 0;
    return entry && entry->file ? entry->file : script_path(ref->script);
}

static bool refuse_duplicate(const struct auditor *auditor, const struct rule_ref *ref, struct err *err)
{
    for (size_t i = 0; i < auditor->count; i++) {
        const struct rule_ref *other = &auditor->rules[i];
        if (strcmp(other->rule->id, ref->rule->id) != 0) continue;
        int line, other_line;
        const char *file = place_of(ref, &line), *other_file = place_of(other, &other_line);
        return err_set(err, ERR_INVALID, "%s:%d: duplicate rule id %s, first used at %s:%d", file, line,
                       ref->rule->id, other_file, other_line);
    }
    return true;
}

static bool add_rule(struct auditor *auditor, const struct rule_ref *ref, struct err *err)
{
    if (!refuse_duplicate(auditor, ref, err)) return false;
    const struct script_rule *rule = ref->rule;
    struct audit_rule shown = {.id = rule->id,
                               .title = rule->title,
                               .category = rule->category,
                               .why = rule->why,
                               .how = rule->how,
                               .severity = rule->severity};
    shown.file = place_of(ref, &shown.line);
    size_t number = auditor->count;
    *array_add(auditor->left_out, number) = false;
    *array_add(auditor->rules, auditor->count) = *ref;
    audit_table_add_rule(auditor->options.table, &shown);
    rule_kinds_add(auditor->kinds, rule);
    return true;
}

struct auditor *auditor_new(const struct auditor_options *options, struct err *err)
{
    struct auditor *auditor = NEW(struct auditor);
    bool ok = true;
    auditor->options = *options;
    auditor->kinds = rule_kinds_new(options->catalogue);
    for (size_t s = 0; ok && s < options->script_count; s++) {
        struct script *script = options->scripts[s];
        for (size_t i = 0; ok && i < script_rule_count(script); i++)
            ok = add_rule(auditor, &(const struct rule_ref){script, i, script_rule(script, i)}, err);
    }
    if (ok) return auditor;
    auditor_free(auditor);
    return NULL;
}

void auditor_free(struct auditor *auditor)
{
    if (!auditor) return;
    rule_kinds_free(auditor->kinds);
    buf_clear(&auditor->message);
    buf_clear(&auditor->place);
    buf_clear(&auditor->fix);
    free(auditor->rules);
    free(auditor->left_out);
    free(auditor);
}

bool auditor_wants(struct auditor *auditor, struct str api_version, struct str kind)
{
    return rule_kinds_of(auditor->kinds, api_version, kind)->rules.count > 0;
}

/* Annotations that accept findings, or are meant to, are read by the auditor itself, and so are labels: all
 * of them, as a selector may ask for one that is not there. */
static struct fields *make_fields(struct auditor *auditor, const struct rule_numbers *rules)
{
    struct fields *fields = fields_new(auditor->options.missed_max);
    struct script *last = NULL;
    fields_expect(fields, STR("annotations"), false);
    fields_expect_beginning(fields, STR(SUPPRESSION_PREFIX));
    if (auditor->options.selector) fields_expect(fields, STR("labels"), true);
    for (size_t i = 0; i < rules->count; i++) {
        const struct rule_ref *ref = &auditor->rules[rules->items[i]];
        if (ref->script != last) fields_add_script(fields, ref->script);
        last = ref->script;
    }
    return fields;
}

const struct projection *auditor_projection(struct auditor *auditor, struct str api_version, struct str kind)
{
    struct rule_type *type = rule_kinds_of(auditor->kinds, api_version, kind);
    if (!type->fields) type->fields = make_fields(auditor, &type->rules);
    return fields_projection(type->fields);
}

bool auditor_has_seen(const struct auditor *auditor, struct str kind)
{
    return rule_kinds_have(auditor->kinds, kind);
}

void auditor_leave_out(struct auditor *auditor, uint32_t rule, const char *reason)
{
    must(rule < auditor->count);
    audit_table_leave_out(auditor->options.table, rule, str_of(reason));
    auditor->left_out[rule] = true;
}

bool auditor_leaves_out(const struct auditor *auditor, uint32_t rule)
{
    must(rule < auditor->count);
    return auditor->left_out[rule];
}

/* --- one object */

/* Returns the namespace of the object. Without one in a file it is "default", as for kubectl. */
static struct str namespace_of(const struct rule_type *type, const struct audit_object *shown)
{
    return !shown->ns.n && shown->file.n && type->is_namespaced ? STR("default") : shown->ns;
}

static bool is_evaluated(const struct auditor *auditor, uint32_t number, const struct rule_type *type,
                         const struct audit_object *shown)
{
    return !auditor->left_out[number] && rule_takes(auditor->rules[number].rule, namespace_of(type, shown));
}

/* Evaluates the rules of a type on an object. A fixer needs the complete object: `subject->kept` is NULL
 * then. */
static void audit_by(struct auditor *auditor, const struct rule_type *type,
                     const struct audit_subject *subject, const struct audit_object *shown)
{
    struct fixer *fixer = auditor->options.fixer;
    struct packed packed = {subject, type->fields, subject->projection, subject->object, NULL};
    audit_table_begin_object(auditor->options.table, shown);
    if (fixer) fixer_begin(fixer, subject->object);
    for (size_t i = 0; i < type->rules.count; i++) {
        uint32_t number = type->rules.items[i];
        if (is_evaluated(auditor, number, type, shown) && !auditor_evaluate(auditor, number, &packed)) break;
    }
    if (fixer) fixer_end(fixer);
    root_unref(packed.own);
}

static struct value metadata_of(const struct root *object)
{
    return value_field(root_value(object), STR("metadata"));
}

static bool is_selected(const struct auditor *auditor, const struct root *object)
{
    const struct selector *selector = auditor->options.selector;
    return !selector || selector_matches(selector, value_field(metadata_of(object), STR("labels")));
}

/* Of a manifest for `kubectl create` the beginning of the name that it will get. */
static struct str name_of(const struct root *object, struct text *text)
{
    struct str name = root_name(object, text);
    if (name.n) return name;
    return value_str(value_field(metadata_of(object), STR("generateName")), text);
}

enum auditor_outcome auditor_audit(struct auditor *auditor, const struct audit_subject *subject)
{
    struct text texts[5];
    struct value whole = root_value(subject->object);
    struct audit_object shown = {
        .api_version = value_str(value_field(whole, STR("apiVersion")), &texts[0]),
        .kind = value_str(value_field(whole, STR("kind")), &texts[1]),
        .ns = root_namespace(subject->object, &texts[2]),
        .name = name_of(subject->object, &texts[3]),
        .uid = root_uid(subject->object, &texts[4]),
        .file = subject->file,
        .line = subject->line,
    };
    const struct rule_type *type = rule_kinds_of(auditor->kinds, shown.api_version, shown.kind);
    for (size_t i = 0; i < type->rules.count; i++) {
        if (!is_evaluated(auditor, type->rules.items[i], type, &shown)) continue;
        if (!is_selected(auditor, subject->object)) return AUDITOR_NOT_SELECTED;
        audit_by(auditor, type, subject, &shown);
        return AUDITOR_EVALUATED;
    }
    return AUDITOR_NO_RULE_MATCHES;
}

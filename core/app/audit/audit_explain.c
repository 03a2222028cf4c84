/* A rule as its author describes it; see audit_explain.h. */
#include "app/audit/audit_explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/audit/audit_scripts.h"
#include "audit/rules/suppression.h"
#include "base/array.h"
#include "base/text/json_out.h"
#include "base/text/nearest.h"
#include "engine/load_host.h"
#include "informer/shared/shared_factory.h"
#include "script/inventory/inventory.h"
#include "script/rules/rule_value.h"
#include "tool/tool.h"

static void print_kinds(const struct script_rule *rule)
{
    fputs("Kinds:      ", stdout);
    for (size_t i = 0; i < rule->kind_count; i++)
        printf("%s%s", i ? ", " : "", claim_spec(rule->kinds[i])->kind);
    putchar('\n');
}

static void print_params(const struct script_rule *rule)
{
    for (size_t i = 0; i < rule->param_count; i++) {
        const struct rule_param *param = &rule->params[i];
        printf("%s%s=%s (%s", i ? "            " : "Parameters: ", param->name, param->value,
               rule_value_type(str_of(param->fallback)));
        if (strcmp(param->value, param->fallback) != 0) printf(", default %s", param->fallback);
        puts(")");
    }
}

static void print_ignore(const struct script_rule *rule)
{
    const struct rule_ignore *ignore = &rule->ignore;
    if (ignore->forbidden) {
        puts("\n"
             "Its findings cannot be accepted by annotation (ignore = false).");
        return;
    }
    fputs("\n"
          "To accept a finding until a date",
          stdout);
    if (ignore->max_days) printf(", at most %d days from now", ignore->max_days);
    if (ignore->namespaces)
        fputs(ignore->max_days ? " and in some namespaces only" : ", in some namespaces only", stdout);
    printf(", annotate the object:\n"
           "  %s%s: \"until=2027-01-31 REASON\"\n",
           SUPPRESSION_PREFIX, rule->id);
}

static void print_rule(const struct script *script, size_t number)
{
    const struct script_rule *rule = script_rule(script, number);
    const struct inventory_entry *place = script_rule_place(script, number);
    printf("%s%s%s\n\n", rule->id, *rule->title ? ": " : "", rule->title);
    printf("Severity:   %s\n", severity_name(rule->severity));
    if (*rule->category) printf("Category:   %s\n", rule->category);
    print_kinds(rule);
    print_params(rule);
    printf("File:       %s:%d\n", place && place->file ? place->file : script_path(script),
           place ? place->line : 0);
    if (*rule->why) printf("\nWhy: %s\n", rule->why);
    if (*rule->how) printf("\nWhat to do: %s\n", rule->how);
    if (rule->has_fix)
        puts("\n"
             "Run kubelua audit --fix to print a patch for its findings.");
    print_ignore(rule);
}

static bool explain(const struct audit_scripts *scripts, const char *id, struct err *err)
{
    struct nearest nearest = nearest_to(str_of(id));
    for (size_t s = 0; s < scripts->count; s++)
        for (size_t i = 0; i < script_rule_count(scripts->items[s]); i++) {
            const char *name = script_rule(scripts->items[s], i)->id;
            if (strcmp(name, id) == 0) {
                print_rule(scripts->items[s], i);
                return true;
            }
            nearest_try(&nearest, name);
        }
    return nearest.name
               ? err_set(err, ERR_NOT_FOUND, "no rule \"%s\", did you mean \"%s\"?", id, nearest.name)
               : err_set(err, ERR_NOT_FOUND, "no rule \"%s\"; use --list-rules to list all rules", id);
}

/* --- all of them */

static const struct script_rule **all_rules(const struct audit_scripts *scripts, size_t *count)
{
    const struct script_rule **rules = NULL;
    *count = 0;
    for (size_t s = 0; s < scripts->count; s++)
        for (size_t i = 0; i < script_rule_count(scripts->items[s]); i++) {
            *array_add(rules, *count) = script_rule(scripts->items[s], i);
        }
    return rules;
}

static int by_category(const void *pa, const void *pb)
{
    const struct script_rule *a = *(const struct script_rule *const *)pa,
                             *b = *(const struct script_rule *const *)pb;
    int order = strcmp(a->category, b->category);
    return order ? order : strcmp(a->id, b->id);
}

/* Of the same rules as JSON. */
static bool print_table(struct str json, struct err *err)
{
    lua_State *L = tool_open();
    bool ok = tool_parse_json(L, json, err) && tool_call(L, "tool.view.rules", err);
    if (ok) fputs(lua_tostring(L, -1), stdout);
    lua_close(L);
    return ok;
}

static void put_json(struct buf *out, const struct script_rule *const *rules, size_t count)
{
    json_open(out, NULL, '[');
    for (size_t i = 0; i < count; i++) {
        json_open(out, NULL, '{');
        json_text(out, "id", rules[i]->id);
        json_text(out, "severity", severity_name(rules[i]->severity));
        json_text(out, "category", rules[i]->category);
        json_text(out, "title", rules[i]->title);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static bool list(const struct audit_scripts *scripts, const char *output, struct err *err)
{
    size_t count;
    struct buf json = {0};
    const struct script_rule **rules = all_rules(scripts, &count);
    qsort(rules, count, sizeof *rules, by_category);
    put_json(&json, rules, count);
    bool ok = true;
    if (strcmp(output, "table") == 0)
        ok = print_table(buf_slice(&json), err);
    else if (strcmp(output, "json") == 0)
        printf("%s\n", buf_text(&json));
    else
        ok = err_set(err, ERR_INVALID, "--list-rules supports -o table and -o json, not %s", output);
    buf_clear(&json);
    free(rules);
    return ok;
}

bool audit_explain(const struct audit_request *request, struct err *err)
{
    struct audit_scripts scripts = {0};
    struct load_host dry;
    const struct engine_settings settings = audit_scripts_settings(request);
    load_host_open(&dry, &settings);
    bool ok = audit_scripts_load(&scripts, request, &dry.host, err) &&
              (request->list_rules ? list(&scripts, request->output, err)
                                   : explain(&scripts, request->explain, err));
    audit_scripts_close(&scripts);
    load_host_close(&dry);
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    return ok && (written || err_set(err, ERR_IO, "stdout: %s", "cannot be written"));
}

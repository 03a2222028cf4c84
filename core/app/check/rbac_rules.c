/* RBAC rules; see rbac_rules.h. */
#include "app/check/rbac_rules.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/check/check.h"
#include "app/check/script_rights.h"
#include "app/options/options.h"
#include "base/mem.h"
#include "engine/load_host.h"
#include "kube/kinds/well_known.h"
#include "script/generation/script.h"

struct rule {
    char *ns, *group, *resource;
    unsigned verbs;
    bool is_printed;
};

struct rbac_rules {
    struct rule *items;
    size_t count, cap;
};

struct rbac_rules *rbac_rules_new(void)
{
    return NEW(struct rbac_rules);
}

void rbac_rules_free(struct rbac_rules *rules)
{
    if (!rules) return;
    for (size_t i = 0; i < rules->count; i++) {
        free(rules->items[i].ns);
        free(rules->items[i].group);
        free(rules->items[i].resource);
    }
    free(rules->items);
    free(rules);
}

void rbac_rules_add(struct rbac_rules *rules, const char *ns, const char *group, const char *resource,
                    unsigned verbs)
{
    for (size_t i = 0; i < rules->count; i++) {
        struct rule *rule = &rules->items[i];
        if (strcmp(rule->ns, ns) != 0 || strcmp(rule->group, group) != 0 ||
            strcmp(rule->resource, resource) != 0)
            continue;
        rule->verbs |= verbs;
        return;
    }
    if (rules->count == rules->cap) {
        rules->cap = rules->cap ? 2 * rules->cap : 16;
        rules->items = xrealloc(rules->items, rules->cap * sizeof *rules->items);
    }
    rules->items[rules->count++] = (struct rule){
        .ns = xstrdup(ns), .group = xstrdup(group), .resource = xstrdup(resource), .verbs = verbs};
}

/* --- the least of them */

static bool is_everything(const struct rule *rule)
{
    return strcmp(rule->group, "*") == 0 && strcmp(rule->resource, "*") == 0;
}

/* Returns whether `wide` makes `rule` redundant: it holds in every namespace or for every kind. */
static bool covers(const struct rule *wide, const struct rule *rule)
{
    if (wide == rule || *wide->ns) return false;
    if (is_everything(wide)) return true;
    return *rule->ns && strcmp(wide->group, rule->group) == 0 && strcmp(wide->resource, rule->resource) == 0;
}

static void drop_covered(struct rbac_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        for (size_t j = 0; j < rules->count; j++)
            if (covers(&rules->items[j], &rules->items[i])) rules->items[i].verbs &= ~rules->items[j].verbs;
}

static int compare(const void *left, const void *right)
{
    const struct rule *a = left, *b = right;
    int by_ns = strcmp(a->ns, b->ns), by_group = strcmp(a->group, b->group);
    return by_ns ? by_ns : by_group ? by_group : strcmp(a->resource, b->resource);
}

/* --- YAML */

/* Plain where nothing else could be meant. */
static void put_word(struct buf *out, const char *word)
{
    static const char *const others[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
    bool plain =
        *word >= 'a' && *word <= 'z' && word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-./")] == '\0';
    for (size_t i = 0; i < ARRAY_LEN(others); i++) plain &= strcmp(word, others[i]) != 0;
    if (plain)
        buf_puts(out, word);
    else
        buf_json_string(out, str_of(word));
}

static void put_verbs(struct buf *out, unsigned verbs)
{
    const char *before = "    verbs: [";
    for (unsigned i = 0; i < RBAC_VERBS; i++) {
        if (!(verbs & 1u << i)) continue;
        buf_printf(out, "%s%s", before, rbac_verb_names[i]);
        before = ", ";
    }
    buf_puts(out, "]\n");
}

/* One rule for all resources of a group that have the same verbs. */
static void put_rule(struct rbac_rules *rules, size_t first, struct buf *out)
{
    const struct rule *rule = &rules->items[first];
    const char *before = "\n    resources: [";
    buf_puts(out, "  - apiGroups: [");
    put_word(out, rule->group);
    buf_putc(out, ']');
    for (size_t i = first; i < rules->count; i++) {
        struct rule *other = &rules->items[i];
        bool same = strcmp(other->ns, rule->ns) == 0 && strcmp(other->group, rule->group) == 0 &&
                    other->verbs == rule->verbs;
        if (!same) continue;
        buf_puts(out, before);
        put_word(out, other->resource);
        before = ", ";
        other->is_printed = true;
    }
    buf_puts(out, "]\n");
    put_verbs(out, rule->verbs);
}

static void put_head(const char *ns, const char *name, struct buf *out)
{
    if (out->len) buf_puts(out, "---\n");
    buf_printf(out, "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: ",
               *ns ? "Role" : "ClusterRole");
    put_word(out, name);
    if (*ns) {
        buf_puts(out, "\n  namespace: ");
        put_word(out, ns);
    }
    buf_puts(out, "\nrules:\n");
}

void rbac_rules_print(struct rbac_rules *rules, const char *name, struct buf *out)
{
    const char *ns = NULL;
    drop_covered(rules);
    if (rules->count) qsort(rules->items, rules->count, sizeof *rules->items, compare);
    for (size_t i = 0; i < rules->count; i++) {
        struct rule *rule = &rules->items[i];
        if (!rule->verbs || rule->is_printed) continue;
        if (!ns || strcmp(ns, rule->ns) != 0) put_head(rule->ns, name, out);
        ns = rule->ns;
        put_rule(rules, i, out);
    }
}

/* --- From scripts to rules */

/* One script. */
struct scan {
    const struct rbac_scripts *plan;
    struct rbac_rules *rules;
    const char *path;
    bool ok;
};

static void add_right(void *ctx, const struct script_right *right)
{
    const struct scan *scan = ctx;
    rbac_rules_add(scan->rules, right->ns, right->group, right->resource, right->verbs);
}

/* "scripts/x.lua:3", or without the line where that is not known. */
static void put_place(const struct scan *scan, struct str kind, const struct inventory_entry *entry,
                      struct buf *out)
{
    char *quoted = xasprintf("\"%.*s", STR_ARG(kind));
    struct place at = find_place(entry, scan->path, quoted);
    buf_puts(out, at.file);
    if (at.line) buf_printf(out, ":%d", at.line);
    free(quoted);
}

static void print_unknown(void *ctx, struct str kind, const struct inventory_entry *entry,
                          const struct err *cause)
{
    struct scan *scan = ctx;
    const struct catalogue *catalogue = scan->plan->catalogue;
    struct err err = *cause;
    struct buf at = {0};
    bool is_server = scan->plan->is_server;
    scan->ok = false;
    put_place(scan, kind, entry, &at);
    if (is_server) catalogue_explain(catalogue, kind, &err);
    if (is_server || err.code != ERR_NOT_FOUND || well_known_refuses(catalogue, kind, &err)) {
        fprintf(stderr, "kubelua rbac: %s: %s\n", buf_text(&at), err.text);
    } else {
        well_known_lacks(catalogue, kind, &err);
        fprintf(
            stderr,
            "kubelua rbac: %s: %s; use --server, --kubeconfig or --context to select a server that has it\n",
            buf_text(&at), err.text);
    }
    buf_clear(&at);
}

/* --- all of them */

static bool add_all(const struct rbac_scripts *plan, struct rbac_rules *rules, const struct script_host *host)
{
    bool ok = true;
    for (size_t i = 0; i < plan->files->count; i++) {
        struct err err;
        struct scan scan = {.plan = plan, .rules = rules, .path = plan->files->paths[i], .ok = true};
        const struct script_rights_visitor visitor = {add_right, print_unknown, &scan};
        struct script *script = script_load(host, plan->files->paths[i], plan->files->names[i], &err);
        if (!script) {
            fprintf(stderr, "kubelua rbac: %s\n", err.text);
            ok = false;
            continue;
        }
        script_each_right(script, plan->catalogue, &visitor);
        if (plan->fixes) script_each_fix_right(script, plan->catalogue, &visitor);
        ok &= scan.ok;
        script_free(script);
    }
    return ok;
}

bool rbac_scripts_add_rules(const struct rbac_scripts *plan, struct rbac_rules *rules)
{
    struct load_host dry;
    struct engine_settings settings = {
        .lease = plan->lease, .elects = plan->elects, .default_namespace = plan->default_namespace};
    options_give_scripts(plan->options, &settings);
    load_host_open(&dry, &settings);
    bool ok = add_all(plan, rules, &dry.host);
    load_host_close(&dry);
    return ok;
}

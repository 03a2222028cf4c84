/* From scripts to rules; see rbac_plan.h. */
#include "app/check/rbac_plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/check/check.h"
#include "app/check/script_rights.h"
#include "app/options/script_options.h"
#include "base/mem.h"
#include "engine/dry_host.h"
#include "kube/kinds/well_known.h"
#include "script/generation/script.h"

/* One script. */
struct scan {
    const struct rbac_plan *plan;
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
static void put_place(const struct scan *scan, struct str kind, const struct plan_entry *entry,
                      struct buf *out)
{
    char *quoted = xasprintf("\"%.*s", STR_ARG(kind));
    struct place at = find_place(entry, scan->path, quoted);
    buf_puts(out, at.file);
    if (at.line) buf_printf(out, ":%d", at.line);
    free(quoted);
}

static void tell_unknown(void *ctx, struct str kind, const struct plan_entry *entry, const struct err *cause)
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
        fprintf(stderr,
                "kubelua rbac: %s: %s: name a server that has it, by --server, --kubeconfig or --context\n",
                buf_text(&at), err.text);
    }
    buf_clear(&at);
}

/* --- all of them */

static bool add_all(const struct rbac_plan *plan, struct rbac_rules *rules, const struct script_host *host)
{
    bool ok = true;
    for (size_t i = 0; i < plan->files->count; i++) {
        struct err err;
        struct scan scan = {.plan = plan, .rules = rules, .path = plan->files->paths[i], .ok = true};
        const struct script_rights_visitor visitor = {add_right, tell_unknown, &scan};
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

bool rbac_plan_add(const struct rbac_plan *plan, struct rbac_rules *rules)
{
    struct dry_host dry;
    dry_host_open(&dry);
    dry.host.lease = plan->lease;
    dry.host.any_lease = false;
    dry.host.elects = plan->elects;
    options_give_scripts(plan->options, &dry.host);
    dry.host.default_namespace = plan->default_namespace;
    bool ok = add_all(plan, rules, &dry.host);
    dry_host_close(&dry);
    return ok;
}

/* From scripts to rules; see rbac_plan.h. */
#include "app/rbac_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/dry_host.h"
#include "base/mem.h"
#include "informer/shared_factory.h"
#include "script/script.h"
#include "script/writes.h"

/* One script. */
struct scan {
    const struct rbac_plan *plan;
    struct rbac_rules *rules;
    struct script *script;
    const char *path;
    bool ok;
};

/* --- kinds */

static bool resolve(struct scan *scan, struct str kind, struct resource *out)
{
    struct err err;
    if (catalogue_resolve(scan->plan->catalogue, kind, out, &err)) return true;
    scan->ok = false;
    if (scan->plan->is_server) catalogue_explain(scan->plan->catalogue, kind, &err);
    if (scan->plan->is_server || err.code != ERR_NOT_FOUND)
        fprintf(stderr, "kubelua rbac: %s: %s\n", scan->path, err.text);
    else
        fprintf(stderr,
                "kubelua rbac: %s: \"%.*s\" is none of Kubernetes' own kinds: name a server that has it, by "
                "--server, --kubeconfig or --context\n",
                scan->path, STR_ARG(kind));
    return false;
}

/* --- what a script registered */

static void add_claim(struct scan *scan, const struct informer_claim *claim)
{
    const struct informer_spec *spec = claim_spec(claim);
    const unsigned verbs = RBAC_LIST | RBAC_WATCH;
    struct resource resource;
    if (!resolve(scan, str_of(spec->kind), &resource)) return;
    if (!resource.namespaced || (!spec->namespace_count && !*spec->namespace_))
        rbac_rules_add(scan->rules, "", resource.group, resource.plural, verbs);
    else if (!spec->namespace_count)
        rbac_rules_add(scan->rules, spec->namespace_, resource.group, resource.plural, verbs);
    else
        for (size_t i = 0; i < spec->namespace_count; i++)
            rbac_rules_add(scan->rules, spec->namespaces[i], resource.group, resource.plural, verbs);
    resource_clear(&resource);
}

static unsigned verbs_of(struct str name)
{
    static const struct {
        const char *name;
        unsigned verbs;
    } known[] = {
        {"get", RBAC_GET},
        {"list", RBAC_LIST},
        {"watch", RBAC_WATCH},
        {"*", RBAC_GET | RBAC_LIST | RBAC_WATCH},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_is(name, known[i].name)) return known[i].verbs;
    return 0;
}

/* "pods:list": a live read may name any namespace when it is made. */
static void add_read(struct scan *scan, const char *text)
{
    struct str verb = str_of(text), kind;
    struct resource resource;
    str_cut(&verb, ':', &kind);
    if (str_is(kind, "*")) {
        rbac_rules_add(scan->rules, "", "*", "*", verbs_of(verb));
    } else if (resolve(scan, kind, &resource)) {
        rbac_rules_add(scan->rules, "", resource.group, resource.plural, verbs_of(verb));
        resource_clear(&resource);
    }
}

/* "x:apply" may make the object. "x:patch" does not ask for that, and a subresource is never made so. */
static unsigned write_verbs(const struct declared_write *write)
{
    static const struct {
        unsigned write, rbac;
    } pairs[] = {{WRITE_CREATE, RBAC_CREATE},
                 {WRITE_UPDATE, RBAC_UPDATE},
                 {WRITE_PATCH, RBAC_PATCH},
                 {WRITE_DELETE, RBAC_DELETE}};
    if (write->verbs == WRITE_APPLY) return *write->subresource ? RBAC_PATCH : RBAC_PATCH | RBAC_CREATE;
    unsigned verbs = 0;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (write->verbs & pairs[i].write) verbs |= pairs[i].rbac;
    return verbs;
}

/* "pods/status:patch", in any namespace too. */
static void add_write(struct scan *scan, const struct declared_write *write)
{
    struct resource resource = {0};
    bool is_any = strcmp(write->kind, "*") == 0;
    if (!is_any && !resolve(scan, str_of(write->kind), &resource)) return;
    char *name = xasprintf("%s%s%s", is_any ? "*" : resource.plural, *write->subresource ? "/" : "",
                           write->subresource);
    rbac_rules_add(scan->rules, "", is_any ? "*" : resource.group, name, write_verbs(write));
    free(name);
    if (!is_any) resource_clear(&resource);
}

/* Events are in the namespaces of what they tell of: those of the informers, when the script knows of nothing
 * else, for all that has none in "default". */
static void add_events(struct scan *scan)
{
    const unsigned verbs = RBAC_CREATE | RBAC_PATCH;
    bool everywhere = script_read_count(scan->script) > 0 || script_write_count(scan->script) > 0 ||
                      script_claim_count(scan->script) == 0;
    for (size_t i = 0; i < script_claim_count(scan->script) && !everywhere; i++) {
        const struct informer_spec *spec = claim_spec(script_claim(scan->script, i));
        everywhere = !spec->namespace_count && !*spec->namespace_;
    }
    if (everywhere) rbac_rules_add(scan->rules, "", "", "events", verbs);
    for (size_t i = 0; i < script_claim_count(scan->script) && !everywhere; i++) {
        const struct informer_spec *spec = claim_spec(script_claim(scan->script, i));
        struct resource resource;
        struct err err;
        if (!catalogue_resolve(scan->plan->catalogue, str_of(spec->kind), &resource, &err)) continue;
        if (!resource.namespaced)
            rbac_rules_add(scan->rules, "default", "", "events", verbs);
        else if (!spec->namespace_count)
            rbac_rules_add(scan->rules, spec->namespace_, "", "events", verbs);
        for (size_t j = 0; j < spec->namespace_count && resource.namespaced; j++)
            rbac_rules_add(scan->rules, spec->namespaces[j], "", "events", verbs);
        resource_clear(&resource);
    }
}

/* L-10: what comes of an election is told as Events of its lease. */
static void add_election(struct scan *scan)
{
    struct leadership_status status;
    const struct leadership *leadership = script_leadership(scan->script);
    if (!leadership) return;
    leadership_get_status(leadership, &status);
    rbac_rules_add(scan->rules, status.namespace_, "coordination.k8s.io", "leases",
                   RBAC_GET | RBAC_CREATE | RBAC_UPDATE);
    rbac_rules_add(scan->rules, status.namespace_, "", "events", RBAC_CREATE);
}

static void add_script(struct scan *scan)
{
    for (size_t i = 0; i < script_claim_count(scan->script); i++)
        add_claim(scan, script_claim(scan->script, i));
    for (size_t i = 0; i < script_read_count(scan->script); i++) add_read(scan, script_read(scan->script, i));
    for (size_t i = 0; i < script_write_count(scan->script); i++)
        add_write(scan, script_write_parts(scan->script, i));
    add_election(scan);
    if (script_tells_events(scan->script)) add_events(scan);
}

/* --- all of them */

static bool add_all(const struct rbac_plan *plan, struct rbac_rules *rules, const struct script_host *host)
{
    bool ok = true;
    for (size_t i = 0; i < plan->files->count; i++) {
        struct err err;
        struct scan scan = {.plan = plan, .rules = rules, .path = plan->files->paths[i], .ok = true};
        scan.script = script_load(host, plan->files->paths[i], plan->files->names[i], &err);
        if (!scan.script) {
            fprintf(stderr, "kubelua rbac: %s\n", err.text);
            ok = false;
            continue;
        }
        add_script(&scan);
        ok &= scan.ok;
        script_free(scan.script);
    }
    return ok;
}

bool rbac_plan_add(const struct rbac_plan *plan, struct rbac_rules *rules)
{
    struct dry_host dry;
    dry_host_open(&dry);
    dry.host.lease = plan->lease;
    dry.host.elects = plan->elects;
    dry.host.default_namespace = plan->default_namespace;
    bool ok = add_all(plan, rules, &dry.host);
    dry_host_close(&dry);
    return ok;
}

/* What scripts that were loaded have registered, against what there is; see check.h. */
#include <stdlib.h>
#include <string.h>

#include "app/check.h"
#include "base/mem.h"
#include "informer/shared_factory.h"
#include "object/projection.h"
#include "script/plan.h"
#include "script/writes.h"

/* --- kinds */

struct kinds_scan {
    const char *file;
    const struct catalogue *catalogue;
    bool is_whole;
    struct findings *findings;
};

/* A kind with a group may come later at a start; that it is not there now is what a check is for. */
static void check_kind(const struct kinds_scan *scan, const char *kind, const struct plan_entry *entry)
{
    struct resource resource;
    struct err err;
    if (strcmp(kind, "*") == 0) return;
    if (catalogue_resolve(scan->catalogue, str_of(kind), &resource, &err)) {
        resource_clear(&resource);
        return;
    }
    bool is_bare = !strpbrk(kind, "./");
    if (!scan->is_whole && (err.code == ERR_NOT_FOUND && !is_bare)) return;
    if (err.code == ERR_NOT_FOUND) catalogue_explain(scan->catalogue, str_of(kind), &err);
    char *quoted = xasprintf("\"%s", kind);
    struct place at = find_place(entry, scan->file, quoted);
    if (scan->is_whole || err.code != ERR_NOT_FOUND)
        findings_add(scan->findings, at.file, at.line, false, "%s", err.text);
    else
        findings_add(
            scan->findings, at.file, at.line, true,
            "\"%s\" is none of Kubernetes' own kinds; name a server, or a dump by --against, to be sure",
            kind);
    free(quoted);
}

void check_kinds(const struct script *script, const char *file, const struct catalogue *catalogue,
                 bool is_whole, struct findings *findings)
{
    const struct kinds_scan scan = {file, catalogue, is_whole, findings};
    const struct plan *plan = script_plan(script);
    for (size_t i = 0; i < script_claim_count(script); i++)
        check_kind(&scan, claim_spec(script_claim(script, i))->kind, script_claim_place(script, i));
    for (size_t i = 0; i < script_read_count(script); i++) {
        struct str rest = str_of(script_read(script, i)), kind;
        str_cut(&rest, ':', &kind);
        char *name = xstrndup(kind.p, kind.n);
        check_kind(&scan, name, plan_find(plan, PLAN_READ, str_of(script_read(script, i))));
        free(name);
    }
    for (size_t i = 0; i < script_write_count(script); i++) {
        const struct declared_write *write = script_write_parts(script, i);
        check_kind(&scan, write->kind, plan_find(plan, PLAN_WRITE, str_of(write->text)));
    }
}

/* --- conditions on what is not kept */

/* Of paths whose steps are plain names: whether the first one is the second, or leads to it. */
static bool leads_to(struct str path, struct str to)
{
    return path.n <= to.n && memcmp(path.p, to.p, path.n) == 0 && (path.n == to.n || to.p[path.n] == '.');
}

static bool is_identity(struct str path)
{
    static const char *const kept[] = {"apiVersion",         "kind",         "metadata.name",
                                       "metadata.namespace", "metadata.uid", "metadata.resourceVersion"};
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (str_is(path, kept[i])) return true;
    return false;
}

/* The words of "fields a,b prune c" behind `word`. */
static struct str list_behind(const char *text, const char *word)
{
    const char *found = strstr(text, word);
    if (!found) return (struct str){0};
    found += strlen(word);
    return (struct str){found, strcspn(found, " ")};
}

/* Sure of paths of plain names alone. `*why` is the option that drops it. */
static bool is_dropped(const struct projection *projection, struct str path, const char **why)
{
    const char *text = projection_text(projection);
    if (memchr(path.p, '[', path.n) || strpbrk(text, "'\"") || is_identity(path)) return false;
    struct str fields = list_behind(text, "fields "), prune = list_behind(text, "prune "), one;
    bool kept = !fields.n;
    while (fields.n && str_cut(&fields, ',', &one)) {
        const char *bracket = memchr(one.p, '[', one.n);
        if (bracket) one.n = (size_t)(bracket - one.p);
        kept = kept || leads_to(one, path) || leads_to(path, one);
    }
    *why = projection_is_metadata(projection) ? "metadata_only" : "fields";
    if (!kept) return true;
    *why = "prune";
    while (prune.n && str_cut(&prune, ',', &one))
        if (!memchr(one.p, '[', one.n) && leads_to(one, path)) return true;
    return false;
}

struct handler_scan {
    const struct script *script;
    const char *file;
    struct findings *findings;
};

static void check_condition(void *ctx, const struct script_condition *c)
{
    const struct handler_scan *scan = ctx;
    const char *why;
    if (!c->projection || !is_dropped(c->projection, c->path, &why)) return;
    char *path = xstrndup(c->path.p, c->path.n);
    struct place at = find_place(script_handler_place(scan->script, c->handler), scan->file, path);
    findings_add(scan->findings, at.file, at.line, false,
                 c->is_changed ? "the handler %s: changed: the informer drops %s (%s): it never changes"
                               : "the handler %s: where: the informer drops %s (%s): no object has it",
                 c->handler, path, why);
    free(path);
}

void check_handlers(const struct script *script, const char *file, struct findings *findings)
{
    struct handler_scan scan = {script, file, findings};
    script_each_condition(script, check_condition, &scan);
}

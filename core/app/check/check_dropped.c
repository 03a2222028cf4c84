/* Checks for fields that handlers and indexes read and their informers do not keep; see check.h. */
#include <stdlib.h>
#include <string.h>

#include "app/check/check.h"
#include "base/mem.h"
#include "informer/shared/claim_index.h"
#include "informer/shared/shared_factory.h"
#include "informer/store/filter.h"
#include "object/pack/projection.h"
#include "object/value/selector.h"
#include "script/inventory/inventory.h"

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

/* Sure of paths of plain names alone. `*why` is the option that drops it. A transform may put it back. */
static bool is_dropped(const struct informer_spec *spec, struct str path, const char **why)
{
    if (!spec->projection || spec->transform.fn) return false;
    const char *text = projection_text(spec->projection);
    if (memchr(path.p, '[', path.n) || strpbrk(text, "'\"") || is_identity(path)) return false;
    struct str fields = list_behind(text, "fields "), prune = list_behind(text, "prune "), one;
    bool kept = !fields.n;
    while (fields.n && str_cut(&fields, ',', &one)) {
        const char *bracket = memchr(one.p, '[', one.n);
        if (bracket) one.n = (size_t)(bracket - one.p);
        kept = kept || leads_to(one, path) || leads_to(path, one);
    }
    *why = projection_is_metadata(spec->projection) ? "metadata_only" : "fields";
    if (!kept) return true;
    *why = "prune";
    while (prune.n && str_cut(&prune, ',', &one))
        if (!memchr(one.p, '[', one.n) && leads_to(one, path)) return true;
    return false;
}

struct scan {
    const struct script *script;
    const char *file;
    size_t claim; /* of the index */
    struct findings *findings;
};

static void check_condition(void *ctx, const struct script_condition *c)
{
    const struct scan *scan = ctx;
    const char *why;
    if (!is_dropped(c->informer, c->path, &why)) return;
    char *path = xstrndup(c->path.p, c->path.n);
    struct place at = find_place(script_handler_place(scan->script, c->handler), scan->file, path);
    diagnostics_add(scan->findings, at.file, at.line, false,
                    c->is_changed ? "handler %s: changed: the informer drops %s (%s), so it never changes"
                                  : "handler %s: where: the informer drops %s (%s), so no object has it",
                    c->handler, path, why);
    free(path);
}

/* A selector that objects without labels pass may be meant for them. */
static void check_selector(void *ctx, const struct script_filter *f)
{
    const struct scan *scan = ctx;
    const char *why;
    const struct selector *selector = f->filter ? filter_selector(f->filter) : NULL;
    if (!selector || selector_matches(selector, value_absent)) return;
    if (!is_dropped(f->informer, STR("metadata.labels"), &why)) return;
    struct place at = find_place(script_handler_place(scan->script, f->handler), scan->file, "selector");
    diagnostics_add(scan->findings, at.file, at.line, false,
                    "handler %s: selector: the informer drops metadata.labels (%s), so nothing can match",
                    f->handler, why);
}

static void check_index(void *ctx, const char *name, const char *path)
{
    const struct scan *scan = ctx;
    const char *why;
    if (!is_dropped(claim_spec(script_claim(scan->script, scan->claim)), str_of(path), &why)) return;
    struct place at = find_place(script_index_place(scan->script, scan->claim, name), scan->file, path);
    diagnostics_add(scan->findings, at.file, at.line, false,
                    "index %s: the informer drops %s (%s), so the index is always empty", name, path, why);
}

void check_dropped(const struct script *script, const char *file, struct findings *findings)
{
    struct scan scan = {.script = script, .file = file, .findings = findings};
    script_each_condition(script, check_condition, &scan);
    script_each_filter(script, check_selector, &scan);
    for (; scan.claim < script_claim_count(script); scan.claim++)
        claim_each_path_index(script_claim(script, scan.claim), check_index, &scan);
}

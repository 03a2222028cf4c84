/* Checks for registered things that can never happen; see check.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "app/check/check.h"
#include "base/mem.h"
#include "informer/shared/shared_factory.h"
#include "informer/store/filter.h"
#include "object/value/selector.h"
#include "script/inventory/inventory.h"
#include "script/vm/bundle.h"

struct scan {
    const struct script *script;
    const char *file;
    const struct catalogue *catalogue;
    struct findings *findings;
};

static struct place handler_place(const struct scan *scan, const char *id, const char *option)
{
    return find_place(script_handler_place(scan->script, id), scan->file, option);
}

/* --- selectors */

/* The label that contradicts itself; a new text, NULL for none. What does not parse is somebody else's. */
static char *contradiction(const char *text)
{
    struct err err;
    struct selector *selector = selector_parse(str_of(text), &err);
    struct str key = selector ? selector_contradiction(selector) : (struct str){0};
    char *copy = key.p ? xstrndup(key.p, key.n) : NULL;
    selector_free(selector);
    return copy;
}

static void check_claim(const struct scan *scan, size_t i)
{
    const struct informer_spec *spec = claim_spec(script_claim(scan->script, i));
    char *label = spec->label_selector ? contradiction(spec->label_selector) : NULL;
    if (!label) return;
    struct place at = find_place(script_claim_place(scan->script, i), scan->file, NULL);
    diagnostics_add(scan->findings, at.file, at.line, false,
                    "informer of %s: selector \"%s\" can never match: contradictory requirements for %s",
                    spec->kind, spec->label_selector, label);
    free(label);
}

static void check_selector(const struct scan *scan, const struct script_filter *f, const char *own)
{
    const char *informers = f->informer->label_selector ? f->informer->label_selector : "";
    struct place at = handler_place(scan, f->handler, "selector");
    char *both = xasprintf("%s%s%s", informers, *informers && *own ? "," : "", own), *label;
    char *informers_label = contradiction(informers);
    if ((label = contradiction(own)))
        diagnostics_add(scan->findings, at.file, at.line, false,
                        "handler %s: selector \"%s\" can never match: contradictory requirements for %s",
                        f->handler, own, label);
    else if (!informers_label && (label = contradiction(both)))
        diagnostics_add(scan->findings, at.file, at.line, false,
                        "handler %s: selector \"%s\" can never match: its informer only has \"%s\"",
                        f->handler, own, informers);
    free(informers_label);
    free(label);
    free(both);
}

/* --- namespaces */

static bool has_none(const struct scan *scan, const char *kind)
{
    struct resource resource;
    struct err err;
    if (!catalogue_resolve(scan->catalogue, str_of(kind), &resource, &err)) return false;
    bool none = !resource.namespaced;
    resource_clear(&resource);
    return none;
}

/* Of an informer of certain namespaces. `names` lists them. */
static bool admits_any(const struct script_filter *f, struct buf *names)
{
    const struct informer_spec *spec = f->informer;
    size_t count = spec->namespace_count ? spec->namespace_count : 1;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const char *ns = spec->namespace_count ? spec->namespaces[i] : spec->namespace_;
        buf_printf(names, "%s%s", i ? ", " : "", ns);
        any = any || filter_admits_namespace(f->filter, str_of(ns));
    }
    return any;
}

static void check_namespaces(const struct scan *scan, const struct script_filter *f)
{
    const struct informer_spec *spec = f->informer;
    struct place at = handler_place(scan, f->handler, "namespaces");
    struct buf names = {0};
    if (has_none(scan, spec->kind)) {
        if (!filter_admits_namespace(f->filter, STR("")))
            diagnostics_add(scan->findings, at.file, at.line, false,
                            "handler %s: namespaces: %s are not namespaced, so nothing can match", f->handler,
                            spec->kind);
    } else if (!spec->namespace_count && !*spec->namespace_) {
        if (filter_admits_no_namespace(f->filter))
            diagnostics_add(scan->findings, at.file, at.line, false,
                            "handler %s: namespaces: every included namespace is also excluded", f->handler);
    } else if (!admits_any(f, &names)) {
        diagnostics_add(scan->findings, at.file, at.line, false,
                        "handler %s: namespaces: none of them is watched by its informer (%s)", f->handler,
                        buf_text(&names));
    }
    buf_clear(&names);
}

static void check_filter(void *ctx, const struct script_filter *f)
{
    const struct scan *scan = ctx;
    const struct selector *selector = f->filter ? filter_selector(f->filter) : NULL;
    if (selector) {
        char *own = xstrndup(selector_text(selector).p, selector_text(selector).n);
        check_selector(scan, f, own);
        free(own);
    }
    if (f->filter) check_namespaces(scan, f);
}

/* --- queues */

/* Returns whether the text has ":word" or ".word" that no letter follows. */
static bool has_verb(struct str text, const char *verb)
{
    size_t n = strlen(verb);
    const char *end = text.p + text.n, *found = text.p;
    while ((found = memmem(found, (size_t)(end - found), verb, n))) {
        char before = found > text.p ? found[-1] : ' ';
        found += n;
        bool ends = found == end || (!isalnum((unsigned char)*found) && *found != '_');
        if (ends && (before == ':' || before == '.')) return true;
    }
    return false;
}

/* In any of the script's files. */
static bool mentions(const struct script *script, const char *const *verbs)
{
    struct bundle *bundle = script_bundle(script);
    for (size_t i = 0; i < bundle_count(bundle); i++) {
        struct str text;
        struct err err;
        if (!bundle_text(bundle, bundle_path(bundle, i), &text, &err)) continue;
        for (const char *const *verb = verbs; *verb; verb++)
            if (has_verb(text, *verb)) return true;
    }
    return false;
}

/* A script that works by hand calls done; one that adds, at run time too, names a verb that does. */
static void check_queues(const struct scan *scan)
{
    static const char *const works[] = {"done", NULL};
    static const char *const adds[] = {"add",      "add_after",  "add_rate_limited",
                                       "enqueuer", "controller", NULL};
    for (size_t i = 0; i < script_queue_count(scan->script); i++) {
        struct script_queue_status queue;
        script_get_queue_status(scan->script, i, &queue);
        const struct inventory_entry *entry =
            inventory_find(script_inventory(scan->script), INVENTORY_QUEUE, str_of(queue.name));
        struct place at = find_place(entry, scan->file, NULL);
        if (!queue.workers && !mentions(scan->script, works))
            diagnostics_add(scan->findings, at.file, at.line, true,
                            "queue %s has no worker: neither queue:run nor queue:done is called", queue.name);
        if (!mentions(scan->script, adds))
            diagnostics_add(scan->findings, at.file, at.line, true, "nothing adds keys to the queue %s",
                            queue.name);
    }
}

void check_dead(const struct script *script, const char *file, const struct catalogue *catalogue,
                struct findings *findings)
{
    struct scan scan = {script, file, catalogue, findings};
    for (size_t i = 0; i < script_claim_count(script); i++) check_claim(&scan, i);
    script_each_filter(script, check_filter, &scan);
    check_queues(&scan);
}

/* Reading a cache; see lister.h. */
#include "informer/lister.h"

#include <stdlib.h>

#include "base/mem.h"

struct walk {
    const struct selector *selector;
    struct lister_list *out; /* NULL: only count */
    size_t cap, count;
};

static bool visit(void *ctx, struct root *object)
{
    struct walk *walk = ctx;
    if (walk->selector && !selector_matches(walk->selector, root_labels(object))) return true;
    walk->count++;
    if (!walk->out) return true;
    if (walk->out->count == walk->cap) {
        walk->cap = walk->cap ? walk->cap * 2 : 64;
        walk->out->objects = xrealloc(walk->out->objects, walk->cap * sizeof(struct root *));
    }
    walk->out->objects[walk->out->count++] = root_ref(object);
    return true;
}

/* An empty selector evaluates no labels (F-11). */
static void run(const struct indexer *indexer, struct str ns, struct walk *walk)
{
    if (walk->selector && selector_is_everything(walk->selector)) walk->selector = NULL;
    if (ns.n)
        indexer_each_in(indexer, ns, visit, walk);
    else
        indexer_each(indexer, visit, walk);
}

void lister_list(const struct indexer *indexer, struct str ns, const struct selector *selector,
                 struct lister_list *out)
{
    *out = (struct lister_list){0};
    struct walk walk = {.selector = selector, .out = out};
    if (indexer) run(indexer, ns, &walk);
}

void lister_free_list(struct lister_list *list)
{
    for (size_t i = 0; i < list->count; i++) root_unref(list->objects[i]);
    free(list->objects);
    *list = (struct lister_list){0};
}

size_t lister_count(const struct indexer *indexer, struct str ns, const struct selector *selector)
{
    if (!indexer) return 0;
    if (!selector || selector_is_everything(selector))
        return ns.n ? indexer_namespace_count(indexer, ns) : indexer_count(indexer);
    struct walk walk = {.selector = selector};
    run(indexer, ns, &walk);
    return walk.count;
}

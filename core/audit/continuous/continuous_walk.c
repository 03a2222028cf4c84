/* Walks over the objects of a namespace and their results, a few at a time; see continuous.h. */
#include <stdlib.h>
#include <string.h>

#include "audit/continuous/continuous_internal.h"
#include "base/mem.h"

struct continuous_walk {
    LIST_ENTRY(continuous_walk) link;
    struct continuous_audit *audit;
    char *ns;
    struct object_source *source; /* NULL: at the end */
    uint32_t slot;                /* next object; OBJECT_NONE: end of this source */
    uint32_t end; /* last object when the walk reached the source: later ones stand behind it */
    size_t unevaluated;
};

/* --- lists by namespace */

static struct source_space *find(const struct object_source *source, struct str ns)
{
    struct source_space *space;
    HASH_FIND(hh, source->spaces, ns.p ? ns.p : "", ns.n, space);
    return space;
}

static struct source_space *space_of(struct object_source *source, uint32_t slot)
{
    struct text text;
    return find(source, root_namespace(source->objects[slot].root, &text));
}

static struct source_space *make(struct object_source *source, uint32_t slot)
{
    struct text text;
    struct str ns = root_namespace(source->objects[slot].root, &text);
    struct source_space *space = xcalloc(1, sizeof *space + ns.n + 1);
    if (ns.n) memcpy(space->ns, ns.p, ns.n);
    space->first = space->last = OBJECT_NONE;
    HASH_ADD_KEYPTR(hh, source->spaces, space->ns, ns.n, space);
    return space;
}

void source_link(struct object_source *source, uint32_t slot)
{
    struct source_space *space = space_of(source, slot);
    struct audited_object *object = &source->objects[slot];
    if (!space) space = make(source, slot);
    object->before = space->last;
    object->behind = OBJECT_NONE;
    if (space->last == OBJECT_NONE)
        space->first = slot;
    else
        source->objects[space->last].behind = slot;
    space->last = slot;
}

static uint32_t next_of(const struct continuous_walk *walk, uint32_t slot)
{
    return slot == walk->end ? OBJECT_NONE : walk->source->objects[slot].behind;
}

/* Moves walks off an object that is removed, so that they neither follow its links nor run past their end. */
static void pass_over(struct object_source *source, uint32_t slot)
{
    struct continuous_walk *walk;
    LIST_FOREACH (walk, &source->audit->walks, link) {
        if (walk->source != source) continue;
        if (walk->slot == slot) walk->slot = next_of(walk, slot);
        if (walk->end == slot) walk->end = source->objects[slot].before;
    }
}

void source_unlink(struct object_source *source, uint32_t slot)
{
    struct source_space *space = space_of(source, slot);
    const struct audited_object *object = &source->objects[slot];
    pass_over(source, slot);
    if (object->before == OBJECT_NONE)
        space->first = object->behind;
    else
        source->objects[object->before].behind = object->behind;
    if (object->behind == OBJECT_NONE)
        space->last = object->before;
    else
        source->objects[object->behind].before = object->before;
    if (space->first != OBJECT_NONE) return;
    HASH_DEL(source->spaces, space);
    free(space);
}

/* --- walks */

static void enter(struct continuous_walk *walk, struct object_source *source)
{
    const struct source_space *space = source ? find(source, str_of(walk->ns)) : NULL;
    walk->source = source;
    walk->slot = space ? space->first : OBJECT_NONE;
    walk->end = space ? space->last : OBJECT_NONE;
}

void source_forget_spaces(struct object_source *source)
{
    struct continuous_walk *walk;
    struct source_space *space, *next;
    LIST_FOREACH (walk, &source->audit->walks, link)
        if (walk->source == source) enter(walk, TAILQ_NEXT(source, link));
    HASH_ITER (hh, source->spaces, space, next) {
        HASH_DEL(source->spaces, space);
        free(space);
    }
}

struct continuous_walk *continuous_walk_new(struct continuous_audit *audit, struct str ns)
{
    struct continuous_walk *walk = NEW(struct continuous_walk);
    walk->audit = audit;
    walk->ns = xstrndup(ns.p ? ns.p : "", ns.n);
    LIST_INSERT_HEAD(&audit->walks, walk, link);
    enter(walk, TAILQ_FIRST(&audit->sources));
    return walk;
}

void continuous_walk_free(struct continuous_walk *walk)
{
    if (!walk) return;
    LIST_REMOVE(walk, link);
    free(walk->ns);
    free(walk);
}

/* Returns whether the result is missing. The cell of an object that the rule does not match is fresh without
 * a result. */
static bool needs_evaluation(const struct column *column, const struct result_cell *cell)
{
    return column->ready && !column->rule->is_incomplete && !(cell->flags & (CELL_KNOWN | CELL_FRESH));
}

static void report(struct continuous_walk *walk, const struct object_source *source, uint32_t slot,
                   void (*fn)(void *ctx, const struct continuous_result *result), void *ctx)
{
    for (size_t i = 0; i < source->column_count; i++) {
        struct column *column = source->columns[i];
        const struct result_cell *cell = column_cell(column, slot);
        walk->unevaluated += needs_evaluation(column, cell);
        if (!(cell->flags & CELL_KNOWN)) continue;
        const struct continuous_result result = {.ref = &column->rule->ref,
                                                 .object = source->objects[slot].root,
                                                 .verdict = (enum verdict)cell->verdict,
                                                 .findings = cell->findings};
        fn(ctx, &result);
    }
}

bool continuous_walk_on(struct continuous_walk *walk, size_t max,
                        void (*fn)(void *ctx, const struct continuous_result *result), void *ctx)
{
    size_t visited = 0;
    while (walk->source && visited < max) {
        struct object_source *source = walk->source;
        uint32_t slot = walk->slot;
        if (slot == OBJECT_NONE) {
            enter(walk, TAILQ_NEXT(source, link));
            continue;
        }
        walk->slot = next_of(walk, slot);
        /* An object without rules costs time too. */
        visited += source->column_count ? source->column_count : 1;
        report(walk, source, slot, fn, ctx);
    }
    return walk->source != NULL;
}

size_t continuous_walk_unevaluated(const struct continuous_walk *walk)
{
    return walk->unevaluated;
}

/* Objects of a kind in slots that they keep while they exist; see continuous_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "audit/continuous/continuous_internal.h"
#include "base/array.h"
#include "base/must.h"

/* --- slots */

/* Returns the slot of the object, or OBJECT_NONE. */
static uint32_t source_find(const struct object_source *source, const struct root *object)
{
    uint32_t hash = root_key_hash(object), at = hash, granule;
    while ((granule = granule_table_next(&source->by_key, hash, &at)))
        if (root_key_equal(source->objects[granule - 1].root, object)) return granule - 1;
    return OBJECT_NONE;
}

static uint32_t take_slot(struct object_source *source)
{
    uint32_t slot = source->unused;
    source->count++;
    if (slot != OBJECT_NONE) {
        source->unused = source->objects[slot].next;
        return slot;
    }
    array_reserve(source->objects, source->used, source->cap);
    slot = (uint32_t)source->used++;
    for (size_t i = 0; i < source->column_count; i++) column_fit(source->columns[i]);
    return slot;
}

static void insert(struct object_source *source, struct root *object)
{
    uint32_t slot = take_slot(source);
    source->objects[slot] = (struct audited_object){.root = root_ref(object), .next = OBJECT_NONE};
    granule_table_insert(&source->by_key, root_key_hash(object), slot + 1);
    source_link(source, slot);
    source_queue(source, slot);
}

static void replace(struct object_source *source, uint32_t slot, struct root *object)
{
    struct root *before = source->objects[slot].root;
    source->objects[slot].root = root_ref(object);
    root_unref(before);
    for (size_t i = 0; i < source->column_count; i++)
        column_cell(source->columns[i], slot)->flags &= (uint8_t)~CELL_FRESH;
    source_queue(source, slot);
}

/* Removes an object. The slot of a queued one is freed by source_take, as the queue is singly linked. */
static void remove_object(struct object_source *source, uint32_t slot)
{
    struct audited_object *object = &source->objects[slot];
    for (size_t i = 0; i < source->column_count; i++) column_forget(source->columns[i], slot);
    granule_table_remove(&source->by_key, root_key_hash(object->root), slot + 1);
    source_unlink(source, slot);
    root_unref(object->root);
    object->root = NULL;
    source->count--;
    if (object->waits) return;
    object->next = source->unused;
    source->unused = slot;
}

/* --- callbacks of the informer */

static void on_put(struct object_source *source, struct root *object)
{
    uint32_t slot = source_find(source, object);
    if (slot == OBJECT_NONE)
        insert(source, object);
    else if (source->objects[slot].root != object)
        replace(source, slot, object);
}

static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    (void)info;
    on_put(ctx, object);
}

static void on_update(void *ctx, struct root *before, struct root *object, const struct event_info *info)
{
    (void)before;
    (void)info;
    on_put(ctx, object);
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    struct object_source *source = ctx;
    uint32_t slot = source_find(source, last);
    (void)info;
    if (slot != OBJECT_NONE) remove_object(source, slot);
}

static struct event_handler handler_of(struct object_source *source)
{
    return (struct event_handler){
        .on_add = on_add, .on_update = on_update, .on_delete = on_delete, .ctx = source};
}

/* --- lifetime */

struct object_source *source_new(struct continuous_audit *audit, struct script *script,
                                 struct informer_claim *claim)
{
    struct object_source *source = NEW(struct object_source);
    source->audit = audit;
    source->script = script;
    source->claim = claim;
    source->unused = source->first = source->last = OBJECT_NONE;
    TAILQ_INSERT_TAIL(&audit->sources, source, link);
    const struct event_handler handler = handler_of(source);
    source->handler = claim_add_handler(claim, &handler);
    return source;
}

void source_move(struct object_source *source, struct script *script, struct informer_claim *claim)
{
    const struct event_handler handler = handler_of(source);
    claim_move_handler(source->handler, claim, &handler);
    source->script = script;
    source->claim = claim;
}

void source_free(struct object_source *source)
{
    must(source->column_count == 0);
    claim_remove_handler(source->handler);
    while (source_take(source) != OBJECT_NONE) continue;
    if (source->works) TAILQ_REMOVE(&source->audit->working, source, working);
    source_forget_spaces(source);
    TAILQ_REMOVE(&source->audit->sources, source, link);
    for (size_t i = 0; i < source->used; i++) root_unref(source->objects[i].root);
    granule_table_clear(&source->by_key);
    free(source->objects);
    free(source->columns);
    free(source);
}

void source_add_column(struct object_source *source, struct column *column)
{
    *array_add(source->columns, source->column_count) = column;
}

void source_remove_column(struct object_source *source, struct column *column)
{
    size_t i = 0;
    while (i < source->column_count && source->columns[i] != column) i++;
    must(i < source->column_count);
    source->columns[i] = source->columns[--source->column_count];
}

/* --- refused objects, which the server has and the engine does not store: rules that look up their kind
 * would report findings that are wrong */

static bool uses_refused(const struct audited_rule *rule)
{
    for (size_t i = 0; i < rule->use_count; i++)
        if (claim_refused(rule->watches[i]->claim)) return true;
    return false;
}

static void note_claims(struct continuous_audit *audit)
{
    struct object_source *source;
    struct watch *watch;
    TAILQ_FOREACH (source, &audit->sources, link) claim_note_refused(source->claim);
    TAILQ_FOREACH (watch, &audit->watches, link) claim_note_refused(watch->claim);
}

void continuous_check_refused(struct continuous_audit *audit)
{
    struct audited_rule *rule;
    note_claims(audit);
    TAILQ_FOREACH (rule, &audit->rules, link) {
        bool is_incomplete = uses_refused(rule);
        if (is_incomplete == rule->is_incomplete) continue;
        rule->is_incomplete = is_incomplete;
        if (is_incomplete)
            audited_rule_forget(rule);
        else
            audited_rule_make_stale(rule, 0);
    }
}

/* Reports refused objects of a claim once: two claims may share a cache. */
static void report(struct buf *reported, const struct informer_claim *claim,
                   void (*fn)(void *ctx, const char *kind, const char *text), void *ctx)
{
    struct buf text = {0};
    if (claim_describe_refused(claim, &text)) {
        char *line = xasprintf("\n%s\n", buf_text(&text));
        if (!strstr(buf_text(reported), line)) {
            buf_puts(reported, line);
            fn(ctx, claim_spec(claim)->kind, buf_text(&text));
        }
        free(line);
    }
    buf_clear(&text);
}

void continuous_each_refused(const struct continuous_audit *audit,
                             void (*fn)(void *ctx, const char *kind, const char *text), void *ctx)
{
    const struct object_source *source;
    const struct watch *watch;
    struct buf reported = {0};
    TAILQ_FOREACH (source, &audit->sources, link) report(&reported, source->claim, fn, ctx);
    TAILQ_FOREACH (watch, &audit->watches, link) report(&reported, watch->claim, fn, ctx);
    buf_clear(&reported);
}

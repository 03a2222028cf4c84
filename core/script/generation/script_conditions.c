/* What the handlers of a script ask of objects, for who checks whether it can ever be; see script.h. */
#include "informer/shared/shared_factory.h"
#include "object/value/path.h"
#include "script/caches/informer_options.h"
#include "script/handlers/handler.h"
#include "script/vm/state.h"

struct walk {
    struct script_condition condition;
    void (*fn)(void *ctx, const struct script_condition *condition);
    void *ctx;
};

static void on_path(void *ctx, const struct path *path, bool with_absent)
{
    struct walk *walk = ctx;
    if (with_absent) return; /* it agrees with what is not there */
    walk->condition.path = path_text(path);
    walk->fn(walk->ctx, &walk->condition);
}

void script_each_condition(const struct script *script,
                           void (*fn)(void *ctx, const struct script_condition *condition), void *ctx)
{
    const struct script_handler *handler;
    struct walk walk = {.fn = fn, .ctx = ctx};
    TAILQ_FOREACH (handler, &script->handlers, link) {
        const struct handler_options *options = handler->options;
        walk.condition.handler = handler->id;
        walk.condition.informer = claim_spec(handler->claim);
        walk.condition.is_changed = false;
        if (options && options->filter) filter_each_path(options->filter, on_path, &walk);
        walk.condition.is_changed = true;
        for (size_t i = 0; options && i < options->changed_count; i++)
            on_path(&walk, options->changed[i], false);
    }
}

void script_each_filter(const struct script *script,
                        void (*fn)(void *ctx, const struct script_filter *filter), void *ctx)
{
    const struct script_handler *handler;
    TAILQ_FOREACH (handler, &script->handlers, link)
        fn(ctx, &(struct script_filter){.handler = handler->id,
                                        .filter = handler->options ? handler->options->filter : NULL,
                                        .informer = claim_spec(handler->claim)});
}

static const struct plan_entry *placed(const struct plan_entry *entry)
{
    return entry && entry->file ? entry : NULL;
}

const struct plan_entry *script_claim_place(const struct script *script, size_t i)
{
    struct buf key = {0};
    informer_spec_describe(claim_spec(script_claim(script, i)), &key);
    const struct plan_entry *entry = plan_find(&script->plan, PLAN_INFORMER, buf_slice(&key));
    buf_clear(&key);
    return placed(entry);
}

void script_put_claim_place(const struct script *script, size_t i, struct buf *out)
{
    const struct plan_entry *entry = script_claim_place(script, i);
    if (entry)
        buf_printf(out, "%s:%d", entry->file, entry->line);
    else
        buf_puts(out, script->path);
}

const struct plan_entry *script_index_place(const struct script *script, size_t i, const char *name)
{
    struct buf key = {0};
    informer_spec_describe(claim_spec(script_claim(script, i)), &key);
    buf_printf(&key, ": %s", name);
    const struct plan_entry *entry = plan_find(&script->plan, PLAN_INDEX, buf_slice(&key));
    buf_clear(&key);
    return placed(entry);
}

const struct plan_entry *script_handler_place(const struct script *script, const char *id)
{
    return placed(plan_find(&script->plan, PLAN_HANDLER, str_of(id)));
}

/* Metrics of scripts; see metrics.h. */
#include "script/inventory/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "script/inventory/inventory.h"
#include "script/vm/memory.h"
#include "script/vm/state.h"

struct script_metric *metrics_add(struct script *script, struct user_metric *metric)
{
    struct script_metrics *metrics = script->own.metrics;
    struct script_metric *item = NEW(struct script_metric);
    item->metric = metric;
    *array_add(metrics->items, metrics->count) = item;
    return item;
}

/* Returns NULL if no metric has the name. */
static struct script_metric *metrics_find(const struct script *script, const char *name)
{
    for (size_t i = 0; i < script->own.metrics->count; i++)
        if (strcmp(user_metric_name(script->own.metrics->items[i]->metric), name) == 0)
            return script->own.metrics->items[i];
    return NULL;
}

size_t metrics_series_count(const struct script *script)
{
    size_t count = 0;
    for (size_t i = 0; i < script->own.metrics->count; i++)
        count += user_metric_series_count(script->own.metrics->items[i]->metric);
    return count;
}

static size_t bytes_of(const struct script *script)
{
    size_t bytes = 0;
    for (size_t i = 0; i < script->own.metrics->count; i++)
        bytes += user_metric_bytes(script->own.metrics->items[i]->metric);
    return bytes;
}

bool metrics_have_room(const struct script *script, const struct user_metric *metric, size_t more,
                       struct err *err)
{
    struct buf value = {0};
    int64_t most = script->limits.values[LIMIT_METRIC_BYTES];
    if ((int64_t)(bytes_of(script) + more) > most) {
        limit_describe(LIMIT_METRIC_BYTES, most, &value);
        err_set(err, ERR_LIMIT, "%s: over the limit %s (%s)", user_metric_name(metric),
                limit_name(LIMIT_METRIC_BYTES), buf_text(&value));
        buf_clear(&value);
        return false;
    }
    if (script->host->hooks.metrics_page || user_metrics_page_bytes() + more <= USER_METRICS_PAGE_MAX)
        return true;
    return err_set(err, ERR_LIMIT, "%s: the metrics of all scripts exceed %dMi", user_metric_name(metric),
                   USER_METRICS_PAGE_MAX >> 20);
}

void metrics_note_memory(struct script *script)
{
    struct script_metrics *metrics = script->own.metrics;
    size_t before = metrics->noted;
    metrics->noted = 0;
    for (size_t i = 0; i < metrics->count; i++)
        metrics->noted += user_metric_memory(metrics->items[i]->metric);
    memory_note(script, (ptrdiff_t)metrics->noted - (ptrdiff_t)before);
}

/* Hands a metric over: both generations count in the one that is shown. */
static void take_one(const struct script_metric *old, struct script_metric *new_)
{
    if (old && user_metric_equal(old->metric, new_->metric)) {
        user_metric_merge(old->metric, new_->metric);
        user_metric_unref(new_->metric);
        new_->metric = user_metric_ref(old->metric);
    } else {
        if (old) user_metric_unpublish(old->metric);
        user_metric_publish(new_->metric);
    }
}

bool metrics_refuse(const struct inventory *plan, const char *name, struct err *err)
{
    err_wrap(err, "k8s.metric");
    return inventory_wrap_place(inventory_find(plan, INVENTORY_METRIC, str_of(name)), err);
}

bool metrics_fit(const struct script *script, struct err *err)
{
    for (size_t i = 0; i < script->own.metrics->count; i++) {
        const struct user_metric *metric = script->own.metrics->items[i]->metric;
        if (!user_metric_check_published(metric, err))
            return metrics_refuse(script->own.inventory, user_metric_name(metric), err);
    }
    return true;
}

void metrics_handover(struct script *old, struct script *new_)
{
    const struct script_metrics *metrics = new_->own.metrics;
    for (size_t i = 0; i < metrics->count; i++) {
        struct script_metric *item = metrics->items[i];
        take_one(old ? metrics_find(old, user_metric_name(item->metric)) : NULL, item);
    }
    for (size_t i = 0; old && i < old->own.metrics->count; i++) {
        struct user_metric *gone = old->own.metrics->items[i]->metric;
        if (!metrics_find(new_, user_metric_name(gone))) user_metric_unpublish(gone);
    }
    metrics_note_memory(new_);
}

void metrics_clear(struct script *script)
{
    struct script_metrics *metrics = script->own.metrics;
    for (size_t i = 0; i < metrics->count; i++) {
        user_metric_unref(metrics->items[i]->metric);
        free(metrics->items[i]);
    }
    free(metrics->items);
}

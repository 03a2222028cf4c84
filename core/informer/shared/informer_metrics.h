/* Series of one informer (I-22, I-24). They end with it, so that nothing is shown of an informer that has
 * ended. Owner: the informer that embeds it. On the engine thread; the counters of the reflector are copied
 * from its status now and then, so that an event costs no more than its processing time here. */
#pragma once
#include <stddef.h>

#include "base/series/series.h"
#include "informer/reflect/reflector.h"
#include "informer/shared/transform.h"
#include "kube/kinds/resource.h"

enum informer_series {
    INFORMER_LISTS,
    INFORMER_WATCH_LISTS,
    INFORMER_LIST_DURATION,
    INFORMER_LISTED_ITEMS,
    INFORMER_WATCHES,
    INFORMER_SHORT_WATCHES,
    INFORMER_WATCH_DURATION,
    INFORMER_WATCHED_OBJECTS,
    INFORMER_LAST_VERSION,
    INFORMER_QUEUED,
    INFORMER_PROCESSING,
    INFORMER_STORE_VERSION,
    INFORMER_OBJECTS,
    INFORMER_BYTES,
    INFORMER_TRANSFORM_ERRORS, /* this and the next of informers with a transform only */
    INFORMER_TRANSFORM_DROPPED,
    INFORMER_UP,
    INFORMER_HEARD,
    INFORMER_SERIES,
};

struct informer_metrics {
    struct series *series[INFORMER_SERIES];
};

void informer_metrics_init(struct informer_metrics *metrics, const char *name,
                           const struct resource *resource, bool transformed);
void informer_metrics_clear(struct informer_metrics *metrics);

struct informer_figures {
    const struct reflector_status *reflector;
    const char *store_version;
    size_t queued, objects;
    bool synced; /* the cache has the first list, not just the queue */
    const struct transform_counts *transform;
};

/* Returns the series that shows an informer as down because it could not start yet. */
struct series *informer_metrics_down(const char *name, const char *kind);
void informer_metrics_update(struct informer_metrics *metrics, const struct informer_figures *figures);
void informer_metrics_update_bytes(struct informer_metrics *metrics, size_t bytes);

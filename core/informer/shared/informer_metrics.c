/* Series of informers; see informer_metrics.h. */
#include "informer/shared/informer_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static struct family families[INFORMER_SERIES] = {
    [INFORMER_LISTS] = FAMILY_OF(700, COUNTER, "reflector_lists_total", "name,resource_type", NULL,
                                 "Number of lists started."),
    [INFORMER_WATCH_LISTS] = FAMILY_OF(701, COUNTER, "reflector_watchlists_total", "name,resource_type", NULL,
                                       "Number of watch-lists started."),
    [INFORMER_LIST_DURATION] = FAMILY_OF(702, SUMMARY, "reflector_list_duration_seconds",
                                         "name,resource_type", NULL, "Duration of lists."),
    [INFORMER_LISTED_ITEMS] = FAMILY_OF(703, SUMMARY, "reflector_listed_items", "name,resource_type", NULL,
                                        "Number of objects per list."),
    [INFORMER_WATCHES] = FAMILY_OF(704, COUNTER, "reflector_watches_total", "name,resource_type", NULL,
                                   "Number of watches started."),
    [INFORMER_SHORT_WATCHES] =
        FAMILY_OF(705, COUNTER, "reflector_short_watches_total", "name,resource_type", NULL,
                  "Number of watches that ended within a second without events."),
    [INFORMER_WATCH_DURATION] = FAMILY_OF(706, SUMMARY, "reflector_watch_duration_seconds",
                                          "name,resource_type", NULL, "Duration of watches."),
    [INFORMER_WATCHED_OBJECTS] = FAMILY_OF(707, COUNTER, "reflector_watched_objects", "name,resource_type",
                                           NULL, "Number of objects received from watches."),
    [INFORMER_LAST_VERSION] = FAMILY_OF(708, GAUGE, "reflector_last_resource_version", "name,resource_type",
                                        NULL, "Last resource version seen (lowest 15 digits)."),
    [INFORMER_QUEUED] = FAMILY_OF(710, GAUGE, "informer_queued_items", "name,group,version,resource", NULL,
                                  "Number of queued deltas."),
    [INFORMER_PROCESSING] =
        FAMILY_OF(711, HISTOGRAM, "informer_processing_latency_seconds", "name,group,version,resource",
                  &buckets_of_processing, "Time to process a delta, including all handlers."),
    [INFORMER_STORE_VERSION] =
        FAMILY_OF(712, GAUGE, "informer_store_resource_version", "name,group,version,resource", NULL,
                  "Resource version of the cache (lowest 15 digits)."),
    [INFORMER_OBJECTS] = FAMILY_OF(720, GAUGE, "kubelua_cache_objects", "name,resource", NULL,
                                   "Number of objects in the cache."),
    [INFORMER_BYTES] = FAMILY_OF(721, GAUGE, "kubelua_cache_bytes", "name,resource", NULL,
                                 "Estimated memory of the objects in the cache."),
    [INFORMER_TRANSFORM_ERRORS] = FAMILY_OF(722, COUNTER, "kubelua_transform_errors_total", "name,resource",
                                            NULL, "Number of failed transforms."),
    [INFORMER_TRANSFORM_DROPPED] = FAMILY_OF(723, COUNTER, "kubelua_transform_dropped_total", "name,resource",
                                             NULL, "Number of objects dropped by a transform."),
    [INFORMER_UP] = FAMILY_OF(724, GAUGE, "kubelua_informer_up", "name,resource", NULL,
                              "1 if the cache is synced and its list and watch work, else 0."),
    [INFORMER_HEARD] = FAMILY_OF(810, GAUGE, "kubelua_informer_last_heard_timestamp_seconds", "name,resource",
                                 NULL, "Time of the last list, event or bookmark from the server."),
};

enum { VERSION_DIGITS = 15 }; /* more do not fit into a double (I-22) */

void informer_metrics_init(struct informer_metrics *m, const char *name, const struct resource *resource,
                           bool transformed)
{
    struct buf type = {0};
    resource_name(resource, &type);
    const char *type_text = buf_text(&type);
    for (size_t i = 0; i < INFORMER_SERIES; i++) {
        bool of_type = i < INFORMER_QUEUED || i > INFORMER_STORE_VERSION;
        bool of_transform = i == INFORMER_TRANSFORM_ERRORS || i == INFORMER_TRANSFORM_DROPPED;
        if (of_transform && !transformed)
            m->series[i] = NULL;
        else if (of_type)
            m->series[i] = SERIES(&families[i], name, type_text);
        else
            m->series[i] = SERIES(&families[i], name, resource->group, resource->version, resource->plural);
    }
    buf_clear(&type);
}

void informer_metrics_clear(struct informer_metrics *m)
{
    for (size_t i = 0; i < INFORMER_SERIES; i++) series_free(m->series[i]);
}

/* Versions are opaque; those that are numbers, as all are today, can be compared by eye. */
static double version_number(const char *version)
{
    size_t n = strlen(version);
    if (strspn(version, "0123456789") != n) return 0;
    return strtod(n > VERSION_DIGITS ? version + n - VERSION_DIGITS : version, NULL);
}

void informer_metrics_update(struct informer_metrics *m, const struct informer_figures *figures)
{
    const struct reflector_status *reflector = figures->reflector;
    const struct reflector_counters *c = &reflector->counters;
    struct series *const *s = m->series;
    series_set(s[INFORMER_LISTS], (double)c->lists);
    series_set(s[INFORMER_WATCH_LISTS], (double)c->watch_lists);
    series_set_summary(s[INFORMER_LIST_DURATION], (double)c->list_ms / 1000, c->lists_done);
    series_set_summary(s[INFORMER_LISTED_ITEMS], (double)c->listed_items, c->lists_done);
    series_set(s[INFORMER_WATCHES], (double)c->watches);
    series_set(s[INFORMER_SHORT_WATCHES], (double)c->short_watches);
    series_set_summary(s[INFORMER_WATCH_DURATION], (double)c->watch_ms / 1000, c->watches_done);
    series_set(s[INFORMER_WATCHED_OBJECTS], (double)c->watched_objects);
    series_set(s[INFORMER_LAST_VERSION], version_number(reflector->resource_version));
    series_set(s[INFORMER_QUEUED], (double)figures->queued);
    series_set(s[INFORMER_STORE_VERSION], version_number(figures->store_version));
    series_set(s[INFORMER_OBJECTS], (double)figures->objects);
    series_set(s[INFORMER_TRANSFORM_ERRORS], (double)figures->transform->failed);
    series_set(s[INFORMER_TRANSFORM_DROPPED], (double)figures->transform->dropped);
    series_set(s[INFORMER_UP], figures->synced && reflector->last_error.code == ERR_NONE); /* B-7 */
    series_set(s[INFORMER_HEARD], (double)reflector->heard_us / 1e6);
}

struct series *informer_metrics_down(const char *name, const char *kind)
{
    return SERIES(&families[INFORMER_UP], name, kind);
}

void informer_metrics_update_bytes(struct informer_metrics *m, size_t bytes)
{
    series_set(m->series[INFORMER_BYTES], (double)bytes);
}

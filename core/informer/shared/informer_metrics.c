/* Series of informers; see informer_metrics.h. */
#include "informer/shared/informer_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum { VERSION_DIGITS = 15 }; /* more do not fit into a double (I-22) */

void informer_metrics_init(struct informer_metrics *m, const char *name, const struct resource *resource,
                           bool transformed)
{
    static const enum family of_reflectors[] = {
        FAMILY_LISTS,          FAMILY_WATCH_LISTS,     FAMILY_LIST_DURATION,
        FAMILY_LISTED_ITEMS,   FAMILY_WATCHES,         FAMILY_SHORT_WATCHES,
        FAMILY_WATCH_DURATION, FAMILY_WATCHED_OBJECTS, FAMILY_LAST_VERSION,
    };
    static const enum family of_informers[] = {FAMILY_QUEUED_ITEMS, FAMILY_PROCESSING, FAMILY_STORE_VERSION};
    struct buf type = {0};
    resource_name(resource, &type);
    const char *type_text = buf_text(&type);
    for (size_t i = INFORMER_LISTS; i <= INFORMER_LAST_VERSION; i++)
        m->series[i] = SERIES(of_reflectors[i - INFORMER_LISTS], name, type_text);
    for (size_t i = INFORMER_QUEUED; i <= INFORMER_STORE_VERSION; i++)
        m->series[i] = SERIES(of_informers[i - INFORMER_QUEUED], name, resource->group, resource->version,
                              resource->plural);
    m->series[INFORMER_OBJECTS] = SERIES(FAMILY_CACHE_OBJECTS, name, type_text);
    m->series[INFORMER_BYTES] = SERIES(FAMILY_CACHE_BYTES, name, type_text);
    m->series[INFORMER_TRANSFORM_ERRORS] =
        transformed ? SERIES(FAMILY_TRANSFORM_ERRORS, name, type_text) : NULL;
    m->series[INFORMER_TRANSFORM_DROPPED] =
        transformed ? SERIES(FAMILY_TRANSFORM_DROPPED, name, type_text) : NULL;
    m->series[INFORMER_UP] = SERIES(FAMILY_INFORMER_UP, name, type_text);
    m->series[INFORMER_HEARD] = SERIES(FAMILY_INFORMER_HEARD, name, type_text);
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
    return SERIES(FAMILY_INFORMER_UP, name, kind);
}

void informer_metrics_update_bytes(struct informer_metrics *m, size_t bytes)
{
    series_set(m->series[INFORMER_BYTES], (double)bytes);
}

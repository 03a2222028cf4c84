/* State that a list shows; see snapshot.h. */
#include "sim/store/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/object/status.h"
#include "sim/store/params.h"

static const char continue_expired[] =
    "The provided continue parameter is too old to display a consistent list result. You can start a new "
    "list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the "
    "results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, "
    "modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list.";

static void take_present(struct sim_api *api, const struct sim_resource *resource,
                         struct sim_snapshot *snapshot)
{
    snapshot->map = omap_ref(resource->map);
    snapshot->version = api->store->version;
}

static json_t *take_exact(struct sim_api *api, const struct sim_resource *resource, uint64_t version,
                          struct sim_snapshot *snapshot)
{
    struct omap *map;
    if (version > api->store->version) return sim_status_too_large(version, api->store->version);
    if (!sim_history_map(&resource->history, version, &map))
        return sim_status_expired("The resourceVersion for the provided list is too old.", NULL);
    snapshot->map = omap_ref(map);
    snapshot->version = version;
    return NULL;
}

/* Takes a later page: at the version of the first, or a 410 with a token that continues at the present one
 * (A-5). */
static json_t *take_page(struct sim_api *api, const struct sim_resource *resource,
                         const struct sim_page *page, struct sim_snapshot *snapshot)
{
    struct omap *map;
    if (page->version < 0) {
        take_present(api, resource, snapshot);
        return NULL;
    }
    if ((uint64_t)page->version > api->store->version ||
        !sim_history_map(&resource->history, (uint64_t)page->version, &map)) {
        char *token = sim_page_token(-1, page->after);
        json_t *status = sim_status_expired(continue_expired, token);
        free(token);
        return status;
    }
    snapshot->map = omap_ref(map);
    snapshot->version = (uint64_t)page->version;
    return NULL;
}

static json_t *take(struct sim_api *api, const struct sim_resource *resource,
                    const struct sim_list_options *options, const struct sim_page *page,
                    struct sim_snapshot *snapshot)
{
    if (options->continue_) return take_page(api, resource, page, snapshot);
    bool legacy_exact = options->match == SIM_MATCH_UNSET && options->limit && options->version;
    if (options->has_version && (options->match == SIM_MATCH_EXACT || legacy_exact))
        return take_exact(api, resource, options->version, snapshot);
    if (options->version > api->store->version)
        return sim_status_too_large(options->version, api->store->version);
    if (options->has_version && options->version == 0 && api->settings.watch_cache) snapshot->limit = 0;
    take_present(api, resource, snapshot);
    return NULL;
}

bool sim_snapshot_take(struct sim_api *api, const struct sim_target *target,
                       const struct sim_list_options *options, struct sim_snapshot *snapshot,
                       json_t **refusal)
{
    struct sim_page page = {0};
    char *why = options->continue_ ? sim_page_read(options->continue_, &page) : NULL;
    *refusal = why ? sim_status_bad_request("invalid continue token: %s", why) : NULL;
    *snapshot = (struct sim_snapshot){.limit = options->limit};
    free(why);
    if (*refusal) return false;
    sim_store_lock(api->store);
    *refusal = take(api, target->served->resource, options, &page, snapshot);
    sim_store_unlock(api->store);
    if (*refusal) {
        free(page.after);
        return false;
    }
    snapshot->after = page.after;
    snapshot->prefix = target->namespace_ ? xasprintf("%s/", target->namespace_) : xstrdup("");
    return true;
}

void sim_snapshot_release(struct sim_api *api, struct sim_snapshot *snapshot)
{
    sim_store_lock(api->store);
    omap_unref(snapshot->map);
    sim_store_unlock(api->store);
    free(snapshot->after);
    free(snapshot->prefix);
    *snapshot = (struct sim_snapshot){0};
}

void sim_snapshot_seek(const struct sim_snapshot *snapshot, struct omap_cursor *cursor)
{
    if (!snapshot->after) {
        omap_seek(cursor, snapshot->map, snapshot->prefix);
        return;
    }
    char *behind =
        xasprintf("%s\1", snapshot->after); /* above the key and below all others that begin with it */
    omap_seek(cursor, snapshot->map, behind);
    free(behind);
}

struct sim_object *sim_snapshot_next(const struct sim_snapshot *snapshot, struct omap_cursor *cursor,
                                     const struct sim_list_options *options)
{
    struct sim_object *object;
    size_t n = strlen(snapshot->prefix);
    while ((object = omap_next(cursor))) {
        if (strncmp(object->key, snapshot->prefix, n) != 0) return NULL;
        if (sim_list_selects(options, object)) return object;
    }
    return NULL;
}

size_t sim_snapshot_remaining(const struct sim_snapshot *snapshot, const char *key)
{
    size_t n = strlen(snapshot->prefix), end = omap_count(snapshot->map);
    if (n) {
        char *above = xstrdup(snapshot->prefix);
        above[n - 1]++; /* the first key behind the namespace: '/' becomes '0' */
        end = omap_rank(snapshot->map, above);
        free(above);
    }
    return end - omap_rank(snapshot->map, key) - 1;
}

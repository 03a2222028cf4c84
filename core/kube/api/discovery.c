/* Discovery of the served resources: two aggregated documents, or a small one for each group version of a
 * server that does not know those; see resource.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kube/api/kube_call.h"
#include "kube/kinds/catalogue.h"
#include "kube/kinds/well_known.h"

enum {
    DOCUMENT_MAX = 64 << 20,
    /* Most legacy requests in flight, but for those that keep us waiting: few enough for the server, and for
     * connections without HTTP/2. */
    AT_ONCE = 8,
    PATIENCE_MS = 500, /* then others do not wait for a response any more */
};

static const char accept_aggregated[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/* Request for one of the two roots, or one legacy group version. */
struct fetch {
    struct discovery *discovery;
    struct kube_call *call;
    char *path, *group, *version;
    unsigned group_order, version_order;
    bool started, finished, is_slow;
    struct err err;
};

struct discovery {
    struct kube_client *client;
    struct catalogue *catalogue;
    void (*done)(void *ctx, struct catalogue *catalogue, const struct err *err);
    bool (*partial)(void *ctx, struct catalogue *catalogue); /* NULL: nobody asks */
    void *ctx;
    struct timer patience;
    bool has_news;         /* since the last partial catalogue */
    struct fetch roots[2]; /* /api, /apis */
    struct fetch **legacy;
    size_t legacy_count, running, slow; /* slow: of the running ones */
};

static void free_discovery(struct discovery *discovery)
{
    timer_cancel(&discovery->patience);
    for (size_t i = 0; i < discovery->legacy_count; i++) {
        free(discovery->legacy[i]->path);
        free(discovery->legacy[i]->group);
        free(discovery->legacy[i]->version);
        free(discovery->legacy[i]);
    }
    free(discovery->legacy);
    catalogue_free(discovery->catalogue);
    free(discovery);
}

static void finish(struct discovery *discovery, const struct err *err)
{
    struct catalogue *catalogue = err ? NULL : discovery->catalogue;
    struct err copy;
    if (err) copy = *err;
    if (catalogue) {
        catalogue_finish(catalogue);
        discovery->catalogue = NULL;
    }
    discovery->done(discovery->ctx, catalogue, err ? &copy : NULL);
    discovery_cancel(discovery);
}

/* Requests a document, with one try: discovery is repeated as a whole. */
static struct kube_call *fetch_path(struct discovery *discovery, const char *path, const char *accept,
                                    void (*done)(void *ctx, const struct kube_response *response,
                                                 const struct err *err),
                                    struct fetch *fetch)
{
    const struct kube_request request = {.path = path, .accept = accept, .limit = DOCUMENT_MAX, .once = true};
    return kube_call_start(discovery->client, &request, done, fetch);
}

static void on_legacy(void *ctx, const struct kube_response *response, const struct err *err);

static void start_legacy(struct discovery *discovery)
{
    for (size_t i = 0; i < discovery->legacy_count && discovery->running - discovery->slow < AT_ONCE; i++) {
        struct fetch *fetch = discovery->legacy[i];
        if (fetch->started) continue;
        fetch->started = true;
        discovery->running++;
        fetch->call = fetch_path(discovery, fetch->path, "application/json", on_legacy, fetch);
    }
}

/* Returns whether the root is closed to us; lists and watches may be served all the same. */
static bool is_closed(const struct err *err)
{
    return err->code == ERR_HTTP && (err->http_status == 403 || err->http_status == 404);
}

/* Returns whether the root's failure fails discovery. */
static bool fails_all(struct fetch *root, const struct fetch *other, const char *path)
{
    bool all = root->err.code != ERR_NONE && !is_closed(&root->err) &&
               (root->err.code != ERR_HTTP || other->err.code != ERR_NONE);
    if (all) err_wrap(&root->err, "GET %s", path);
    return all;
}

/* Notes a root that failed. One that is closed is replaced by the kinds that every cluster has, and by the
 * belief in full names. */
static void note_root(struct catalogue *catalogue, const struct fetch *root, bool is_api)
{
    if (root->err.code == ERR_NONE) return;
    catalogue_add_failure(catalogue, is_api ? "/api" : "/apis", root->err.text);
    if (!is_closed(&root->err)) return;
    well_known_add(catalogue, is_api);
    catalogue->unlisted[!is_api] = true;
}

/* Continues after a response (F-4). A root that failed leaves the other one's kinds; without any response
 * nothing can be known. */
static void proceed(struct discovery *discovery)
{
    struct fetch *api = &discovery->roots[0], *apis = &discovery->roots[1];
    discovery->has_news = true;
    start_legacy(discovery);
    if (!api->finished || !apis->finished || discovery->running > 0) return;
    if (fails_all(api, apis, "/api")) {
        finish(discovery, &api->err);
        return;
    }
    if (fails_all(apis, api, "/apis")) {
        finish(discovery, &apis->err);
        return;
    }
    /* Recorded, so that an unknown kind is reported with the groups that did not respond. */
    note_root(discovery->catalogue, api, true);
    note_root(discovery->catalogue, apis, false);
    finish(discovery, NULL);
}

/* --- what is known while groups do not respond */

static void put_version(const struct fetch *fetch, struct buf *out)
{
    buf_printf(out, "%s%s%s", fetch->group, *fetch->group ? "/" : "", fetch->version);
}

/* A group with a version that is missing would resolve to another version than later. */
static bool is_awaited(const struct discovery *discovery, const char *group)
{
    for (size_t i = 0; i < discovery->legacy_count; i++)
        if (!discovery->legacy[i]->finished && strcmp(discovery->legacy[i]->group, group) == 0) return true;
    return false;
}

static struct catalogue *known_by_now(const struct discovery *discovery)
{
    static const char silent[] = "no response yet";
    struct catalogue *known = catalogue_new();
    known->partial = true;
    catalogue_add_failures_of(known, discovery->catalogue);
    for (size_t i = 0; i < discovery->catalogue->count; i++)
        if (!is_awaited(discovery, discovery->catalogue->entries[i].resource.group))
            catalogue_add_copy(known, &discovery->catalogue->entries[i]);
    for (int i = 0; i < 2; i++) {
        const struct fetch *root = &discovery->roots[i];
        if (!root->finished)
            catalogue_add_failure(known, i ? "/apis" : "/api", silent);
        else
            note_root(known, root, !i);
    }
    for (size_t i = 0; i < discovery->legacy_count; i++) {
        struct buf what = {0};
        put_version(discovery->legacy[i], &what);
        if (!discovery->legacy[i]->finished) catalogue_add_failure(known, buf_text(&what), silent);
        buf_clear(&what);
    }
    catalogue_finish(known);
    return known;
}

static void on_patience(struct timer *timer)
{
    struct discovery *discovery = container_of(timer, struct discovery, patience);
    for (size_t i = 0; i < discovery->legacy_count; i++) {
        struct fetch *fetch = discovery->legacy[i];
        if (!fetch->started || fetch->finished || fetch->is_slow) continue;
        fetch->is_slow = true;
        discovery->slow++;
    }
    start_legacy(discovery);
    if (discovery->has_news) {
        struct catalogue *known = known_by_now(discovery);
        discovery->has_news = !discovery->partial(discovery->ctx, known);
        if (discovery->has_news) catalogue_free(known);
    }
    timer_start(timer, loop_clock(kube_client_loop(discovery->client)), PATIENCE_MS);
}

/* --- documents */

static void on_legacy(void *ctx, const struct kube_response *response, const struct err *err)
{
    struct fetch *fetch = ctx;
    struct discovery *discovery = fetch->discovery;
    struct tape tape;
    struct err parse_err;
    fetch->call = NULL;
    fetch->finished = true;
    discovery->running--;
    discovery->slow -= fetch->is_slow;
    if (!err &&
        !tape_parse(kube_client_parser(discovery->client), response->body, response->len, &tape, &parse_err))
        err = &parse_err;
    if (err) {
        struct buf what = {0};
        buf_printf(&what, "%s%s%s", fetch->group, *fetch->group ? "/" : "", fetch->version);
        /* One group that does not respond, as an aggregated API that is down, must not hide all others. */
        catalogue_add_failure(discovery->catalogue, buf_text(&what), err->text);
        buf_clear(&what);
    } else {
        catalogue_add_legacy(discovery->catalogue, &tape, str_of(fetch->group), str_of(fetch->version),
                             fetch->group_order, fetch->version_order);
    }
    proceed(discovery);
}

static void add_legacy(struct discovery *discovery, struct str group, struct str version,
                       unsigned group_order, unsigned version_order)
{
    /* Such a name would be cut off in the path of the request. */
    if (!version.n || str_has_nul(version) || str_has_nul(group)) return;
    struct fetch *fetch = NEW(struct fetch);
    fetch->discovery = discovery;
    fetch->group = xstrndup(group.p ? group.p : "", group.n);
    fetch->version = xstrndup(version.p, version.n);
    fetch->path = group.n ? xasprintf("/apis/%s/%s", fetch->group, fetch->version)
                          : xasprintf("/api/%s", fetch->version);
    fetch->group_order = group_order;
    fetch->version_order = version_order;
    *array_add(discovery->legacy, discovery->legacy_count) = fetch;
}

/* Reads an APIVersions document: {"versions":["v1"]}. */
static void read_versions(struct discovery *discovery, const struct tape *tape)
{
    size_t versions = tape_field(tape, tape_root(tape), STR("versions"));
    unsigned order = 0;
    for (size_t at = tape_first(tape, versions, NULL); at; at = tape_next(tape, versions, at, NULL))
        add_legacy(discovery, (struct str){0}, tape_str(tape, at), 0, order++);
}

/* Reads an APIGroupList document: the preferred version first, then the others in their order. */
static void read_groups(struct discovery *discovery, const struct tape *tape)
{
    size_t groups = tape_field(tape, tape_root(tape), STR("groups"));
    unsigned group_order = 1;
    for (size_t g = tape_first(tape, groups, NULL); g; g = tape_next(tape, groups, g, NULL), group_order++) {
        struct str name = tape_str(tape, tape_field(tape, g, STR("name")));
        size_t versions = tape_field(tape, g, STR("versions"));
        struct str preferred =
            tape_str(tape, tape_field(tape, tape_field(tape, g, STR("preferredVersion")), STR("version")));
        unsigned order = 0;
        if (preferred.n) add_legacy(discovery, name, preferred, group_order, order++);
        for (size_t v = tape_first(tape, versions, NULL); v; v = tape_next(tape, versions, v, NULL)) {
            struct str version = tape_str(tape, tape_field(tape, v, STR("version")));
            if (!str_eq(version, preferred)) add_legacy(discovery, name, version, group_order, order++);
        }
    }
}

static bool read_root(struct discovery *discovery, const struct tape *tape, bool is_api, struct err *err)
{
    struct str kind = tape_str(tape, tape_field(tape, tape_root(tape), STR("kind")));
    if (str_is(kind, "APIGroupDiscoveryList"))
        catalogue_add_aggregated(discovery->catalogue, tape, is_api ? 0 : 1);
    else if (is_api && str_is(kind, "APIVersions"))
        read_versions(discovery, tape);
    else if (!is_api && str_is(kind, "APIGroupList"))
        read_groups(discovery, tape);
    else
        return err_set(err, ERR_PARSE, "the response is \"%.*s\", not a discovery document", STR_ARG(kind));
    return true;
}

static void on_root(void *ctx, const struct kube_response *response, const struct err *err)
{
    struct fetch *root = ctx;
    struct discovery *discovery = root->discovery;
    bool is_api = root == &discovery->roots[0];
    struct tape tape;
    root->call = NULL;
    root->finished = true;
    if (err)
        root->err = *err;
    else if (tape_parse(kube_client_parser(discovery->client), response->body, response->len, &tape,
                        &root->err))
        read_root(discovery, &tape, is_api, &root->err);
    proceed(discovery);
}

struct discovery *discovery_start(struct kube_client *client,
                                  void (*done)(void *ctx, struct catalogue *catalogue, const struct err *err),
                                  void *ctx)
{
    struct discovery *discovery = NEW(struct discovery);
    discovery->client = client;
    discovery->catalogue = catalogue_new();
    discovery->done = done;
    discovery->ctx = ctx;
    discovery->patience.fn = on_patience;
    for (int i = 0; i < 2; i++) {
        struct fetch *root = &discovery->roots[i];
        root->discovery = discovery;
        err_clear(&root->err);
        root->call = fetch_path(discovery, i ? "/apis" : "/api", accept_aggregated, on_root, root);
    }
    return discovery;
}

void discovery_on_partial(struct discovery *discovery,
                          bool (*partial)(void *ctx, struct catalogue *catalogue))
{
    discovery->partial = partial;
    timer_start(&discovery->patience, loop_clock(kube_client_loop(discovery->client)), PATIENCE_MS);
}

void discovery_cancel(struct discovery *discovery)
{
    if (!discovery) return;
    for (int i = 0; i < 2; i++) kube_call_cancel(discovery->roots[i].call);
    for (size_t i = 0; i < discovery->legacy_count; i++) kube_call_cancel(discovery->legacy[i]->call);
    free_discovery(discovery);
}

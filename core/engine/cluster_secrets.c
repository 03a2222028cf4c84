/* Clusters by Secrets; see cluster_secrets.h. */
#include "engine/cluster_secrets.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text/base64.h"
#include "kube/kinds/resource.h"
#include "object/pack/projection.h"
#include "object/value/selector.h"
#include "object/value/value.h"

/* A Secret has no more. */
enum { KUBECONFIG_MAX = 1 << 20 };

/* A Secret that is used. */
struct secret_cluster {
    LIST_ENTRY(secret_cluster) link;
    char *secret;
    const struct cluster *cluster;
};

/* A Secret that is refused, and tried again now and then. */
struct refused_secret {
    LIST_ENTRY(refused_secret) link;
    char *secret, *reason; /* the one that was logged */
};

struct cluster_secrets {
    struct clusters *clusters;
    const struct engine_settings *settings;
    char *namespace_;
    struct informer_claim *claim;
    struct claim_handler *handler;
    LIST_HEAD(, secret_cluster) used;
    LIST_HEAD(, refused_secret) refused;
    size_t count;
};

/* --- what is in a Secret */

static struct str field_of(struct root *secret, const char *map, struct str key, struct text *text)
{
    return value_str(value_field(value_field(root_value(secret), str_of(map)), key), text);
}

/* That of Cluster API is called `value`. */
static struct str kubeconfig_of(struct root *secret, struct text *text)
{
    struct str own = field_of(secret, "data", STR("kubeconfig"), text);
    return own.p ? own : field_of(secret, "data", STR("value"), text);
}

/* The Secret's name, or the one that Cluster API gives to its cluster. */
static char *name_of(struct root *secret)
{
    struct text text;
    struct str name =
        value_str(value_field(root_labels(secret), STR("cluster.x-k8s.io/cluster-name")), &text);
    if (!name.n) name = root_name(secret, &text);
    return xstrndup(name.p, name.n);
}

static struct cluster_config *read_config(struct root *secret, const char *path, struct err *err)
{
    struct text text;
    struct buf plain = {0};
    struct str data = kubeconfig_of(secret, &text);
    struct cluster_config *config = NEW(struct cluster_config);
    bool ok =
        data.n > 0 || err_set(err, ERR_INVALID, "%s: no kubeconfig in data.kubeconfig or data.value", path);
    if (ok && data.n > KUBECONFIG_MAX)
        ok = err_set(err, ERR_INVALID, "%s: longer than the limit of %d bytes", path, KUBECONFIG_MAX);
    if (ok && !base64_decode(data, &plain)) ok = err_set(err, ERR_INVALID, "%s: not Base64", path);
    ok = ok && cluster_config_parse(path, buf_slice(&plain), config, err);
    buf_wipe(&plain);
    if (ok) return config;
    free(config);
    return NULL;
}

/* --- clusters */

static struct cluster *make_cluster(const struct cluster_secrets *all, const char *name,
                                    struct cluster_config *config, struct err *err)
{
    struct cluster *home = all->clusters->home;
    return cluster_new(&(const struct cluster_options){.engine_loop = home->options.engine_loop,
                                                       .io_loop = home->options.io_loop,
                                                       .config = config,
                                                       .owned = config,
                                                       .settings = all->settings,
                                                       .name = name,
                                                       .home = home,
                                                       .comes_and_goes = true},
                       err);
}

static bool check_room(const struct cluster_secrets *all, const char *name, struct err *err)
{
    const struct cluster_names names = clusters_names(all->clusters);
    if (all->count >= CLUSTER_SECRETS_MAX)
        return err_set(err, ERR_LIMIT, "more than %d clusters by Secrets", CLUSTER_SECRETS_MAX);
    if (names.find(names.ctx, str_of(name)))
        return err_set(err, ERR_INVALID, "another cluster is called \"%s\"", name);
    return true;
}

static void use(struct cluster_secrets *all, char *secret, struct cluster *cluster)
{
    struct secret_cluster *used = NEW(struct secret_cluster);
    *used = (struct secret_cluster){.secret = xstrdup(secret), .cluster = cluster};
    LIST_INSERT_HEAD(&all->used, used, link);
    all->count++;
    clusters_add(all->clusters, cluster);
    cluster_refresh_kinds(cluster);
}

static char *path_of(const struct cluster_secrets *all, struct root *object)
{
    struct text text;
    struct str own = root_name(object, &text);
    return xasprintf("%s/%.*s", all->namespace_, STR_ARG(own));
}

static void forget(struct refused_secret *refused)
{
    LIST_REMOVE(refused, link);
    free(refused->secret);
    free(refused->reason);
    free(refused);
}

/* Its content is another one now, or it is used, or gone. */
static void forget_refusal(struct cluster_secrets *all, const char *secret)
{
    struct refused_secret *refused;
    LIST_FOREACH (refused, &all->refused, link)
        if (strcmp(refused->secret, secret) == 0) break;
    if (refused) forget(refused);
}

/* Logs each reason once. */
static void refuse(struct cluster_secrets *all, const char *secret, const char *reason)
{
    const struct refused_secret *before;
    LIST_FOREACH (before, &all->refused, link)
        if (strcmp(before->secret, secret) == 0 && strcmp(before->reason, reason) == 0) return;
    log_warn("Secret is not used as a cluster", F("secret", secret), F("err", reason));
    forget_refusal(all, secret);
    struct refused_secret *refused = NEW(struct refused_secret);
    *refused = (struct refused_secret){.secret = xstrdup(secret), .reason = xstrdup(reason)};
    LIST_INSERT_HEAD(&all->refused, refused, link);
}

static void join(struct cluster_secrets *all, struct root *object)
{
    struct err err;
    char *secret = path_of(all, object), *name = name_of(object), *path = xasprintf("Secret %s", secret);
    struct cluster_config *config = check_room(all, name, &err) ? read_config(object, path, &err) : NULL;
    struct cluster *cluster = config ? make_cluster(all, name, config, &err) : NULL;
    if (cluster) {
        log_info("Cluster added", F("cluster", name), F("secret", secret), F("server", config->server));
        forget_refusal(all, secret);
        use(all, secret, cluster);
    } else {
        refuse(all, secret, err.text);
        if (config) cluster_config_clear(config);
        free(config);
    }
    free(secret);
    free(name);
    free(path);
}

static struct secret_cluster *find(const struct cluster_secrets *all, const char *secret)
{
    struct secret_cluster *used;
    LIST_FOREACH (used, &all->used, link)
        if (strcmp(used->secret, secret) == 0) return used;
    return NULL;
}

static void leave(struct cluster_secrets *all, struct root *object)
{
    char *secret = path_of(all, object);
    struct secret_cluster *used = find(all, secret);
    if (used) {
        log_info("Cluster removed", F("cluster", used->cluster->name), F("secret", secret));
        clusters_leave(all->clusters, used->cluster);
        LIST_REMOVE(used, link);
        all->count--;
        free(used->secret);
        free(used);
    }
    forget_refusal(all, secret);
    free(secret);
}

static bool join_other(void *ctx, struct root *object)
{
    struct cluster_secrets *all = ctx;
    char *secret = path_of(all, object);
    if (!find(all, secret)) join(all, object);
    free(secret);
    return true;
}

/* A cluster that left may have had the name, or the place, that another Secret was refused for. */
static void join_others(struct cluster_secrets *all)
{
    indexer_each(claim_indexer(all->claim), join_other, all);
}

/* --- Secrets */

static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    join(ctx, object);
}

/* A kubeconfig that changed is that of another cluster, as far as anybody can tell. */
static void on_update(void *ctx, struct root *before, struct root *after, const struct event_info *info)
{
    struct text old_text, new_text;
    char *old_name = name_of(before), *new_name = name_of(after);
    bool same = str_eq(kubeconfig_of(before, &old_text), kubeconfig_of(after, &new_text)) &&
                strcmp(old_name, new_name) == 0;
    free(old_name);
    free(new_name);
    if (same) return;
    leave(ctx, before);
    join(ctx, after);
    join_others(ctx);
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    leave(ctx, last);
    join_others(ctx);
}

/* Keeps no more of Secrets than is used. */
static struct projection *wanted_fields(void)
{
    static const char *const fields[] = {"data.kubeconfig", "data.value", "metadata.labels"};
    struct err err;
    return projection_new((struct projection_paths){fields, ARRAY_LEN(fields)}, (struct projection_paths){0},
                          &err);
}

static void follow(struct cluster_secrets *all, const char *selector)
{
    const struct informer_spec spec = {.kind = "v1/Secret",
                                       .namespace_ = all->namespace_,
                                       .label_selector = selector,
                                       .field_selector = "",
                                       .projection = wanted_fields()};
    all->claim = shared_factory_claim(all->clusters->home->parts.factory, &spec);
    projection_unref(spec.projection);
    all->handler = claim_add_handler(
        all->claim, &(const struct event_handler){
                        .on_add = on_add, .on_update = on_update, .on_delete = on_delete, .ctx = all});
}

struct cluster_secrets *cluster_secrets_new(struct clusters *clusters, const char *from,
                                            const struct engine_settings *settings, struct err *err)
{
    struct str selector = str_of(from), ns;
    str_cut(&selector, '/', &ns);
    const char *labels = selector.n ? selector.p : CLUSTER_SECRETS_SELECTOR;
    struct selector *parsed = selector_parse(str_of(labels), err);
    selector_free(parsed);
    if (!parsed || !namespace_name_check(ns, err)) return NULL;
    struct cluster_secrets *all = NEW(struct cluster_secrets);
    all->clusters = clusters;
    all->settings = settings;
    all->namespace_ = xstrndup(ns.p, ns.n);
    LIST_INIT(&all->used);
    LIST_INIT(&all->refused);
    follow(all, labels);
    return all;
}

void cluster_secrets_free(struct cluster_secrets *all)
{
    struct secret_cluster *used;
    if (!all) return;
    claim_remove_handler(all->handler);
    claim_release(all->claim);
    while ((used = LIST_FIRST(&all->used))) {
        LIST_REMOVE(used, link);
        free(used->secret);
        free(used);
    }
    while (!LIST_EMPTY(&all->refused)) forget(LIST_FIRST(&all->refused));
    free(all->namespace_);
    free(all);
}

/* Clusters of a running engine as `kubelua status` shows them; see admin_engine.h. */
#include "app/admin/admin_engine.h"
#include "base/text/json_out.h"
#include "engine/engine_view.h"
#include "kube/kinds/kinds.h"

static void put_cluster(const struct cluster *cluster, const char *name, struct buf *out)
{
    struct err err;
    struct reachability *reach = kube_client_reachability(io_thread_client(cluster->io));
    int64_t lost_us = reachability_lost_us(reach, &err);
    json_open(out, NULL, '{');
    json_text(out, "name", name);
    json_text(out, "server", cluster_server(cluster));
    json_text(out, "source", cluster->options.config->source);
    json_bool(out, "home", !cluster->name);
    json_bool(out, "known", kinds_known(cluster->parts.kinds));
    json_time(out, "unreachableSince", lost_us);
    json_text(out, "unreachable", lost_us ? err.text : "");
    json_text(out, "discoveryError", discoverer_error(cluster->discoverer));
    json_close(out, '}');
}

void admin_put_clusters(const struct engine *engine, struct buf *out)
{
    const struct cluster_names *names = &engine_host(engine)->clusters;
    const struct cluster *cluster;
    uint64_t id;
    if (!engine_cluster_at(engine, 1)) return;
    json_open(out, "clusters", '[');
    for (size_t i = 0; (cluster = engine_cluster_at(engine, i)); i++)
        put_cluster(cluster, names->at(names->ctx, i, &id), out);
    json_close(out, ']');
}

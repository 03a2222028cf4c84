/* Identity of a cluster; see cluster_id.h. */
#include "engine/warm/cluster_id.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "object/value/value.h"

struct cluster_id {
    struct live_read *read;
    const struct cluster_config *config;
    void (*done)(void *ctx, const char *id, const char *why);
    void *ctx;
};

static void finish(struct cluster_id *id, const char *text, const char *why)
{
    live_close(id->read);
    id->read = NULL;
    id->done(id->ctx, text, why);
}

/* The certificate authority is the cluster's own nearly everywhere; without one any server could stand behind
 * the address. */
static void finish_by_address(struct cluster_id *id, const struct err *err)
{
    const struct cluster_config *config = id->config;
    char hash[33];
    bool refused = err->http_status == 401 || err->http_status == 403 || err->http_status == 404;
    if (!refused || !config->ca_pem || config->insecure_skip_tls_verify) {
        char *why = xasprintf("%s; the uid of the namespace kube-system identifies a cluster", err->text);
        finish(id, "", why);
        free(why);
        return;
    }
    hash_lasting(str_of(config->ca_pem), hash);
    char *text = xasprintf("%s, certificate authority %s", config->server, hash);
    finish(id, text, "");
    free(text);
}

static void on_namespace(void *ctx, const struct object_response *response)
{
    struct cluster_id *id = ctx;
    struct text text;
    if (!response->object) {
        static const struct err none = {.code = ERR_PARSE, .text = "the response has no object"};
        finish_by_address(id, response->err ? response->err : &none);
        return;
    }
    struct str uid = root_uid(response->object, &text);
    char *copy = xasprintf("uid %.*s", STR_ARG(uid));
    root_unref(response->object);
    finish(id, uid.n ? copy : "", "the namespace kube-system has no uid");
    free(copy);
}

struct cluster_id *cluster_id_read(struct live_client *live, const struct cluster_config *config,
                                   void (*done)(void *ctx, const char *id, const char *why), void *ctx)
{
    static char group[] = "", version[] = "v1", plural[] = "namespaces", kind[] = "Namespace";
    static const struct resource namespaces = {group, version, plural, kind, SCOPE_CLUSTER};
    const struct object_request request = {
        .verb = OBJECT_GET, .place = {.resource = &namespaces, .name = "kube-system"}, .urgent = true};
    struct cluster_id *id = NEW(struct cluster_id);
    *id = (struct cluster_id){.config = config, .done = done, .ctx = ctx};
    id->read = live_call(live, &request, on_namespace, id);
    return id;
}

void cluster_id_free(struct cluster_id *id)
{
    if (!id) return;
    if (id->read) live_close(id->read);
    free(id);
}

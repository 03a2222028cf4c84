/* Subresources of pods for which an API server asks a kubelet, of which there is none here: the errors of a
 * server that has no node, no address or no answer. See subresource.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/api/subresource.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

bool sim_is_kubelets(const char *subresource)
{
    static const char *const all[] = {"log", "exec", "attach", "portforward"};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (strcmp(subresource, all[i]) == 0) return true;
    return false;
}

/* Returns why no container is meant: none of that name, or one of several; NULL if `*name` is one. */
static json_t *choose(const json_t *pod, const char **name)
{
    const json_t *containers = sim_at(pod, "spec.containers"), *container;
    const char *own = sim_text_at(pod, "metadata.name");
    struct buf names = {0};
    size_t i;
    if (nonempty(*name))
        return sim_find(containers, "name", *name) ||
                       sim_find(sim_at(pod, "spec.initContainers"), "name", *name)
                   ? NULL
                   : sim_status_bad_request("container %s is not valid for pod %s", *name, own);
    *name = sim_text_at(json_array_get(containers, 0), "name");
    if (json_array_size(containers) == 1) return NULL;
    json_array_foreach ((json_t *)containers, i, container)
        buf_printf(&names, "%s%s", i ? " " : "", sim_text_at(container, "name"));
    json_t *refusal = sim_status_bad_request(
        "a container name must be specified for pod %s, choose one of: [%s]", own, buf_text(&names));
    buf_clear(&names);
    return refusal;
}

/* Takes the message: what went wrong behind the server has no reason. */
static json_t *broken(char *message)
{
    json_t *status = sim_status(500, NULL, message, NULL, NULL);
    free(message);
    return status;
}

static json_t *unreachable(const struct sim_request *request, const json_t *pod, const json_t *node,
                           const char *subresource, const char *container)
{
    enum { KUBELET_PORT = 10250 };
    const char *address = sim_text_at(json_array_get(sim_at(node, "status.addresses"), 0), "address");
    int port = (int)sim_int_at(node, "status.daemonEndpoints.kubeletEndpoint.Port", KUBELET_PORT);
    if (!*address) return broken(xstrdup("no preferred addresses found; known addresses: []"));
    if (strcmp(subresource, "log") == 0)
        return broken(xasprintf("Get \"https://%s:%d/containerLogs/%s/%s/%s\": dial tcp %s:%d: connect: "
                                "connection refused",
                                address, port, sim_text_at(pod, "metadata.namespace"),
                                sim_text_at(pod, "metadata.name"), container, address, port));
    if (!sim_header(request, "Upgrade")) return sim_status_bad_request("Upgrade request required");
    return broken(
        xasprintf("error dialing backend: dial tcp %s:%d: connect: connection refused", address, port));
}

void sim_kubelet(struct sim_api *api, const struct sim_request *request, const struct sim_target *target,
                 const struct sim_object *object, struct sim_reply *reply)
{
    const struct sim_served *served = target->served;
    const char *container = sim_query(request, "container"), *sub = target->subresource;
    json_t *pod = sim_served_json(served, object), *node = NULL;
    json_t *refusal = strcmp(sub, "portforward") == 0 ? NULL : choose(pod, &container);
    const char *name = sim_text_at(pod, "spec.nodeName");
    if (!refusal && !*name && strcmp(sub, "log") != 0)
        refusal =
            sim_status_bad_request("pod %s does not have a host assigned", sim_text_at(pod, "metadata.name"));
    if (!refusal && *name) {
        node = sim_stored(api->store, "v1", "Node", name);
        refusal = node ? unreachable(request, pod, node, sub, container)
                       : sim_status_not_found(served->kind, name); /* of the pods, as a real server has it */
    }
    reply->code = 204; /* the log of a pod that is not scheduled */
    if (refusal) sim_reply_status(reply, refusal);
    json_decref(pod);
    json_decref(node);
}

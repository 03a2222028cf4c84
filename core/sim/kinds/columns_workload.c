/* Cells of services, nodes and events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/kinds/columns.h"
#include "sim/text/texts.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

/* Takes what is in the buffer; `none` is for an empty one. */
static json_t *cell_of(struct buf *b, const char *none)
{
    json_t *cell = sim_string(b->len ? buf_text(b) : none);
    buf_clear(b);
    return cell;
}

static void add_item(struct buf *b, const char *text)
{
    buf_printf(b, "%s%s", b->len ? "," : "", text);
}

/* Appends the strings, sorted, each once. */
static void add_sorted(struct buf *b, const char **texts, size_t count)
{
    qsort(texts, count, sizeof *texts, sim_compare_texts);
    for (size_t i = 0; i < count; i++)
        if (!i || strcmp(texts[i], texts[i - 1]) != 0) add_item(b, texts[i]);
}

/* Returns the first of two paths that has a string. */
static const char *either(const json_t *object, const char *path, const char *other)
{
    const char *text = sim_text_at(object, path);
    return *text ? text : sim_text_at(object, other);
}

/* --- Services */

static void add_balancer_addresses(struct buf *b, const json_t *service)
{
    const json_t *all = sim_at(service, "status.loadBalancer.ingress");
    const char **found = xcalloc(json_array_size(all) + 1, sizeof *found);
    size_t count = 0, i;
    json_t *ingress;
    json_array_foreach (all, i, ingress) {
        found[count] = either(ingress, "ip", "hostname");
        count += *found[count] != '\0';
    }
    add_sorted(b, found, count);
    free(found);
}

json_t *sim_cell_service_addresses(const json_t *service, const json_t *column, int64_t now_s)
{
    struct buf b = {0};
    const char *type = sim_text_at(service, "spec.type");
    bool balanced = strcmp(type, "LoadBalancer") == 0;
    bool inside = strcmp(type, "ClusterIP") == 0 || strcmp(type, "NodePort") == 0;
    size_t i;
    json_t *ip;
    if (strcmp(type, "ExternalName") == 0) return sim_string(sim_text_at(service, "spec.externalName"));
    if (balanced) add_balancer_addresses(&b, service);
    json_array_foreach (sim_at(service, "spec.externalIPs"), i, ip) add_item(&b, sim_text_at(ip, ""));
    return cell_of(&b, balanced ? "<pending>" : inside ? "<none>" : "<unknown>");
}

json_t *sim_cell_service_ports(const json_t *service, const json_t *column, int64_t now_s)
{
    struct buf b = {0};
    size_t i;
    json_t *port;
    json_array_foreach (sim_at(service, "spec.ports"), i, port) {
        int64_t node_port = sim_int_at(port, "nodePort", 0);
        buf_printf(&b, "%s%lld", i ? "," : "", (long long)sim_int_at(port, "port", 0));
        if (node_port > 0) buf_printf(&b, ":%lld", (long long)node_port);
        buf_printf(&b, "/%s", sim_text_at(port, "protocol"));
    }
    return cell_of(&b, "<none>");
}

json_t *sim_cell_ingress_addresses(const json_t *ingress, const json_t *column, int64_t now_s)
{
    struct buf b = {0};
    add_balancer_addresses(&b, ingress);
    return cell_of(&b, "");
}

/* --- Nodes */

json_t *sim_cell_node_status(const json_t *node, const json_t *column, int64_t now_s)
{
    const json_t *ready = sim_find(sim_at(node, "status.conditions"), "type", "Ready");
    const char *text = strcmp(sim_text_at(ready, "status"), "True") == 0 ? "Ready" : "NotReady";
    return sim_textf("%s%s", ready ? text : "Unknown",
                     sim_true_at(node, "spec.unschedulable") ? ",SchedulingDisabled" : "");
}

/* node-role.kubernetes.io/<role>, and the older kubernetes.io/role=<role>. */
json_t *sim_cell_node_roles(const json_t *node, const json_t *column, int64_t now_s)
{
    static const struct str prefix = {"node-role.kubernetes.io/", sizeof "node-role.kubernetes.io/" - 1};
    const json_t *labels = sim_at(node, "metadata.labels");
    const char **roles = xcalloc(json_object_size(labels) + 1, sizeof *roles);
    struct buf b = {0};
    size_t count = 0;
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)labels, key, value) {
        if (str_starts(str_of(key), prefix) && key[prefix.n])
            roles[count++] = key + prefix.n;
        else if (strcmp(key, "kubernetes.io/role") == 0 && *sim_text_at(value, ""))
            roles[count++] = json_string_value(value);
    }
    add_sorted(&b, roles, count);
    free(roles);
    return cell_of(&b, "<none>");
}

json_t *sim_cell_node_kernel(const json_t *node, const json_t *column, int64_t now_s)
{
    const char *kernel = sim_text_at(node, "status.nodeInfo.kernelVersion");
    const char *architecture = sim_text_at(node, "status.nodeInfo.architecture");
    if (!*kernel) kernel = "<unknown>";
    return *architecture ? sim_textf("%s (%s)", kernel, architecture) : sim_string(kernel);
}

/* --- Events */

json_t *sim_cell_event_last_seen(const json_t *event, const json_t *column, int64_t now_s)
{
    const json_t *series = sim_at(event, "series");
    const char *last = sim_text_at(event, "lastTimestamp");
    if (json_is_object(series)) return sim_age(sim_text_at(series, "lastObservedTime"), now_s);
    return sim_age(*last ? last : either(event, "firstTimestamp", "eventTime"), now_s);
}

json_t *sim_cell_event_count(const json_t *event, const json_t *column, int64_t now_s)
{
    const json_t *series = sim_at(event, "series");
    int64_t count = sim_int_at(event, "count", 0);
    if (json_is_object(series)) return json_integer(sim_int_at(series, "count", 0));
    return json_integer(count ? count : 1);
}

/* "pod/web-1" */
json_t *sim_cell_event_object(const json_t *event, const json_t *column, int64_t now_s)
{
    const char *name = sim_text_at(event, "involvedObject.name");
    char *kind = sim_lower(sim_text_at(event, "involvedObject.kind"));
    json_t *cell = sim_textf("%s%s%s", kind, *name ? "/" : "", name);
    free(kind);
    return cell;
}

/* "kubelet, node-1" */
json_t *sim_cell_event_source(const json_t *event, const json_t *column, int64_t now_s)
{
    const char *component = either(event, "source.component", "reportingComponent");
    const char *instance = either(event, "source.host", "reportingInstance");
    return sim_textf("%s%s%s", component, *instance ? ", " : "", instance);
}

json_t *sim_cell_event_message(const json_t *event, const json_t *column, int64_t now_s)
{
    struct str message = str_trim(str_of(sim_text_at(event, "message")));
    return json_stringn(message.p, message.n);
}

/* Tables of deployments, replicasets and services. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/kinds/columns.h"
#include "sim/text/texts.h"
#include "sim/text/tree.h"

static const struct sim_column deployment_columns[] = {
    SIM_COLUMN_NAME,
    {"Ready", "string", "", "Number of the pod with ready state", 0},
    {"Up-to-date", "string", "", "Number of pods that have the desired template.", 0},
    {"Available", "string", "", "Number of pods that are ready for at least minReadySeconds.", 0},
    SIM_COLUMN_AGE,
    {"Containers", "string", "", "Names of each container in the template.", 1},
    {"Images", "string", "", "Images referenced by each container in the template.", 1},
    {"Selector", "string", "", "Label selector for pods.", 1},
};

static const struct sim_column replicaset_columns[] = {
    SIM_COLUMN_NAME,
    {"Desired", "integer", "", "The number of desired pods.", 0},
    {"Current", "integer", "", "The number of pods most recently observed.", 0},
    {"Ready", "integer", "", "The number of pods with a Ready condition.", 0},
    SIM_COLUMN_AGE,
    {"Containers", "string", "", "Names of each container in the template.", 1},
    {"Images", "string", "", "Images referenced by each container in the template.", 1},
    {"Selector", "string", "", "Label selector for pods.", 1},
};

static void integer_cell(json_t *cells, const json_t *object, const char *path)
{
    json_array_append_new(cells, json_integer(sim_int_at(object, path, 0)));
}

/* The names, and in the next cell the images, of the containers in the template. */
static void container_cells(json_t *cells, const json_t *object)
{
    static const char *const fields[] = {"name", "image"};
    for (size_t f = 0; f < ARRAY_LEN(fields); f++) {
        struct buf b = {0};
        size_t i;
        json_t *container;
        json_array_foreach (sim_at(object, "spec.template.spec.containers"), i, container)
            buf_printf(&b, "%s%s", i ? "," : "", sim_text_at(container, fields[f]));
        sim_cell_text(cells, buf_text(&b));
        buf_clear(&b);
    }
}

/* "app=web,tier in (a,b)": the requirements by key. */
static void selector_cell(json_t *cells, const json_t *object, const char *empty)
{
    char *text = sim_text_of_selector(sim_at(object, "spec.selector"));
    sim_cell_text(cells, text ? (*text ? text : empty) : "<invalid>");
    free(text);
}

static json_t *deployment_cells(const struct sim_kind *kind, const json_t *object, int64_t now_s)
{
    json_t *cells = json_array();
    sim_cell_text(cells, sim_text_at(object, "metadata.name"));
    json_array_append_new(cells,
                          sim_textf("%lld/%lld", (long long)sim_int_at(object, "status.readyReplicas", 0),
                                    (long long)sim_int_at(object, "spec.replicas", 1)));
    integer_cell(cells, object, "status.updatedReplicas");
    integer_cell(cells, object, "status.availableReplicas");
    sim_cell_age(cells, object, now_s);
    container_cells(cells, object);
    selector_cell(cells, object, "");
    return cells;
}

const struct sim_layout sim_layout_deployments = {deployment_columns, ARRAY_LEN(deployment_columns),
                                                  deployment_cells};

static json_t *replicaset_cells(const struct sim_kind *kind, const json_t *object, int64_t now_s)
{
    json_t *cells = json_array();
    sim_cell_text(cells, sim_text_at(object, "metadata.name"));
    json_array_append_new(cells, json_integer(sim_int_at(object, "spec.replicas", 1)));
    integer_cell(cells, object, "status.replicas");
    integer_cell(cells, object, "status.readyReplicas");
    sim_cell_age(cells, object, now_s);
    container_cells(cells, object);
    selector_cell(cells, object, "<none>");
    return cells;
}

const struct sim_layout sim_layout_replicasets = {replicaset_columns, ARRAY_LEN(replicaset_columns),
                                                  replicaset_cells};

static const struct sim_column service_columns[] = {
    SIM_COLUMN_NAME,
    {"Type", "string", "", "How the service is exposed.", 0},
    {"Cluster-IP", "string", "", "The address of the service within the cluster.", 0},
    {"External-IP", "string", "", "The addresses of the service outside of the cluster.", 0},
    {"Port(s)", "string", "", "The list of ports that are exposed by this service.", 0},
    SIM_COLUMN_AGE,
    {"Selector", "string", "", "The labels of the pods that serve.", 1},
};

static void add_comma(struct buf *b)
{
    if (b->len) buf_putc(b, ',');
}

/* The addresses of the load balancer, sorted, each once. */
static void balancer_addresses(struct buf *b, const json_t *service)
{
    const json_t *all = sim_at(service, "status.loadBalancer.ingress");
    const char **found = xcalloc(json_array_size(all) + 1, sizeof *found);
    size_t count = 0, i;
    json_t *ingress;
    json_array_foreach (all, i, ingress) {
        const char *ip = sim_text_at(ingress, "ip");
        if (!*ip) ip = sim_text_at(ingress, "hostname");
        if (*ip) found[count++] = ip;
    }
    qsort(found, count, sizeof *found, sim_compare_texts);
    for (i = 0; i < count; i++) {
        if (i && strcmp(found[i], found[i - 1]) == 0) continue;
        add_comma(b);
        buf_puts(b, found[i]);
    }
    free(found);
}

static void external_cell(json_t *cells, const json_t *service)
{
    struct buf b = {0};
    const char *type = sim_text_at(service, "spec.type");
    bool balanced = strcmp(type, "LoadBalancer") == 0;
    size_t i;
    json_t *ip;
    if (strcmp(type, "ExternalName") == 0) {
        sim_cell_text(cells, sim_text_at(service, "spec.externalName"));
        return;
    }
    if (balanced) balancer_addresses(&b, service);
    json_array_foreach (sim_at(service, "spec.externalIPs"), i, ip) {
        add_comma(&b);
        buf_puts(&b, sim_text_at(ip, ""));
    }
    if (b.len)
        sim_cell_text(cells, buf_text(&b));
    else if (balanced)
        sim_cell_text(cells, "<pending>");
    else
        sim_cell_text(cells, strcmp(type, "ClusterIP") == 0 || strcmp(type, "NodePort") == 0 ? "<none>"
                                                                                             : "<unknown>");
    buf_clear(&b);
}

static void ports_cell(json_t *cells, const json_t *service)
{
    struct buf b = {0};
    size_t i;
    json_t *port;
    json_array_foreach (sim_at(service, "spec.ports"), i, port) {
        int64_t node_port = sim_int_at(port, "nodePort", 0);
        const char *protocol = sim_text_at(port, "protocol");
        add_comma(&b);
        buf_printf(&b, "%lld", (long long)sim_int_at(port, "port", 0));
        if (node_port > 0) buf_printf(&b, ":%lld", (long long)node_port);
        buf_printf(&b, "/%s", protocol);
    }
    sim_cell_text(cells, sim_or_none(buf_text(&b)));
    buf_clear(&b);
}

static json_t *service_cells(const struct sim_kind *kind, const json_t *object, int64_t now_s)
{
    json_t *cells = json_array();
    const json_t *ips = sim_at(object, "spec.clusterIPs");
    const char *ip = sim_text_at(json_array_get(ips, 0), "");
    char *selector = sim_text_of_labels(sim_at(object, "spec.selector"));
    sim_cell_text(cells, sim_text_at(object, "metadata.name"));
    sim_cell_text(cells, sim_text_at(object, "spec.type"));
    sim_cell_text(cells, sim_or_none(*ip ? ip : sim_text_at(object, "spec.clusterIP")));
    external_cell(cells, object);
    ports_cell(cells, object);
    sim_cell_age(cells, object, now_s);
    sim_cell_text(cells, sim_or_none(selector));
    free(selector);
    return cells;
}

const struct sim_layout sim_layout_services = {service_columns, ARRAY_LEN(service_columns), service_cells};

/* --- The table of nodes */

static const struct sim_column columns[] = {
    SIM_COLUMN_NAME,
    {"Status", "string", "", "The status of the node", 0},
    {"Roles", "string", "", "The roles of the node", 0},
    SIM_COLUMN_AGE,
    {"Version", "string", "", "Kubelet Version reported by the node.", 0},
    {"Internal-IP", "string", "", "The node's address within the cluster.", 1},
    {"External-IP", "string", "", "The node's address outside of the cluster.", 1},
    {"OS-Image", "string", "", "OS Image reported by the node.", 1},
    {"Kernel-Version", "string", "", "Kernel Version reported by the node.", 1},
    {"Container-Runtime", "string", "", "ContainerRuntime Version reported by the node.", 1},
};

static void status_cell(json_t *cells, const json_t *node)
{
    const char *ready = "Unknown";
    size_t i;
    json_t *condition;
    json_array_foreach (sim_at(node, "status.conditions"), i, condition) {
        if (strcmp(sim_text_at(condition, "type"), "Ready") == 0)
            ready = strcmp(sim_text_at(condition, "status"), "True") == 0 ? "Ready" : "NotReady";
    }
    json_array_append_new(
        cells,
        sim_textf("%s%s", ready, sim_true_at(node, "spec.unschedulable") ? ",SchedulingDisabled" : ""));
}

/* node-role.kubernetes.io/<role>, and the older kubernetes.io/role=<role>. */
static void roles_cell(json_t *cells, const json_t *node)
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
    qsort(roles, count, sizeof *roles, sim_compare_texts);
    for (size_t i = 0; i < count; i++)
        if (!i || strcmp(roles[i], roles[i - 1]) != 0) buf_printf(&b, "%s%s", b.len ? "," : "", roles[i]);
    sim_cell_text(cells, sim_or_none(buf_text(&b)));
    buf_clear(&b);
    free(roles);
}

static void address_cell(json_t *cells, const json_t *node, const char *type)
{
    size_t i;
    json_t *address;
    json_array_foreach (sim_at(node, "status.addresses"), i, address) {
        if (strcmp(sim_text_at(address, "type"), type) != 0) continue;
        sim_cell_text(cells, sim_text_at(address, "address"));
        return;
    }
    sim_cell_text(cells, "<none>");
}

static const char *or_unknown(const char *text)
{
    return *text ? text : "<unknown>";
}

static json_t *node_cells(const struct sim_kind *kind, const json_t *node, int64_t now_s)
{
    json_t *cells = json_array();
    const char *kernel = or_unknown(sim_text_at(node, "status.nodeInfo.kernelVersion"));
    const char *architecture = sim_text_at(node, "status.nodeInfo.architecture");
    sim_cell_text(cells, sim_text_at(node, "metadata.name"));
    status_cell(cells, node);
    roles_cell(cells, node);
    sim_cell_age(cells, node, now_s);
    sim_cell_text(cells, sim_text_at(node, "status.nodeInfo.kubeletVersion"));
    address_cell(cells, node, "InternalIP");
    address_cell(cells, node, "ExternalIP");
    sim_cell_text(cells, or_unknown(sim_text_at(node, "status.nodeInfo.osImage")));
    if (*architecture)
        json_array_append_new(cells, sim_textf("%s (%s)", kernel, architecture));
    else
        sim_cell_text(cells, kernel);
    sim_cell_text(cells, or_unknown(sim_text_at(node, "status.nodeInfo.containerRuntimeVersion")));
    return cells;
}

const struct sim_layout sim_layout_nodes = {columns, ARRAY_LEN(columns), node_cells};

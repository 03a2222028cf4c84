/* The table of nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/kinds/columns.h"
#include "sim/text/texts.h"
#include "sim/text/tree.h"

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

/* Defaults of the built-in kinds, as far as clients depend on them; see defaults.h. */
#include "sim/object/defaults.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/base64.h"
#include "sim/object/default_fields.h"
#include "sim/object/object_spec.h"
#include "sim/text/tree.h"

static void default_text(json_t *object, const char *key, const char *text)
{
    sim_default(object, key, json_string(text));
}

/* --- Pods and the templates of pods */

/* Images without a tag, or with :latest, are pulled each time. */
static const char *pull_policy(const char *image)
{
    const char *base = strrchr(image, '/'), *tag;
    base = base ? base + 1 : image;
    if (strchr(base, '@')) return "IfNotPresent";
    tag = strchr(base, ':');
    return !tag || strcmp(tag, ":latest") == 0 ? "Always" : "IfNotPresent";
}

/* Sets missing requests to the limits. */
static void default_requests(json_t *container)
{
    json_t *resources = json_object_get(container, "resources"),
           *limits = json_object_get(resources, "limits");
    if (!json_is_object(limits)) return;
    json_t *requests = sim_submap(resources, "requests"), *value;
    const char *key;
    json_object_foreach (limits, key, value) sim_default(requests, key, json_incref(value));
}

static void finish_container(json_t *container)
{
    default_requests(container);
    default_text(container, "imagePullPolicy", pull_policy(sim_text_at(container, "image")));
}

static bool tolerates(const json_t *tolerations, const char *key)
{
    size_t i;
    json_t *item;
    json_array_foreach (tolerations, i, item) {
        const char *effect = sim_text_at(item, "effect"), *own = sim_text_at(item, "key");
        if ((!*own || strcmp(own, key) == 0) && (!*effect || strcmp(effect, "NoExecute") == 0)) return true;
    }
    return false;
}

/* Adds the tolerations of admission. Pods stay for five minutes on a node that is away. */
static void admit_pod(json_t *pod)
{
    static const char *const keys[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};
    json_t *spec = json_object_get(pod, "spec");
    if (!json_is_object(spec)) return;
    sim_default(spec, "tolerations", json_array());
    sim_default(spec, "priority", json_integer(0));
    default_text(spec, "preemptionPolicy", "PreemptLowerPriority");
    json_t *tolerations = json_object_get(spec, "tolerations");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (tolerates(tolerations, keys[i])) continue;
        json_array_append_new(tolerations,
                              json_pack("{s:s,s:s,s:s,s:i}", "key", keys[i], "operator", "Exists", "effect",
                                        "NoExecute", "tolerationSeconds", 300));
    }
}

/* --- Other kinds */

static uint32_t hash_of_uid(const json_t *object)
{
    uint32_t hash = 2166136261u;
    for (const char *p = sim_text_at(object, "metadata.uid"); *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    return hash;
}

/* Sets a port of every node for each port, derived from the uid and the port: an update that leaves them out
 * gets the same again. */
static void default_node_ports(const json_t *service, json_t *spec)
{
    const char *type = sim_text_at(spec, "type");
    bool balanced = strcmp(type, "LoadBalancer") == 0,
         allocates = !json_is_false(json_object_get(spec, "allocateLoadBalancerNodePorts"));
    uint32_t hash = hash_of_uid(service);
    json_t *port;
    size_t i;
    if (strcmp(type, "NodePort") != 0 && !(balanced && allocates)) return;
    json_array_foreach (json_object_get(spec, "ports"), i, port)
        if (!sim_int_at(port, "nodePort", 0))
            json_object_set_new(port, "nodePort",
                                json_integer(30000 + (hash + (uint32_t)sim_int_at(port, "port", 0) * 31 +
                                                      (uint32_t)(*sim_text_at(port, "protocol") == 'U')) %
                                                         2768));
}

/* Sets an address of 10.0.0.0/16 that is derived from the uid: always the same, and rarely a duplicate. */
static void default_address(const json_t *service, json_t *spec)
{
    uint32_t hash = hash_of_uid(service);
    unsigned host = 1 + (hash ^ hash >> 16) % 65534;
    if (!*sim_text_at(spec, "clusterIP"))
        json_object_set_new(spec, "clusterIP", sim_textf("10.0.%u.%u", host >> 8, host & 255));
    const char *ip = sim_text_at(spec, "clusterIP");
    /* Without a selector its endpoints may be of either family. */
    bool both = strcmp(ip, "None") == 0 && !json_object_size(json_object_get(spec, "selector"));
    sim_default(spec, "clusterIPs", json_pack("[s]", ip));
    sim_default(spec, "ipFamilies",
                both ? json_pack("[ss]", "IPv4", "IPv6")
                     : json_pack("[s]", strchr(ip, ':') ? "IPv6" : "IPv4"));
    default_text(spec, "ipFamilyPolicy", both ? "RequireDualStack" : "SingleStack");
}

static void finish_service_port(json_t *port)
{
    const json_t *target = json_object_get(port, "targetPort");
    bool none = (json_is_integer(target) && json_integer_value(target) == 0) ||
                (json_is_string(target) && json_string_length(target) == 0);
    if (none) json_object_del(port, "targetPort");
    sim_default(port, "targetPort", json_deep_copy(json_object_get(port, "port")));
}

static void finish_service(json_t *service)
{
    json_t *spec = json_object_get(service, "spec");
    if (strcmp(sim_text_at(spec, "sessionAffinity"), "ClientIP") == 0)
        sim_default(spec, "sessionAffinityConfig",
                    json_pack("{s:{s:i}}", "clientIP", "timeoutSeconds", 10800));
}

static void allocate_service(json_t *service)
{
    json_t *spec = json_object_get(service, "spec");
    if (json_is_object(spec) && strcmp(sim_text_at(spec, "type"), "ExternalName") != 0)
        default_address(service, spec);
    default_node_ports(service, spec);
}

/* Jobs and controllers have the labels of their template unless they have some of their own. */
static json_t *default_labels(json_t *object)
{
    json_t *labels = sim_at(object, "spec.template.metadata.labels"),
           *metadata = sim_submap(object, "metadata");
    if (json_object_size(labels) && !json_object_size(json_object_get(metadata, "labels")))
        json_object_set_new(metadata, "labels", json_deep_copy(labels));
    return labels;
}

static void finish_job(json_t *job)
{
    default_labels(job);
}

static void finish_controller(json_t *controller)
{
    json_t *labels = default_labels(controller);
    if (json_object_size(labels))
        sim_default(json_object_get(controller, "spec"), "selector", json_deep_copy(labels));
}

static void finish_network_policy(json_t *spec)
{
    if (json_array_size(json_object_get(spec, "egress")))
        sim_default(spec, "policyTypes", json_pack("[ss]", "Ingress", "Egress"));
}

static void finish_subject(json_t *subject)
{
    const char *kind = sim_text_at(subject, "kind");
    if ((strcmp(kind, "User") == 0 || strcmp(kind, "Group") == 0) && !*sim_text_at(subject, "apiGroup"))
        json_object_set_new(subject, "apiGroup", json_string("rbac.authorization.k8s.io"));
}

static void finish_node(json_t *node)
{
    json_t *status = json_object_get(node, "status"), *capacity = json_object_get(status, "capacity");
    if (capacity) sim_default(status, "allocatable", json_deep_copy(capacity));
    json_t *spec = json_object_get(node, "spec"), *range = json_object_get(spec, "podCIDR");
    if (*sim_text_at(range, "") &&
        strcmp(sim_text_at(range, ""), sim_text_at(json_array_get(json_object_get(spec, "podCIDRs"), 0), "")))
        json_object_set_new(spec, "podCIDRs", json_pack("[O]", range));
}

/* Moves stringData, which is only written, never read, into data. */
static void finish_secret(json_t *secret)
{
    json_t *plain = json_object_get(secret, "stringData"), *value;
    const char *key;
    if (!json_is_object(plain)) return;
    json_t *data = sim_submap(secret, "data");
    json_object_foreach (plain, key, value) {
        struct buf b = {0};
        base64_encode(str_of(sim_text_at(value, "")), &b);
        json_object_set_new(data, key, json_string(buf_text(&b)));
        buf_clear(&b);
    }
    json_object_del(secret, "stringData");
}

static void finish_namespace(json_t *namespace)
{
    if (!*sim_text_at(namespace, "metadata.name")) return; /* it is generated later */
    json_t *labels = sim_submap(sim_submap(namespace, "metadata"), "labels");
    json_object_set_new(labels, "kubernetes.io/metadata.name",
                        sim_string(sim_text_at(namespace, "metadata.name")));
}

/* The old API counted templates. */
static void finish_daemon_set(json_t *set)
{
    json_t *annotations = sim_submap(sim_submap(set, "metadata"), "annotations");
    default_text(annotations, "deprecated.daemonset.template.generation", "0");
}

static void finish_crd(json_t *crd)
{
    json_t *names = sim_at(crd, "spec.names");
    const char *kind = sim_text_at(names, "kind");
    char *singular = sim_lower(kind);
    if (*kind) {
        default_text(names, "singular", singular);
        sim_default(names, "listKind", sim_textf("%sList", kind));
    }
    free(singular);
}

/* By the name of a type: what is computed from other fields. */
static void finish(const char *type, json_t *object)
{
    static const struct {
        const char *type;
        void (*finish)(json_t *object);
    } types[] = {
        {"core/v1.Container", finish_container},
        {"core/v1.EphemeralContainer", finish_container},
        {"core/v1.ReplicationController", finish_controller},
        {"batch/v1.Job", finish_job},
        {"core/v1.Namespace", finish_namespace},
        {"apps/v1.DaemonSet", finish_daemon_set},
        {"core/v1.Service", finish_service},
        {"core/v1.ServicePort", finish_service_port},
        {"core/v1.Node", finish_node},
        {"rbac/v1.Subject", finish_subject},
        {"core/v1.Secret", finish_secret},
        {"networking/v1.NetworkPolicySpec", finish_network_policy},
        {"apiextensions/v1.CustomResourceDefinition", finish_crd},
    };
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strcmp(type, types[i].type) == 0) types[i].finish(object);
}

void sim_apply_scheme_defaults(const struct sim_kind *kind, json_t *object)
{
    if (kind->schema) sim_default_fields(kind->schema, object, finish);
}

void sim_apply_defaults(const struct sim_kind *kind, json_t *object)
{
    const char *type = kind->schema ? kind->schema->type : "";
    sim_apply_scheme_defaults(kind, object);
    if (strcmp(type, "core/v1.Pod") == 0) admit_pod(object);
    if (strcmp(type, "core/v1.Service") == 0) allocate_service(object);
}

/* --- Creates */

static void begin_namespace(json_t *namespace)
{
    json_t *spec = sim_submap(namespace, "spec"), *finalizers = json_object_get(spec, "finalizers");
    if (!json_is_array(finalizers)) json_object_set_new(spec, "finalizers", finalizers = json_array());
    if (!sim_has_text(finalizers, "kubernetes")) json_array_append_new(finalizers, json_string("kubernetes"));
}

/* Admission: a node is not ready until its kubelet says so. */
static void begin_node(json_t *node)
{
    static const char key[] = "node.kubernetes.io/not-ready";
    json_t *spec = sim_submap(node, "spec"), *taints = json_object_get(spec, "taints");
    if (!json_is_array(taints)) json_object_set_new(spec, "taints", taints = json_array());
    if (!sim_find(taints, "key", key))
        json_array_append_new(taints, json_pack("{s:s,s:s}", "key", key, "effect", "NoSchedule"));
}

static void begin_daemon_set(json_t *set)
{
    json_t *annotations = sim_submap(sim_submap(set, "metadata"), "annotations");
    json_object_set_new(annotations, "deprecated.daemonset.template.generation", json_string("1"));
}

/* A job selects its pods by its uid, unless it has a selector of its own. */
static void begin_job(json_t *job)
{
    static const char *const prefixes[] = {"batch.kubernetes.io/", ""};
    json_t *spec = json_object_get(job, "spec"), *template = json_object_get(spec, "template");
    const char *uid = sim_text_at(job, "metadata.uid");
    if (!json_is_object(template) || sim_true_at(spec, "manualSelector")) return;
    json_t *labels = sim_submap(sim_submap(template, "metadata"), "labels");
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        char *keys[] = {xasprintf("%scontroller-uid", prefixes[i]), xasprintf("%sjob-name", prefixes[i])};
        json_object_set_new(labels, keys[0], json_string(uid));
        json_object_set_new(labels, keys[1], sim_string(sim_text_at(job, "metadata.name")));
        if (i == 0)
            json_object_set_new(sim_submap(sim_submap(spec, "selector"), "matchLabels"), keys[0],
                                json_string(uid));
        free(keys[0]);
        free(keys[1]);
    }
    default_labels(job);
}

static void begin(const char *type, json_t *object)
{
    static const struct {
        const char *type;
        void (*begin)(json_t *object);
    } types[] = {
        {"core/v1.Namespace", begin_namespace},
        {"core/v1.Node", begin_node},
        {"apps/v1.DaemonSet", begin_daemon_set},
        {"batch/v1.Job", begin_job},
    };
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strcmp(type, types[i].type) == 0) types[i].begin(object);
}

/* Sets each "now" to a time. */
static void set_times(json_t *value, json_t *now)
{
    const char *key;
    json_t *inner;
    size_t i;
    json_object_foreach (value, key, inner) {
        if (strcmp(sim_text_at(value, key), "now") == 0) json_object_set(value, key, now);
        set_times(inner, now);
    }
    json_array_foreach (value, i, inner) set_times(inner, now);
}

static void set_first_status(const struct schema_kind *schema, json_t *object)
{
    json_t *status = sim_submap(object, "status");
    json_t *first = json_loads(schema->first_status ? schema->first_status : "{}", 0, NULL);
    set_times(first, sim_at(object, "metadata.creationTimestamp"));
    json_object_update_new(status, first);
    if (schema->graceful)
        json_object_set_new(status, "qosClass",
                            json_string(sim_quality_of_service(json_object_get(object, "spec"))));
}

void sim_apply_first(const struct sim_kind *kind, json_t *object)
{
    bool keeps = kind->keeps_first_status && json_object_get(object, "status");
    if (kind->schema) begin(kind->schema->type, object);
    if (!kind->has_status || keeps) return;
    json_object_del(object, "status");
    if (kind->schema) set_first_status(kind->schema, object);
}

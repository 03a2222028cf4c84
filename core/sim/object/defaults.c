/* Defaults of the built-in kinds, as far as clients depend on them; see defaults.h. */
#include "sim/object/defaults.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/base64.h"
#include "sim/object/object_spec.h"
#include "sim/text/tree.h"

/* Does nothing to what is no map. */
static void apply(json_t *object, const json_t *defaults)
{
    const char *key;
    json_t *value, *item;
    size_t i;
    json_object_foreach (json_is_object(object) ? (json_t *)defaults : NULL, key, value) {
        size_t n = strcspn(key, "?[");
        json_t *there = json_object_getn(object, key, n);
        if (key[n] == '[') {
            json_array_foreach (there, i, item) apply(item, value);
        } else if (json_is_object(value))
            apply(!*key ? object : key[n] ? there : sim_submap(object, key), value);
        else
            sim_default(object, key, json_deep_copy(value));
    }
}

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

static void finish_pod_spec(json_t *spec)
{
    static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
    json_t *item;
    size_t i;
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        json_array_foreach (json_object_get(spec, lists[l]), i, item) {
            default_requests(item);
            default_text(item, "imagePullPolicy", pull_policy(sim_text_at(item, "image")));
        }
    json_array_foreach (json_object_get(spec, "volumes"), i, item)
        if (json_object_size(item) == 1) sim_submap(item, "emptyDir");
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

/* Pods stay for five minutes on a node that is away. */
static void finish_pod(json_t *pod)
{
    static const char *const keys[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};
    json_t *spec = json_object_get(pod, "spec"), *tolerations = json_object_get(spec, "tolerations");
    finish_pod_spec(spec);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (tolerates(tolerations, keys[i])) continue;
        json_array_append_new(tolerations,
                              json_pack("{s:s,s:s,s:s,s:i}", "key", keys[i], "operator", "Exists", "effect",
                                        "NoExecute", "tolerationSeconds", 300));
    }
}

static void finish_workload(json_t *object)
{
    json_t *strategy = sim_at(object, "spec.strategy");
    finish_pod_spec(sim_at(object, "spec.template.spec"));
    if (strcmp(sim_text_at(strategy, "type"), "RollingUpdate") != 0) return;
    json_t *rolling = sim_submap(strategy, "rollingUpdate");
    default_text(rolling, "maxUnavailable", "25%");
    default_text(rolling, "maxSurge", "25%");
}

/* --- Other kinds */

/* Sets an address of 10.0.0.0/16 that is derived from the uid: always the same, and rarely a duplicate. */
static void default_address(const json_t *service, json_t *spec)
{
    uint32_t hash = 2166136261u;
    for (const char *p = sim_text_at(service, "metadata.uid"); *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    unsigned host = 1 + (hash ^ hash >> 16) % 65534;
    if (!*sim_text_at(spec, "clusterIP"))
        json_object_set_new(spec, "clusterIP", sim_textf("10.0.%u.%u", host >> 8, host & 255));
    const char *ip = sim_text_at(spec, "clusterIP");
    sim_default(spec, "clusterIPs", json_pack("[s]", ip));
    sim_default(spec, "ipFamilies", json_pack("[s]", strchr(ip, ':') ? "IPv6" : "IPv4"));
    default_text(spec, "ipFamilyPolicy", "SingleStack");
}

static void finish_service(json_t *service)
{
    json_t *spec = json_object_get(service, "spec"), *port;
    size_t i;
    json_array_foreach (json_object_get(spec, "ports"), i, port)
        if (json_is_object(port))
            sim_default(port, "targetPort", json_deep_copy(json_object_get(port, "port")));
    if (strcmp(sim_text_at(spec, "type"), "ExternalName") == 0) return;
    default_text(spec, "internalTrafficPolicy", "Cluster");
    default_address(service, spec);
}

static void finish_node(json_t *node)
{
    json_t *status = json_object_get(node, "status"), *capacity = json_object_get(status, "capacity");
    if (capacity) sim_default(status, "allocatable", json_deep_copy(capacity));
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
    json_t *labels = sim_submap(sim_submap(namespace, "metadata"), "labels");
    json_object_set_new(labels, "kubernetes.io/metadata.name",
                        sim_string(sim_text_at(namespace, "metadata.name")));
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

void sim_apply_defaults(const struct sim_kind *kind, json_t *object)
{
    static const struct {
        const char *kind;
        void (*finish)(json_t *object);
    } kinds[] = {
        {"Pod", finish_pod},
        {"Namespace", finish_namespace},
        {"Service", finish_service},
        {"Node", finish_node},
        {"Secret", finish_secret},
        {"CustomResourceDefinition", finish_crd},
        {"Deployment", finish_workload},
        {"ReplicaSet", finish_workload},
    };
    if (kind->custom) return;
    apply(object, kind->defaults);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(kind->kind, kinds[i].kind) == 0) kinds[i].finish(object);
}

static void add_finalizer(json_t *namespace)
{
    json_t *spec = sim_submap(namespace, "spec"), *finalizers = json_object_get(spec, "finalizers");
    if (!json_is_array(finalizers)) json_object_set_new(spec, "finalizers", finalizers = json_array());
    if (!sim_has_text(finalizers, "kubernetes")) json_array_append_new(finalizers, json_string("kubernetes"));
}

void sim_apply_first_status(const struct sim_kind *kind, json_t *object)
{
    if (!kind->has_status || kind->keeps_first_status) return;
    json_object_del(object, "status");
    if (kind->custom) return;
    json_t *status = sim_submap(object, "status");
    apply(status, kind->first_status);
    if (kind->graceful)
        default_text(status, "qosClass", sim_quality_of_service(json_object_get(object, "spec")));
    if (sim_is_namespace(kind)) add_finalizer(object);
}

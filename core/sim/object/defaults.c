/* Defaults of the built-in kinds, as far as a client can be expected to look at them. */
#include "sim/object/defaults.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/object/crd.h"
#include "sim/object/object_spec.h"
#include "sim/text/tree.h"

static void default_text(json_t *object, const char *key, const char *text)
{
    sim_default(object, key, json_string(text));
}

static void default_integer(json_t *object, const char *key, int64_t value)
{
    sim_default(object, key, json_integer(value));
}

static void default_workload(json_t *object, bool deployment)
{
    json_t *spec = sim_submap(object, "spec");
    default_integer(spec, "replicas", 1);
    sim_default_pod_spec(sim_at(spec, "template.spec"));
    if (!deployment) return;
    json_t *strategy = sim_submap(spec, "strategy");
    default_text(strategy, "type", "RollingUpdate");
    if (strcmp(sim_text_at(strategy, "type"), "RollingUpdate") == 0) {
        json_t *rolling = sim_submap(strategy, "rollingUpdate");
        default_text(rolling, "maxUnavailable", "25%");
        default_text(rolling, "maxSurge", "25%");
    }
    default_integer(spec, "revisionHistoryLimit", 10);
    default_integer(spec, "progressDeadlineSeconds", 600);
}

/* An address of 10.0.0.0/16 that follows from the uid: the same each time, and hardly ever given twice. */
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

static void default_service(json_t *service)
{
    json_t *spec = sim_submap(service, "spec"), *port;
    size_t i;
    json_array_foreach (json_object_get(spec, "ports"), i, port) {
        if (!json_is_object(port)) continue;
        default_text(port, "protocol", "TCP");
        sim_default(port, "targetPort", json_deep_copy(json_object_get(port, "port")));
    }
    default_text(spec, "type", "ClusterIP");
    default_text(spec, "sessionAffinity", "None");
    if (strcmp(sim_text_at(spec, "type"), "ExternalName") == 0) return;
    default_text(spec, "internalTrafficPolicy", "Cluster");
    default_address(service, spec);
}

static void default_event(json_t *event)
{
    static const char *const times[] = {"firstTimestamp", "lastTimestamp", "eventTime"};
    sim_submap(event, "source");
    for (size_t i = 0; i < ARRAY_LEN(times); i++) sim_default(event, times[i], json_null());
    default_text(event, "reportingComponent", "");
    default_text(event, "reportingInstance", "");
}

static void default_node(json_t *node)
{
    json_t *status = json_object_get(node, "status"), *capacity = json_object_get(status, "capacity");
    if (capacity) sim_default(status, "allocatable", json_deep_copy(capacity));
}

static void add_base64(struct buf *b, struct str text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < text.n; i += 3) {
        size_t left = text.n - i;
        unsigned bits = (unsigned)(unsigned char)text.p[i] << 16;
        if (left > 1) bits |= (unsigned)(unsigned char)text.p[i + 1] << 8;
        if (left > 2) bits |= (unsigned char)text.p[i + 2];
        buf_putc(b, digits[bits >> 18]);
        buf_putc(b, digits[bits >> 12 & 63]);
        buf_putc(b, left > 1 ? digits[bits >> 6 & 63] : '=');
        buf_putc(b, left > 2 ? digits[bits & 63] : '=');
    }
}

/* stringData is only written, never read: it goes into data. */
static void default_secret(json_t *secret)
{
    json_t *plain = json_object_get(secret, "stringData"), *value;
    const char *key;
    default_text(secret, "type", "Opaque");
    if (!json_is_object(plain)) return;
    json_t *data = sim_submap(secret, "data");
    json_object_foreach (plain, key, value) {
        struct buf b = {0};
        add_base64(&b, str_of(sim_text_at(value, "")));
        json_object_set_new(data, key, json_string(buf_text(&b)));
        buf_clear(&b);
    }
    json_object_del(secret, "stringData");
}

static void default_namespace(json_t *namespace)
{
    json_t *labels = sim_submap(sim_submap(namespace, "metadata"), "labels");
    json_object_set_new(labels, "kubernetes.io/metadata.name",
                        sim_string(sim_text_at(namespace, "metadata.name")));
    sim_submap(namespace, "spec");
}

static void default_crd(json_t *crd)
{
    json_t *spec = sim_submap(crd, "spec"), *names = sim_submap(spec, "names");
    const char *kind = sim_text_at(names, "kind");
    char *singular = xstrdup(kind);
    for (char *p = singular; *p; p++)
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p - 'A' + 'a');
    if (*kind) {
        default_text(names, "singular", singular);
        sim_default(names, "listKind", sim_textf("%sList", kind));
    }
    free(singular);
    sim_default(spec, "conversion", json_pack("{s:s}", "strategy", "None"));
}

static bool is(const struct sim_kind *kind, const char *group, const char *name)
{
    return strcmp(kind->group, group) == 0 && strcmp(kind->kind, name) == 0;
}

void sim_apply_defaults(const struct sim_kind *kind, json_t *object)
{
    if (kind->custom) return;
    if (is(kind, "", "Pod")) sim_default_pod(object);
    if (is(kind, "", "Namespace")) default_namespace(object);
    if (is(kind, "", "Service")) default_service(object);
    if (is(kind, "", "Event")) default_event(object);
    if (is(kind, "", "Node")) default_node(object);
    if (is(kind, "", "Secret")) default_secret(object);
    if (sim_is_crd(kind)) default_crd(object);
    if (is(kind, "apps", "Deployment")) default_workload(object, true);
    if (is(kind, "apps", "ReplicaSet")) default_workload(object, false);
}

static void add_finalizer(json_t *namespace)
{
    json_t *spec = sim_submap(namespace, "spec"), *finalizers = json_object_get(spec, "finalizers"), *item;
    size_t i;
    if (!json_is_array(finalizers)) {
        finalizers = json_array();
        json_object_set_new(spec, "finalizers", finalizers);
    }
    json_array_foreach (finalizers, i, item)
        if (strcmp(sim_text_at(item, ""), "kubernetes") == 0) return;
    json_array_append_new(finalizers, json_string("kubernetes"));
}

void sim_apply_first_status(const struct sim_kind *kind, json_t *object)
{
    json_t *status;
    if (!kind->has_status || kind->keeps_first_status) return;
    json_object_del(object, "status");
    if (kind->custom) return;
    status = sim_submap(object, "status");
    if (is(kind, "", "Pod")) {
        default_text(status, "phase", "Pending");
        default_text(status, "qosClass", sim_quality_of_service(json_object_get(object, "spec")));
    } else if (is(kind, "", "Namespace")) {
        default_text(status, "phase", "Active");
        add_finalizer(object);
    } else if (is(kind, "", "Service")) {
        sim_submap(status, "loadBalancer");
    } else if (is(kind, "apps", "ReplicaSet")) {
        default_integer(status, "replicas", 0);
    }
}

/* --- Defaults of pods and of the templates of pods */

/* Images without a tag, or with :latest, are pulled each time. */
static const char *pull_policy(const char *image)
{
    const char *base = strrchr(image, '/'), *tag;
    base = base ? base + 1 : image;
    if (strchr(base, '@')) return "IfNotPresent";
    tag = strchr(base, ':');
    return !tag || strcmp(tag, ":latest") == 0 ? "Always" : "IfNotPresent";
}

static void default_probe(json_t *container, const char *key)
{
    json_t *probe = json_object_get(container, key);
    if (!json_is_object(probe)) return;
    json_t *http = json_object_get(probe, "httpGet");
    if (json_is_object(http)) {
        default_text(http, "path", "/");
        default_text(http, "scheme", "HTTP");
    }
    default_integer(probe, "timeoutSeconds", 1);
    default_integer(probe, "periodSeconds", 10);
    default_integer(probe, "successThreshold", 1);
    default_integer(probe, "failureThreshold", 3);
}

/* Limits are requests too, unless those say otherwise. */
static void default_resources(json_t *container)
{
    json_t *resources = sim_submap(container, "resources"), *limits = json_object_get(resources, "limits");
    if (!json_is_object(limits)) return;
    json_t *requests = sim_submap(resources, "requests"), *value;
    const char *key;
    json_object_foreach (limits, key, value) sim_default(requests, key, json_incref(value));
}

static void default_container(json_t *container)
{
    static const char *const probes[] = {"livenessProbe", "readinessProbe", "startupProbe"};
    json_t *item;
    size_t i;
    if (!json_is_object(container)) return;
    json_array_foreach (json_object_get(container, "ports"), i, item)
        if (json_is_object(item)) default_text(item, "protocol", "TCP");
    json_array_foreach (json_object_get(container, "env"), i, item) {
        json_t *field = sim_at(item, "valueFrom.fieldRef");
        if (json_is_object(field)) default_text(field, "apiVersion", "v1");
    }
    for (i = 0; i < ARRAY_LEN(probes); i++) default_probe(container, probes[i]);
    default_resources(container);
    default_text(container, "terminationMessagePath", "/dev/termination-log");
    default_text(container, "terminationMessagePolicy", "File");
    default_text(container, "imagePullPolicy", pull_policy(sim_text_at(container, "image")));
}

static void default_volume(json_t *volume)
{
    static const char *const with_mode[] = {"configMap", "secret", "projected", "downwardAPI"};
    if (!json_is_object(volume)) return;
    for (size_t i = 0; i < ARRAY_LEN(with_mode); i++) {
        json_t *source = json_object_get(volume, with_mode[i]);
        if (json_is_object(source)) default_integer(source, "defaultMode", 0644);
    }
    if (json_object_size(volume) == 1) sim_submap(volume, "emptyDir");
}

void sim_default_pod_spec(json_t *spec)
{
    static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
    json_t *item;
    size_t i;
    if (!json_is_object(spec)) return;
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        json_array_foreach (json_object_get(spec, lists[l]), i, item) default_container(item);
    json_array_foreach (json_object_get(spec, "volumes"), i, item) default_volume(item);
    default_text(spec, "restartPolicy", "Always");
    default_integer(spec, "terminationGracePeriodSeconds", 30);
    default_text(spec, "dnsPolicy", "ClusterFirst");
    sim_submap(spec, "securityContext");
    default_text(spec, "schedulerName", "default-scheduler");
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
static void default_tolerations(json_t *spec)
{
    static const char *const keys[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};
    json_t *tolerations = json_object_get(spec, "tolerations");
    if (!json_is_array(tolerations)) {
        tolerations = json_array();
        json_object_set_new(spec, "tolerations", tolerations);
    }
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (tolerates(tolerations, keys[i])) continue;
        json_array_append_new(tolerations,
                              json_pack("{s:s,s:s,s:s,s:i}", "key", keys[i], "operator", "Exists", "effect",
                                        "NoExecute", "tolerationSeconds", 300));
    }
}

void sim_default_pod(json_t *pod)
{
    json_t *spec = sim_submap(pod, "spec");
    sim_default_pod_spec(spec);
    default_tolerations(spec);
    default_integer(spec, "priority", 0);
    sim_default(spec, "enableServiceLinks", json_true());
    default_text(spec, "preemptionPolicy", "PreemptLowerPriority");
}

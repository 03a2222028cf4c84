/* Defaults of pods and of the templates of pods. */
#include "sim/object/defaults_pod.h"

#include <string.h>

#include "base/mem.h"
#include "sim/text/tree.h"

static void default_text(json_t *object, const char *key, const char *text)
{
    sim_default(object, key, json_string(text));
}

static void default_integer(json_t *object, const char *key, int64_t value)
{
    sim_default(object, key, json_integer(value));
}

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

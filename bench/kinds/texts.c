/* The list of kinds, and the texts of their objects; see texts.h. */
#include "texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "bench/source/replay_pods.h"
#include "object/parse/tape.h"
#include "writers.h"

enum { REPLICAS = 3, PODS = 2000, GUARDED_PODS = 200 };

static const int64_t sent_ns = 1700000000000000000;

static const char *const managed_fields[] = {"metadata.managedFields", NULL};
static const char *const ten_fields[] = {"metadata.labels",
                                         "metadata.ownerReferences",
                                         "spec.nodeName",
                                         "spec.serviceAccountName",
                                         "spec.containers[*].image",
                                         "spec.containers[*].resources",
                                         "status.phase",
                                         "status.podIP",
                                         "status.startTime",
                                         "status.containerStatuses[*].restartCount",
                                         NULL};

#define COMMAND    "\"command\":[\"sh\",\"-c\",\"migrate \\u0026\\u0026 exec serve\"],"

#define POD        .api_version = STR("v1"), .kind = STR("Pod"), .resource = "pods", .count = PODS
#define CONFIG_MAP .api_version = STR("v1"), .kind = STR("ConfigMap"), .resource = "configmaps"
#define CUSTOM \
    .api_version = STR("example.com/v1"), .kind = STR("Widget"), .resource = "widgets", .is_custom = true

static const struct kind_source sources[] = {
    {.name = "pods", POD, .replicas = REPLICAS},
    {.name = "chunks", POD, .replicas = REPLICAS, .read = 1400},
    {.name = "escaped",
     POD,
     .guarded = GUARDED_PODS,
     .replicas = REPLICAS,
     .insertions = {{"\"containers\":[{",
                     "\"imagePullPolicy\":\"IfNotPresent\",",
                     {COMMAND, COMMAND, COMMAND}}}},
    {.name = "distinct", POD, .guarded = GUARDED_PODS, .replicas = 1},
    {.name = "changing", /* in two places, with all that is long between them */
     POD,
     .guarded = GUARDED_PODS,
     .replicas = REPLICAS,
     .insertions = {{"\"annotations\":{",
                     "\"annotations\":{",
                     {"", "\"checked\":\"once\",", "\"checked\":\"twice by now\","}},
                    {"\"status\":{",
                     "\"status\":{",
                     {"", "\"message\":\"waits\",", "\"message\":\"waits for a volume\","}}}},
    {.name = "pruned", POD, .guarded = GUARDED_PODS, .replicas = REPLICAS, .prune = managed_fields},
    {.name = "fields", POD, .guarded = GUARDED_PODS, .replicas = REPLICAS, .fields = ten_fields},
    {.name = "deployments",
     .api_version = STR("apps/v1"),
     .kind = STR("Deployment"),
     .resource = "deployments",
     .count = 4000,
     .write = write_deployment},
    {.name = "nodes",
     .api_version = STR("v1"),
     .kind = STR("Node"),
     .resource = "nodes",
     .count = 1500,
     .write = write_node},
    {.name = "endpoints",
     .api_version = STR("discovery.k8s.io/v1"),
     .kind = STR("EndpointSlice"),
     .resource = "endpointslices",
     .count = 60,
     .guarded = 6,
     .write = write_endpoints},
    {.name = "events",
     .api_version = STR("v1"),
     .kind = STR("Event"),
     .resource = "events",
     .count = 15000,
     .write = write_event},
    {.name = "leases",
     .api_version = STR("coordination.k8s.io/v1"),
     .kind = STR("Lease"),
     .resource = "leases",
     .count = 20000,
     .write = write_lease},
    {.name = "large", CONFIG_MAP, .count = 16, .write = write_large},
    {.name = "keys", CONFIG_MAP, .count = 32, .guarded = 4, .write = write_keys},
    {.name = "labels", CONFIG_MAP, .count = 24, .write = write_labels},
    {.name = "random", CUSTOM, .count = 6000, .write = write_random_keys},
    {.name = "numbers", CUSTOM, .count = 8000, .write = write_numbers},
    {.name = "deep", CUSTOM, .count = 6000, .write = write_deep},
    {.name = "escapes", CONFIG_MAP, .count = 3000, .write = write_escapes},
    {.name = "secrets",
     .api_version = STR("v1"),
     .kind = STR("Secret"),
     .resource = "secrets",
     .count = 150,
     .write = write_secret},
};

const struct kind_source *kind_source(size_t number)
{
    return number < ARRAY_LEN(sources) ? &sources[number] : NULL;
}

static void put_insertion(struct buf *out, struct str *rest, const struct kind_insertion *insertion,
                          size_t state)
{
    const char *from = memmem(rest->p, rest->n, insertion->from, strlen(insertion->from));
    must(from);
    const char *after =
        memmem(from, rest->n - (size_t)(from - rest->p), insertion->after, strlen(insertion->after));
    must(after);
    after += strlen(insertion->after);
    buf_append(out, rest->p, (size_t)(after - rest->p));
    buf_puts(out, insertion->text[state]);
    rest->n -= (size_t)(after - rest->p);
    rest->p = after;
}

static void put_pod(struct buf *out, struct replay_pods *pods, const struct kind_source *source, size_t i,
                    size_t state)
{
    struct replay_pod *pod = &pods->generated[i];
    if (state > 0) replay_pods_touch(pods, pod, sent_ns + (int64_t)pods->version);
    struct str rest = {pod->json.bytes, pod->json.len};
    for (size_t k = 0; k < KIND_INSERTIONS && source->insertions[k].from; k++)
        put_insertion(out, &rest, &source->insertions[k], state);
    buf_str(out, rest);
}

static void put_type(struct buf *out, const struct kind_source *source, size_t state)
{
    buf_printf(out, "{\"type\":\"%s\",\"object\":{", state > 0 ? "MODIFIED" : "ADDED");
    if (source->is_custom)
        buf_printf(out, "\"apiVersion\":\"%.*s\",\"kind\":\"%.*s\",", STR_ARG(source->api_version),
                   STR_ARG(source->kind));
    else
        buf_printf(out, "\"kind\":\"%.*s\",\"apiVersion\":\"%.*s\",", STR_ARG(source->kind),
                   STR_ARG(source->api_version));
}

static void write_state(struct kind_texts *texts, struct replay_pods *pods, size_t state)
{
    struct buf *out = &texts->states[state];
    for (size_t i = 0; i < texts->count; i++) {
        put_type(out, texts->source, state);
        if (texts->source->write)
            texts->source->write(out, i, state);
        else
            put_pod(out, pods, texts->source, i, state);
        buf_puts(out, "}\n");
    }
    buf_reserve(out, TAPE_PADDING);
}

void kind_texts_init(struct kind_texts *texts, const struct kind_source *source, size_t count)
{
    struct replay_pods pods = {0};
    struct str rest, line;
    *texts = (struct kind_texts){.source = source, .count = count};
    if (!source->write) replay_pods_init(&pods, count, source->replicas);
    for (size_t state = 0; state < KIND_STATES; state++) write_state(texts, &pods, state);
    if (!source->write) replay_pods_clear(&pods);
    rest = buf_slice(&texts->states[0]);
    texts->objects = xcalloc(count, sizeof *texts->objects);
    for (size_t i = 0; i < count && str_cut(&rest, '\n', &line); i++) {
        const size_t head = strlen("{\"type\":\"ADDED\",\"object\":");
        texts->objects[i] = (struct str){line.p + head, line.n - head - 1};
        texts->bytes += texts->objects[i].n;
    }
}

void kind_texts_clear(struct kind_texts *texts)
{
    for (size_t i = 0; i < KIND_STATES; i++) buf_clear(&texts->states[i]);
    free(texts->objects);
    *texts = (struct kind_texts){0};
}

/* Texts of many kinds, and their way to objects; see kinds.h. */
#include "kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "bench/source/replay_pods.h"
#include "kube/api/stream.h"
#include "object/pack/projection.h"
#include "object/parse/simdjson.h"

enum {
    STATES = 3,
    READ = 16 << 10, /* bytes that the network gives at once */
    OBJECT_MAX = 4 << 20,
    REPLICAS = 3,
    DATA_KEYS = 10000,
    ENDPOINTS = 1000,
    PODS = 200,
    VERSION = 1000000000, /* of the first state, with as many digits as those of pods */
};

static const int64_t sent_ns = 1700000000000000000;

struct writer {
    struct replay_pods pods;
    struct buf *out;
};

/* Puts `text` of a state into the pod behind the first `after` that stands behind `from`. */
struct insertion {
    const char *from, *after;
    const char *text[STATES];
};

struct guard_kind_source {
    const char *name;
    struct str api_version, kind;                            /* empty: those of a pod */
    size_t count;                                            /* of objects that are no pods */
    void (*write)(struct writer *w, size_t i, size_t state); /* members of an object; NULL: a pod */
    size_t replicas;
    struct insertion insertions[2];
    const char *const *fields, *const *prune; /* end with NULL */
};

struct guard_kind {
    const struct guard_kind_source *source;
    struct str api_version, kind;
    size_t count;
    struct projection *projection;
    struct buf states[STATES]; /* events of a watch */
    struct str *objects;       /* of the first state */
    size_t state;
    struct simdjson_parser *reference;
    struct pool *pool;
    struct packer *packer;
    struct tape_parser *parser;
    struct root **held; /* the last state of each object */
    size_t next;
};

/* --- texts */

static void put_insertion(struct buf *out, struct str *rest, const struct insertion *insertion, size_t state)
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

static void put_pod(struct writer *w, const struct guard_kind_source *source, size_t i, size_t state)
{
    struct replay_pod *pod = &w->pods.generated[i];
    if (state > 0) replay_pods_touch(&w->pods, pod, sent_ns + (int64_t)w->pods.version);
    struct str rest = {pod->json.bytes, pod->json.len};
    for (size_t k = 0; k < ARRAY_LEN(source->insertions) && source->insertions[k].from; k++)
        put_insertion(w->out, &rest, &source->insertions[k], state);
    buf_str(w->out, rest);
}

static void put_metadata(struct writer *w, const char *name, size_t i, size_t state)
{
    buf_printf(w->out,
               "\"metadata\":{\"name\":\"%s-%04zu\",\"namespace\":\"team-%03zu\","
               "\"uid\":\"d888b835-1d93-43dc-984d-%012zu\",\"resourceVersion\":\"%zu\","
               "\"creationTimestamp\":\"2026-01-02T03:04:05Z\"}",
               name, i, i % 7, i, VERSION + state * 100000 + i);
}

/* One of its values is another in each state. */
static void write_keys(struct writer *w, size_t i, size_t state)
{
    put_metadata(w, "settings", i, state);
    buf_puts(w->out, ",\"data\":{");
    for (size_t k = 0; k < DATA_KEYS; k++)
        buf_printf(w->out, "%s\"setting-%zu-%05zu\":\"value %zu of %05zu\"", k ? "," : "", i, k,
                   k == 5000 ? state : 0, k * 7919 % 100003);
    buf_puts(w->out, "}}");
}

/* One endpoint is ready in some states alone. */
static void write_endpoints(struct writer *w, size_t i, size_t state)
{
    put_metadata(w, "web", i, state);
    buf_puts(w->out, ",\"addressType\":\"IPv4\",\"endpoints\":[");
    for (size_t k = 0; k < ENDPOINTS; k++) {
        bool ready = k != 500 || state % 2 == 0;
        buf_printf(w->out,
                   "%s{\"addresses\":[\"10.%zu.%zu.%zu\"],\"conditions\":{\"ready\":%s,\"serving\":%s,"
                   "\"terminating\":false},\"targetRef\":{\"kind\":\"Pod\",\"namespace\":\"team-%03zu\","
                   "\"name\":\"web-%04zu-5c96d7c6d-%05zx\",\"uid\":\"9f3b7a10-5e1c-4c1d-%04zx-%012zx\"},"
                   "\"nodeName\":\"node-%03zu\",\"zone\":\"eu-west-1%c\"}",
                   k ? "," : "", i % 200, k / 250, k % 250 + 1, ready ? "true" : "false",
                   ready ? "true" : "false", i % 7, i, k * 7919 % 99991, i, k, k % 300, (char)('a' + k % 3));
    }
    buf_puts(w->out, "],\"ports\":[{\"name\":\"http\",\"port\":8080,\"protocol\":\"TCP\"}]}");
}

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

#define COMMAND "\"command\":[\"sh\",\"-c\",\"migrate \\u0026\\u0026 exec serve\"],"

/* Pods but for what says otherwise. */
static const struct guard_kind_source sources[] = {
    {.name = "escaped",
     .replicas = REPLICAS,
     .insertions = {{"\"containers\":[{",
                     "\"imagePullPolicy\":\"IfNotPresent\",",
                     {COMMAND, COMMAND, COMMAND}}}},
    {.name = "distinct", .replicas = 1},
    {.name = "changing", /* in two places, with all that is long between them */
     .replicas = REPLICAS,
     .insertions = {{"\"annotations\":{",
                     "\"annotations\":{",
                     {"", "\"checked\":\"once\",", "\"checked\":\"twice by now\","}},
                    {"\"status\":{",
                     "\"status\":{",
                     {"", "\"message\":\"waits\",", "\"message\":\"waits for a volume\","}}}},
    {.name = "pruned", .replicas = REPLICAS, .prune = managed_fields},
    {.name = "fields", .replicas = REPLICAS, .fields = ten_fields},
    {.name = "endpoints",
     .api_version = STR("discovery.k8s.io/v1"),
     .kind = STR("EndpointSlice"),
     .count = 6,
     .write = write_endpoints},
    {.name = "keys", .api_version = STR("v1"), .kind = STR("ConfigMap"), .count = 4, .write = write_keys},
};

/* --- from bytes to objects */

static void write_state(struct guard_kind *kind, struct writer *w, size_t state)
{
    w->out = &kind->states[state];
    for (size_t i = 0; i < kind->count; i++) {
        buf_printf(w->out, "{\"type\":\"%s\",\"object\":{\"kind\":\"%.*s\",\"apiVersion\":\"%.*s\",",
                   state > 0 ? "MODIFIED" : "ADDED", STR_ARG(kind->kind), STR_ARG(kind->api_version));
        if (kind->source->write)
            kind->source->write(w, i, state);
        else
            put_pod(w, kind->source, i, state);
        buf_puts(w->out, "}\n");
    }
    buf_reserve(w->out, TAPE_PADDING);
}

static void write_states(struct guard_kind *kind)
{
    struct writer w = {0};
    const size_t head = strlen("{\"type\":\"ADDED\",\"object\":");
    struct str rest, line;
    if (!kind->source->write) replay_pods_init(&w.pods, kind->count, kind->source->replicas);
    for (size_t state = 0; state < STATES; state++) write_state(kind, &w, state);
    if (!kind->source->write) replay_pods_clear(&w.pods);
    rest = buf_slice(&kind->states[0]);
    kind->objects = xcalloc(kind->count, sizeof *kind->objects);
    for (size_t i = 0; i < kind->count && str_cut(&rest, '\n', &line); i++)
        kind->objects[i] = (struct str){line.p + head, line.n - head - 1};
}

static struct projection_paths paths_of(const char *const *texts)
{
    struct projection_paths paths = {texts, 0};
    while (texts && texts[paths.count]) paths.count++;
    return paths;
}

size_t guard_kinds(void)
{
    return ARRAY_LEN(sources);
}

struct guard_kind *guard_kind_new(size_t number)
{
    struct guard_kind *kind = NEW(struct guard_kind);
    const struct guard_kind_source *source = kind->source = &sources[number];
    bool pods = !source->write;
    kind->api_version = pods ? STR("v1") : source->api_version;
    kind->kind = pods ? STR("Pod") : source->kind;
    kind->count = pods ? PODS : source->count;
    if (source->fields || source->prune)
        kind->projection = projection_new(paths_of(source->fields), paths_of(source->prune), NULL);
    write_states(kind);
    kind->reference = simdjson_parser_new();
    kind->pool = pool_new(NULL);
    kind->packer = packer_new(kind->pool);
    kind->parser = tape_parser_new();
    kind->held = xcalloc(kind->count, sizeof(struct root *));
    return kind;
}

void guard_kind_free(struct guard_kind *kind)
{
    for (size_t i = 0; i < kind->count; i++) root_unref(kind->held[i]);
    for (size_t i = 0; i < STATES; i++) buf_clear(&kind->states[i]);
    tape_parser_free(kind->parser);
    packer_free(kind->packer);
    pool_free(kind->pool);
    simdjson_parser_free(kind->reference);
    projection_unref(kind->projection);
    free(kind->objects);
    free(kind->held);
    free(kind);
}

const char *guard_kind_name(const struct guard_kind *kind)
{
    return kind->source->name;
}

size_t guard_kind_reference(struct guard_kind *kind)
{
    const uint64_t *words;
    const uint8_t *strings;
    for (size_t i = 0; i < kind->count; i++)
        must(!simdjson_parse(kind->reference, kind->objects[i].p, kind->objects[i].n, &words, &strings));
    return kind->count;
}

/* The new state takes the place of the last one, which goes, as in a store. */
static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us)
{
    struct guard_kind *kind = ctx;
    struct root *before = kind->held[kind->next];
    kind->held[kind->next] = object;
    kind->next = (kind->next + 1) % kind->count;
    root_unref(before);
}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    fprintf(stderr, "guard: refused: %s\n", refusal->err->text);
    exit(1);
}

size_t guard_kind_state(struct guard_kind *kind)
{
    static const struct lw_sink sink = {.event = on_event, .refused = on_refused};
    const struct buf *body = &kind->states[kind->state++];
    struct err err;
    struct stream *stream = watch_stream_new(
        &(struct stream_options){.packer = kind->packer,
                                 .parser = kind->parser,
                                 .max_object_size = OBJECT_MAX,
                                 .type = {kind->api_version, kind->kind, .projection = kind->projection},
                                 .sink = &sink,
                                 .ctx = kind});
    for (size_t at = 0; at < body->len; at += READ)
        must(stream_feed(stream, body->data + at, body->len - at < READ ? body->len - at : READ, 0, &err));
    must(stream_end(stream, &err));
    stream_free(stream);
    must(kind->next == 0 && kind->held[kind->count - 1]);
    return kind->count;
}

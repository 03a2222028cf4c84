/* Pods as bytes; see replay_pods.h. */
#include "bench/source/replay_pods.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/must.h"
#include "bench/source/replay_encodings.h"
#include "sim/scenario/pods.h"
#include "sim/text/names.h"
#include "sim/text/random.h"
#include "sim/text/text.h"

enum { SALT_MARKER = 3 };

/* The text of a member of fixed width. */
static uint32_t place(struct str object, const char *key, size_t width, const char *begin)
{
    struct str value;
    must(sim_text_member(object, key, &value));
    value = sim_text_unquote(value);
    must(value.n == width);
    return (uint32_t)(value.p - begin);
}

/* Copies a whole object's text. */
static void set_json(struct replay_pod *pod, struct str text)
{
    struct replay_body *body = &pod->json;
    struct str metadata, annotations;
    *body = (struct replay_body){.bytes = xmalloc(text.n - 1), .len = (uint32_t)text.n - 1};
    memcpy(body->bytes, text.p + 1, body->len);
    must(sim_text_member(text, "metadata", &metadata) &&
         sim_text_member(metadata, "annotations", &annotations));
    body->metadata_len = (uint32_t)(metadata.p + metadata.n - (text.p + 1));
    body->version_at = place(metadata, "resourceVersion", REPLAY_VERSION_DIGITS, text.p + 1);
    body->sent_at = place(annotations, "bench/sent-ns", REPLAY_SENT_DIGITS, text.p + 1);
}

static struct str member(struct str metadata, const char *key)
{
    struct str value;
    must(sim_text_member(metadata, key, &value));
    return sim_text_unquote(value);
}

static void set_generated(struct replay_pod *pod, struct str text)
{
    struct str metadata;
    must(sim_text_member(text, "metadata", &metadata));
    struct str namespace_ = member(metadata, "namespace"), name = member(metadata, "name");
    pod->key = xasprintf("%.*s/%.*s", STR_ARG(namespace_), STR_ARG(name));
    must(str_to_u64(member(metadata, "resourceVersion"), &pod->version));
    pod->created = pod->version;
    set_json(pod, text);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp((*(struct replay_pod *const *)a)->key, (*(struct replay_pod *const *)b)->key);
}

static int compare_versions(const void *a, const void *b)
{
    uint64_t va = (*(struct replay_pod *const *)a)->version, vb = (*(struct replay_pod *const *)b)->version;
    return (va > vb) - (va < vb);
}

void replay_pods_init(struct replay_pods *pods, size_t count, size_t replicas)
{
    struct sim_pods *source = sim_pods_new(count, replicas);
    struct buf text = {0};
    *pods =
        (struct replay_pods){.generated = xcalloc(count, sizeof *pods->generated), .generated_count = count};
    for (size_t i = 0; i < count; i++) {
        text.len = 0;
        sim_pods_text(source, i, &text);
        set_generated(&pods->generated[i], buf_slice(&text));
        *array_add(pods->sorted, pods->count) = &pods->generated[i];
        if (pods->version < pods->generated[i].version) pods->version = pods->generated[i].version;
    }
    pods->oldest = pods->version;
    qsort(pods->sorted, count, sizeof(struct replay_pod *), compare_keys);
    buf_clear(&text);
    sim_pods_free(source);
}

void replay_pods_clear(struct replay_pods *pods)
{
    const struct replay_pod *first = pods->generated, *end = first + pods->generated_count;
    for (size_t i = 0; i < pods->count; i++) {
        struct replay_pod *pod = pods->sorted[i];
        free(pod->key);
        free(pod->json.bytes);
        if (pod >= first && pod < end) continue;
        free(pod->protobuf.bytes);
        free(pod);
    }
    buf_clear(&pods->encodings);
    free(pods->sorted);
    free(pods->generated);
    *pods = (struct replay_pods){0};
}

static void put_digits(char *to, size_t width, uint64_t number)
{
    for (; width > 0; number /= 10) to[--width] = (char)('0' + number % 10);
}

static void stamp(struct replay_body *body, uint64_t version, int64_t now_ns)
{
    put_digits(body->bytes + body->version_at, REPLAY_VERSION_DIGITS, version);
    put_digits(body->bytes + body->sent_at, REPLAY_SENT_DIGITS, (uint64_t)now_ns);
}

void replay_pods_touch(struct replay_pods *pods, struct replay_pod *pod, int64_t now_ns)
{
    pod->version = ++pods->version;
    stamp(&pod->json, pod->version, now_ns);
    if (pods->has_protobuf) stamp(&pod->protobuf, pod->version, now_ns);
}

bool replay_pods_encode(struct replay_pods *pods, const char *dir, struct err *err)
{
    pods->has_protobuf = replay_encodings_read(pods, dir, &pods->encodings, err);
    for (size_t i = 0; pods->has_protobuf && i < pods->count; i++)
        stamp(&pods->sorted[i]->protobuf, pods->sorted[i]->version, 0);
    return pods->has_protobuf;
}

/* Appends what comes before `old`, then `now` in its place. */
static void replace(struct buf *out, const char **from, struct str old, struct str now)
{
    buf_append(out, *from, (size_t)(old.p - *from));
    buf_str(out, now);
    *from = old.p + old.n;
}

/* The text of a generated pod has these three members in this order. */
static void set_marker(struct replay_pod *pod, const struct replay_pod *like, struct str name, struct str uid)
{
    const struct replay_body *body = &like->json;
    struct buf text = {0};
    const char *from = body->bytes, *metadata = memchr(body->bytes, '{', body->metadata_len);
    struct str in = {metadata, body->metadata_len - (size_t)(metadata - body->bytes)};
    buf_putc(&text, '{');
    replace(&text, &from, member(in, "name"), name);
    replace(&text, &from, member(in, "namespace"), STR("default"));
    replace(&text, &from, member(in, "uid"), uid);
    buf_append(&text, from, (size_t)(body->bytes + body->len - from));
    set_json(pod, buf_slice(&text));
    buf_clear(&text);
}

static void insert(struct replay_pods *pods, struct replay_pod *pod)
{
    size_t at = replay_pods_behind(pods, pod->key);
    (void)array_add(pods->sorted, pods->count);
    memmove(pods->sorted + at + 1, pods->sorted + at, (pods->count - 1 - at) * sizeof(struct replay_pod *));
    pods->sorted[at] = pod;
}

struct replay_pod *replay_pods_mark(struct replay_pods *pods, const char *name, struct err *err)
{
    struct buf problems = {0};
    char uid[SIM_UID_LEN + 1];
    if (!sim_check_subdomain(str_of(name), &problems)) {
        err_set(err, ERR_INVALID, "name \"%s\": %s", name, buf_text(&problems));
        buf_clear(&problems);
        return NULL;
    }
    char *key = xasprintf("default/%s", name);
    size_t behind = replay_pods_behind(pods, key);
    if (behind > 0 && strcmp(pods->sorted[behind - 1]->key, key) == 0) {
        err_set(err, ERR_LIMIT, "pods \"%s\" already exists", name);
        free(key);
        return NULL;
    }
    struct replay_pod *pod = NEW(struct replay_pod);
    struct sim_random random = sim_random_seed(SALT_MARKER, pods->version);
    sim_random_uid(&random, uid);
    pod->key = key;
    set_marker(pod, &pods->generated[0], str_of(name), str_of(uid));
    if (pods->has_protobuf) replay_encodings_mark(pod, &pods->generated[0], str_of(name), str_of(uid));
    replay_pods_touch(pods, pod, 0);
    pod->created = pod->version;
    insert(pods, pod);
    return pod;
}

size_t replay_pods_behind(const struct replay_pods *pods, const char *key)
{
    size_t low = 0, high = pods->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(pods->sorted[middle]->key, key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct replay_pod **replay_pods_since(const struct replay_pods *pods, uint64_t version, size_t *n)
{
    struct replay_pod **found = xmalloc((pods->count + 1) * sizeof(struct replay_pod *));
    *n = 0;
    for (size_t i = 0; i < pods->count; i++)
        if (pods->sorted[i]->version > version) found[(*n)++] = pods->sorted[i];
    qsort(found, *n, sizeof(struct replay_pod *), compare_versions);
    return found;
}

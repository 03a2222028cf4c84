/* Pods as bytes of a watch-list, of a list and of a watch; see pods.h. */
#include "pods.h"

#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "object/parse/tape.h"

#define POD_HEAD   "{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
#define ADDED_HEAD "{\"type\":\"ADDED\",\"object\":"

enum { REPLICAS = 3 }; /* pods of one workload */
static const int64_t sent_ns = 1700000000000000000;

static void put_body(struct buf *out, const struct replay_pod *pod)
{
    buf_append(out, pod->json.bytes, pod->json.len);
}

static void put_events(struct buf *out, const struct replay_pods *source, const char *head)
{
    out->len = 0;
    for (size_t i = 0; i < source->generated_count; i++) {
        buf_puts(out, head);
        put_body(out, &source->generated[i]);
        buf_puts(out, "}\n");
    }
}

static void put_list(struct buf *out, const struct replay_pods *source)
{
    buf_printf(out,
               "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"%llu\"},"
               "\"items\":[",
               (unsigned long long)source->version);
    for (size_t i = 0; i < source->generated_count; i++) {
        buf_puts(out, i ? ",{" : "{");
        put_body(out, &source->generated[i]);
    }
    buf_puts(out, "]}\n");
}

static void put_bookmark(struct buf *out, const struct replay_pods *source)
{
    buf_printf(out,
               "{\"type\":\"BOOKMARK\",\"object\":" POD_HEAD "\"metadata\":{\"resourceVersion\":\"%llu\","
               "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n",
               (unsigned long long)source->version);
}

static void find_objects(struct guard_pods *pods)
{
    struct str rest = buf_slice(&pods->added), line;
    const size_t head = strlen(ADDED_HEAD);
    pods->objects = xcalloc(pods->count, sizeof *pods->objects);
    for (size_t i = 0; i < pods->count; i++) {
        must(str_cut(&rest, '\n', &line) && line.n > head);
        pods->objects[i] = (struct str){line.p + head, line.n - head - 1};
    }
}

void guard_pods_init(struct guard_pods *pods, size_t count)
{
    *pods = (struct guard_pods){.count = count};
    replay_pods_init(&pods->source, count, REPLICAS);
    put_events(&pods->added, &pods->source, ADDED_HEAD POD_HEAD);
    size_t events = pods->added.len;
    put_bookmark(&pods->added, &pods->source);
    must(pods->added.len - events >= TAPE_PADDING); /* of the last object */
    put_list(&pods->list, &pods->source);
    find_objects(pods);
    guard_pods_advance(pods);
}

void guard_pods_advance(struct guard_pods *pods)
{
    struct replay_pods *source = &pods->source;
    for (size_t i = 0; i < source->generated_count; i++)
        replay_pods_touch(source, &source->generated[i], sent_ns + (int64_t)source->version);
    put_events(&pods->modified, source, "{\"type\":\"MODIFIED\",\"object\":" POD_HEAD);
}

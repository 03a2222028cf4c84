/* Generated pods; see pods.h. */
#include "sim/scenario/pods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "sim/store/cluster.h"
#include "sim/text/random.h"
#include "sim/text/template.h"

/* Holes of the template, in the order of their names. */
enum { NAME, APP, HASH, SHORT, NAMESPACE, UID, VERSION, TIME, TIER, RELEASE, ZONE, CHECKSUM, OWNER };
enum { WRITTEN = OWNER + 1, REPORTED, NODE, HOST_IP, IP, CONTAINER, IMAGE, TAG, DIGEST, CONTAINER_ID };
enum { RESTARTS = CONTAINER_ID + 1, HOLES };

static const char *const hole_names[HOLES] = {
    "name",    "app",     "hash",      "short",    "namespace", "uid",     "version",      "time",
    "tier",    "release", "zone",      "checksum", "owner",     "written", "reported",     "node",
    "host_ip", "ip",      "container", "image",    "tag",       "digest",  "container_id", "restarts",
};

enum { FIRST_VERSION = 1000000000, SALT_POD = 1, SALT_APP = 2, VALUE_MAX = 128 };

/* Number of parts of the template, of about 9.4 KB; every second one is repeated for each container. */
enum { POD_PARTS = 7 };

struct sim_pods {
    size_t count, apps;
    struct sim_template parts[POD_PARTS];
};

/* Values of one pod; `values` points into `text`. */
struct pod {
    char text[HOLES][VALUE_MAX];
    struct str values[HOLES];
};

struct sim_pods *sim_pods_new(size_t count, size_t replicas)
{
    static const struct str mark = {"<*>", 3};
    struct sim_pods *pods = NEW(struct sim_pods);
    pods->count = count;
    pods->apps = count / (replicas ? replicas : SIM_POD_REPLICAS);
    if (pods->apps == 0) pods->apps = 1;
    struct str source = sim_template_source("pod");
    for (size_t i = 0; i < POD_PARTS; i++) {
        const char *end = memmem(source.p, source.n, mark.p, mark.n);
        size_t n = end ? (size_t)(end - source.p) : source.n;
        pods->parts[i] = sim_template_parse((struct str){source.p, n}, hole_names, HOLES);
        if (end) source = (struct str){end + mark.n, source.n - n - mark.n};
    }
    return pods;
}

void sim_pods_free(struct sim_pods *pods)
{
    if (!pods) return;
    for (size_t i = 0; i < POD_PARTS; i++) sim_template_clear(&pods->parts[i]);
    free(pods);
}

__attribute__((format(printf, 3, 4))) static void set(struct pod *pod, size_t hole, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(pod->text[hole], VALUE_MAX, format, args);
    va_end(args);
    must(n >= 0 && n < VALUE_MAX);
    pod->values[hole] = (struct str){pod->text[hole], (size_t)n};
}

static void set_hex(struct pod *pod, size_t hole, struct sim_random *random, size_t digits)
{
    sim_random_hex(random, pod->text[hole], digits);
    pod->values[hole] = (struct str){pod->text[hole], digits};
}

static void set_uid(struct pod *pod, size_t hole, struct sim_random *random)
{
    sim_random_uid(random, pod->text[hole]);
    pod->values[hole] = str_of(pod->text[hole]);
}

/* Sets the values that all pods of a workload share. */
static void set_app(struct pod *pod, size_t a)
{
    static const char *const tiers[] = {"api", "web", "worker", "db"};
    struct sim_random random = sim_random_seed(SALT_APP, a);
    set(pod, APP, "svc-%04zu", a);
    set(pod, NAMESPACE, "team-%03zu", a % SIM_POD_NAMESPACES);
    set(pod, TIER, "%s", tiers[a % 4]);
    set(pod, RELEASE, "1.%zu.%zu", a % 17, a % 23);
    set_hex(pod, HASH, &random, 10);
    set(pod, SHORT, "%.5s", pod->text[HASH]);
    set_hex(pod, CHECKSUM, &random, 64);
    set_uid(pod, OWNER, &random);
}

/* Five characters that no other pod has: a one-to-one walk through all of them. */
static void set_name(struct pod *pod, size_t i)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    enum { BASE = sizeof letters - 1, ALL = BASE * BASE * BASE * BASE * BASE };
    uint64_t n = ((uint64_t)i * 7919077 + 3141592) % ALL;
    char suffix[6] = "";
    for (size_t k = 0; k < 5; k++, n /= BASE) suffix[k] = letters[n % BASE];
    set(pod, NAME, "%s-%s-%s", pod->text[APP], pod->text[HASH], suffix);
}

static void set_time(struct pod *pod, size_t hole, struct sim_random *random, unsigned days)
{
    set(pod, hole, "2026-11-%02uT%02u:%02u:%02uZ", 1 + sim_random_below(random, days),
        sim_random_below(random, 24), sim_random_below(random, 60), sim_random_below(random, 60));
}

static void set_pod(struct pod *pod, size_t i, struct sim_random *random)
{
    set_name(pod, i);
    set_uid(pod, UID, random);
    set(pod, VERSION, "%zu", FIRST_VERSION + i);
    set_time(pod, TIME, random, 19);
    set_time(pod, WRITTEN, random, 9);
    set_time(pod, REPORTED, random, 9);
    set(pod, ZONE, "%c", "abc"[i % 3]);
    sim_node_name(sim_random_below(random, SIM_POD_NODES), pod->text[NODE], VALUE_MAX);
    pod->values[NODE] = str_of(pod->text[NODE]);
    set(pod, HOST_IP, "10.0.%u.%u", sim_random_below(random, 10), 1 + sim_random_below(random, 254));
    set(pod, IP, "10.%u.%u.%u", sim_random_below(random, 256), sim_random_below(random, 256),
        1 + sim_random_below(random, 254));
}

static void set_container(struct pod *pod, bool sidecar, struct sim_random *random)
{
    static const unsigned restarts[] = {0, 0, 0, 0, 1, 2, 7};
    if (sidecar) {
        set(pod, CONTAINER, "istio-proxy");
        set(pod, IMAGE, "docker.io/istio/proxyv2");
        set(pod, TAG, "1.24.1");
    } else {
        set(pod, CONTAINER, "%s", pod->text[APP]);
        set(pod, IMAGE, "registry.example.com/platform/%s", pod->text[APP]);
        set(pod, TAG, "v%s", pod->text[RELEASE]);
    }
    struct sim_random image = sim_random_seed(SALT_APP, sim_random_text(pod->text[IMAGE]));
    set_hex(pod, DIGEST, &image, 64);
    set_hex(pod, CONTAINER_ID, random, 64);
    set(pod, RESTARTS, "%u", restarts[sim_random_below(random, ARRAY_LEN(restarts))]);
}

/* Every third workload has a sidecar. */
static void fill_each(struct sim_pods *pods, size_t part, struct pod *pod, size_t containers,
                      struct sim_random *random, struct buf *out)
{
    for (size_t c = 0; c < containers; c++) {
        if (c) buf_putc(out, ',');
        set_container(pod, c > 0, random);
        sim_template_fill(&pods->parts[part], pod->values, out);
    }
}

void sim_pods_text(struct sim_pods *pods, size_t i, struct buf *out)
{
    struct sim_random random = sim_random_seed(SALT_POD, i);
    struct pod pod;
    size_t a = i % pods->apps, containers = a % 3 == 0 ? 2 : 1;
    set_app(&pod, a);
    set_pod(&pod, i, &random);
    for (size_t part = 0; part < POD_PARTS; part++)
        if (part % 2)
            fill_each(pods, part, &pod, containers, &random, out);
        else
            sim_template_fill(&pods->parts[part], pod.values, out);
}

void sim_pods_next(struct sim_pods *pods, struct buf *out)
{
    sim_pods_text(pods, pods->count++, out);
}

void sim_pods_load(struct sim_pods *pods, struct sim_store *store)
{
    struct sim_object **objects = xmalloc((pods->count + 1) * sizeof(struct sim_object *));
    struct buf text = {0};
    for (size_t i = 0; i < pods->count; i++) {
        text.len = 0;
        sim_pods_text(pods, i, &text);
        objects[i] = sim_object_from_text(buf_slice(&text));
        must(objects[i]);
    }
    buf_clear(&text);
    sim_load_sorted(store, "pods", objects, pods->count);
    free(objects);
}

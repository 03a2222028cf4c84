/* Nodes and namespaces; see cluster.h. */
#include "sim/store/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "sim/text/random.h"
#include "sim/text/template.h"

enum {
    SALT_NODE = 3,
    SALT_NAMESPACE = 4,
    FIRST_NODE_VERSION = 900000000,
    FIRST_NAMESPACE_VERSION = 800000000
};

static const char *const node_holes[] = {"name", "uid", "version", "ip", "zone", "machine"};

static const char *const namespace_holes[] = {"name", "uid", "version"};

static int by_key(const void *a, const void *b)
{
    return strcmp((*(struct sim_object *const *)a)->key, (*(struct sim_object *const *)b)->key);
}

void sim_load_sorted(struct sim_store *store, const char *plural, struct sim_object **objects, size_t n)
{
    qsort(objects, n, sizeof *objects, by_key);
    struct sim_served *served = sim_store_find(store, "", "v1", plural);
    must(served);
    sim_store_fill(store, served->resource, objects, n);
}

static struct sim_object *fill(const struct sim_template *template, const struct str *values)
{
    struct buf text = {0};
    sim_template_fill(template, values, &text);
    struct sim_object *object = sim_object_from_text(buf_slice(&text));
    buf_clear(&text);
    must(object);
    return object;
}

void sim_node_name(size_t number, char *out, size_t room)
{
    snprintf(out, room, "ip-10-%zu-%zu-%zu.eu-west-1.compute.internal", number % 10, number / 10 % 10,
             number / 100);
}

static struct sim_object *node(const struct sim_template *template, size_t number)
{
    struct sim_random random = sim_random_seed(SALT_NODE, number);
    char name[64], uid[SIM_UID_LEN + 1], version[24], ip[32], zone[2] = {"abc"[number % 3], '\0'},
                                                              machine[33];
    sim_node_name(number, name, sizeof name);
    sim_random_uid(&random, uid);
    sim_random_hex(&random, machine, 32);
    snprintf(version, sizeof version, "%zu", FIRST_NODE_VERSION + number);
    snprintf(ip, sizeof ip, "10.%zu.%zu.%zu", number % 10, number / 10 % 10, number / 100);
    const struct str values[] = {str_of(name), str_of(uid),  str_of(version),
                                 str_of(ip),   str_of(zone), str_of(machine)};
    return fill(template, values);
}

void sim_load_nodes(struct sim_store *store, size_t count)
{
    struct sim_object **objects = xmalloc((count + 1) * sizeof(struct sim_object *));
    struct sim_template template =
        sim_template_parse(sim_template_source("node"), node_holes, ARRAY_LEN(node_holes));
    for (size_t i = 0; i < count; i++) objects[i] = node(&template, i);
    sim_template_clear(&template);
    sim_load_sorted(store, "nodes", objects, count);
    free(objects);
}

/* Returns the seed of a namespace's uid. By the uid of kube-system clients tell clusters apart, and each
 * start is a new cluster: its versions begin again. */
static uint64_t number_of(const struct sim_store *store, const char *name)
{
    bool identifies = strcmp(name, "kube-system") == 0;
    return sim_random_text(name) + (identifies ? store->version : 0);
}

static struct sim_object *namespace(const struct sim_store *store, const struct sim_template *template,
                                    const char *name, size_t number)
{
    struct sim_random random = sim_random_seed(SALT_NAMESPACE, number_of(store, name));
    char uid[SIM_UID_LEN + 1], version[24];
    sim_random_uid(&random, uid);
    snprintf(version, sizeof version, "%zu", FIRST_NAMESPACE_VERSION + number);
    const struct str values[] = {str_of(name), str_of(uid), str_of(version)};
    return fill(template, values);
}

void sim_load_namespaces(struct sim_store *store, size_t teams)
{
    static const char *const always[] = {"default", "kube-node-lease", "kube-public", "kube-system"};
    struct sim_object **objects = xmalloc((teams + ARRAY_LEN(always)) * sizeof(struct sim_object *));
    size_t n = 0;
    struct sim_template template =
        sim_template_parse(sim_template_source("namespace"), namespace_holes, ARRAY_LEN(namespace_holes));
    for (; n < ARRAY_LEN(always); n++) objects[n] = namespace(store, &template, always[n], n);
    for (size_t i = 0; i < teams; i++, n++) {
        char name[32];
        snprintf(name, sizeof name, "team-%03zu", i);
        objects[n] = namespace(store, &template, name, n);
    }
    sim_template_clear(&template);
    sim_load_sorted(store, "namespaces", objects, n);
    free(objects);
}

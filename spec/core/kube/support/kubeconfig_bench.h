/* A folder for kubeconfig files, with nothing of the machine's own configuration in the way.
 * Owner: the test, by setup and teardown. */
#pragma once
#include <stdbool.h>

#include "base/err.h"
#include "kube/config/kubeconfig.h"
#include "support/tls_files.h"

#define CLUSTER(more) "clusters:\n- name: c\n  cluster:\n    server: https://h:6443/\n" more
#define USER(more)    "users:\n- name: u\n  user:\n" more
#define CONTEXT \
    "contexts:\n- name: dev\n  context: {cluster: c, user: u, namespace: shop}\ncurrent-context: dev\n"

struct bench {
    char dir[64];
    struct tls_pair ca, client, other;
    struct cluster_flags flags;
    struct cluster_config config;
    struct err err;
};

int kubeconfig_bench_setup(void **state);
int kubeconfig_bench_teardown(void **state);
/* Writes DIR/name, making its folder; gives its path, good until the eighth call after. */
const char *bench_put(struct bench *bench, const char *name, const char *text);
/* Removes DIR/name. */
void bench_take(struct bench *bench, const char *name);
/* Loads with `flags` into `config` and `err`. */
bool bench_load(struct bench *bench);
/* It must load. */
void bench_good(struct bench *bench);
/* It must fail with this text, in which DIR stands for the folder. */
void bench_bad(struct bench *bench, enum err_code code, const char *expected);
/* DIR/config gets the text and is what --kubeconfig names. */
void bench_use(struct bench *bench, const char *text);

/* The exec entry of a kubeconfig's user: a program that gives credentials (T-12, T-14).
 * Owner: whoever made or copied it. Reading belongs to the loading of kubeconfig files. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct yaml_file;
struct yaml_node_s;

#define EXEC_V1      "client.authentication.k8s.io/v1"
#define EXEC_V1BETA1 "client.authentication.k8s.io/v1beta1"

enum exec_interactive { EXEC_NEVER, EXEC_IF_AVAILABLE, EXEC_ALWAYS };

struct exec_config {
    char *api_version, *command; /* the command joined to its file's folder when it has a separator (C-4) */
    char **args;                 /* NULL behind the last */
    char **env;                  /* NAME=VALUE, NULL behind the last */
    char *install_hint;          /* NULL without */
    char *cluster_config;        /* JSON that the cluster's entry has for the program; NULL without */
    enum exec_interactive interactive;
    bool provide_cluster_info;
};

/* From an `exec` mapping of `file`; without `cluster_config`. NULL with ERR_INVALID, whose text begins with
 * the field: ".command: there is none". */
struct exec_config *exec_config_read(struct yaml_file *file, struct yaml_node_s *exec, struct err *err);
struct exec_config *exec_config_copy(const struct exec_config *config);
/* Wipes the environment's values. */
void exec_config_free(struct exec_config *config);
/* Returns the cluster entry's configuration of the plugin, as JSON (extension
 * client.authentication.k8s.io/exec); NULL without. The caller frees it. */
char *exec_config_cluster(struct yaml_file *file, struct yaml_node_s *cluster);

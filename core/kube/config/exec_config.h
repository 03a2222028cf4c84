/* The exec entry of a kubeconfig's user: a program that returns credentials (T-12, T-14). Owner: the caller
 * that created or copied it. Reading is part of loading kubeconfig files. */
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
    char *api_version, *command; /* `command`: joined to its file's directory if it has a separator (C-4) */
    char **args;                 /* ends with NULL */
    char **env;                  /* NAME=VALUE; ends with NULL */
    char *install_hint;          /* NULL: none */
    char *cluster_config;        /* JSON of the cluster's entry for the program; NULL: none */
    enum exec_interactive interactive;
    bool provide_cluster_info;
};

/* Reads an `exec` mapping of `file`, without `cluster_config`. Returns NULL with ERR_INVALID, whose text
 * begins with the field: ".command: there is none". */
struct exec_config *exec_config_read(struct yaml_file *file, struct yaml_node_s *exec, struct err *err);
struct exec_config *exec_config_copy(const struct exec_config *config);
/* Wipes the environment's values. */
void exec_config_free(struct exec_config *config);
/* Returns the cluster entry's configuration of the plugin, as JSON (extension
 * client.authentication.k8s.io/exec); NULL: none. The caller frees it. */
char *exec_config_cluster(struct yaml_file *file, struct yaml_node_s *cluster);

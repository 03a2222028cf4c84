/* Kubeconfig of the simulator, for any client. Owner: the caller's texts. Blocks on the disk. */
#pragma once
#include "base/err.h"
#include "base/str.h"

struct sim_kubeconfig {
    const char *server; /* "http://127.0.0.1:8001" */
    struct str ca;      /* certificate in PEM; empty: none */
    const char *token;  /* NULL: none */
};

/* Writes a file that only its user can read, whole or not at all. ERR_IO names the path. */
bool sim_kubeconfig_write(const struct sim_kubeconfig *config, const char *path, struct err *err);

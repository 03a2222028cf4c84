/* The parts of `run` and `exec` around their engine: signals (shutdown_watch.h) and, for `run`, the monitor
 * and the admin socket with its sessions. Owner: cmd_run.c, on the main thread. */
#pragma once
#include "app/options/options.h"
#include "engine/engine.h"

struct cluster_config;

enum { CLUSTERS_MAX = 100 }; /* --context */

enum driver_mode {
    DRIVER_RUN,  /* until a signal */
    DRIVER_EXEC, /* until the one script's main returns */
};

/* Borrowed. */
struct driver_options {
    enum driver_mode mode;
    struct options *options; /* the log's may change on SIGHUP */
    const struct cluster_config *config;
    const struct cluster_config *others; /* of clusters beside that one; each has a name */
    size_t other_count;
    const struct bucket_place *from; /* of objects of the home cluster; NULL: its server */
    bool has_no_server;              /* then, if that is not configured */
    const struct engine_settings *settings;
    const struct script_files *files;
};

/* Runs an engine on a cluster from start to end; returns the exit code. */
int driver_run(const struct driver_options *options);

/* Engine: a cluster with its thread, and the scripts, started, run and stopped in one defined order. Owner: a
 * driver, on the main thread, which becomes the engine thread; the driver shows the engine to the outside and
 * handles signals. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "engine/engine_settings.h"
#include "engine/reload/script_files.h"

struct cluster;
struct engine;

enum engine_mode {
    ENGINE_RUN,    /* until a signal */
    ENGINE_EXEC,   /* until the one script's main returns */
    ENGINE_DRIVEN, /* until its driver has enough, who turns the one loop that it is on */
};

/* Observer of an engine; each function may be NULL. All on the engine thread. */
struct engine_watcher {
    /* A cache has synced. */
    void (*claims_changed)(void *ctx);
    /* Called when the shown state of the engine has changed. Calls are frequent: defer expensive work. */
    void (*touched)(void *ctx);
    /* Called when a script that starts uses a kind at `place` that the server lacks, which may come with its
     * CustomResourceDefinition or be a mistake. If it returns false, or is NULL, a mistake stops the engine,
     * and a kind that may come is waited for. */
    bool (*unknown_kind)(void *ctx, const char *place, bool may_come, const struct err *err);
    /* Called after discovery; `err` is its error, which is logged without this function. */
    void (*kinds)(void *ctx, const struct err *err);
    /* A script's main has ended. */
    void (*main_done)(void *ctx, enum script_result result, int exit_code);
    /* Scripts are about to be stopped, as a signal came. Outside of any call into Lua. */
    void (*ending)(void *ctx);
    void *ctx;
};

struct engine_options {
    enum engine_mode mode;
    struct loop *loop;                      /* of the engine thread, with its clock; borrowed */
    struct cluster *cluster;                /* on that loop; taken, also when this fails; NULL: it has */
    const struct engine_settings *settings; /* borrowed */
    const struct script_files *files;       /* borrowed; not of ENGINE_DRIVEN */
    struct http_local *others; /* all servers but the cluster's, in this process; NULL: the network */
    struct engine_watcher watcher;
};

/* Creates the parts; no thread runs yet, so that the driver can add its own to both loops. Returns NULL and
 * sets err on failure; without a cluster err stays as cluster_new set it. */
struct engine *engine_new(const struct engine_options *options, struct err *err);
/* The engine thread's, and the I/O thread's. */
struct loop *engine_loop(const struct engine *engine);
struct loop *engine_io_loop(const struct engine *engine);
/* Starts the I/O thread and loads every script. False when anything is wrong; each cause was printed. */
bool engine_load(struct engine *engine);
/* Runs; returns the exit code. */
int engine_run(struct engine *engine);
/* A signal came: the engine ends, and engine_run returns. */
void engine_end(struct engine *engine, int signum);
/* Nothing more is to be done: the engine ends now, unless it does, and engine_run returns this code. */
void engine_stop(struct engine *engine, int exit_code);
/* Returns whether the end has begun: sessions are not taken any more. */
bool engine_is_ending(const struct engine *engine);
/* Returns whether engine_run is about to return. */
bool engine_is_stopping(const struct engine *engine);
/* The end takes no longer, unless a script does not return. */
int64_t engine_timeout_ms(const struct engine *engine);
/* --- Of ENGINE_DRIVEN, outside of any callback, instead of engine_load and engine_run. */

/* Loads and starts a script; call engine_begin once leadership is decided. */
bool engine_add(struct engine *engine, const char *path, const char *name, struct err *err);
/* Resolves the claims of added scripts, and runs mains when their caches are full. */
void engine_begin(struct engine *engine);
/* Refreshes the kinds of the server now. */
void engine_refresh_kinds(void *engine);
/* Frees objects that are no longer referenced. */
void engine_drain(struct engine *engine);

/* --- The end */

/* Scripts and the I/O thread end. The loop of the I/O thread is there for what the driver has on it, until
 * engine_free. */
void engine_close(struct engine *engine);
/* After engine_close. */
void engine_free(struct engine *engine);

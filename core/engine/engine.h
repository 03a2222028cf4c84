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

/* Reason of the end of an engine; its driver chooses the exit code. */
enum engine_outcome {
    ENGINE_STOPPED, /* by engine_stop */
    ENGINE_ENDED,   /* by engine_end */
    ENGINE_REFUSED, /* a script uses a kind that the server does not have; each one is printed at the end */
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
    /* SIGHUP came; then all scripts are checked for changes, unless it returns false. */
    bool (*hangup)(void *ctx);
    /* Scripts are about to be stopped by engine_end. Outside of any call into Lua. */
    void (*ending)(void *ctx);
    void *ctx;
};

struct engine_options {
    /* Runs until engine_end, which lets calls in flight finish: changed files are reloaded; the start, syncs
     * and the end are logged. */
    bool keeps_running;
    bool needs_main;                 /* refuses scripts that do not call k8s.main */
    bool print_waits;                /* as of the host (host.h) */
    struct sinks *sinks;             /* of scripts under test, borrowed; NULL: they deliver */
    struct state_store *state_store; /* of states that are kept, which the engine takes; NULL: files */
    bool is_driven;          /* the driver turns the one loop that the engine is on, until it has enough */
    struct loop *loop;       /* of the engine thread, with its clock; borrowed */
    struct cluster *cluster; /* on that loop; taken, also when this fails; NULL: it has */
    struct cluster *const *others; /* clusters beside it, of which it is the home; taken likewise */
    size_t other_count;
    const struct engine_settings *settings; /* borrowed */
    const struct script_files *files;       /* borrowed; not if is_driven */
    struct http_local *servers; /* all servers but the cluster's, in this process; NULL: the network */
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
/* Runs until one of the next two, or until a script is refused. */
enum engine_outcome engine_run(struct engine *engine);
/* Ends the engine before its work is done, as a signal came. */
void engine_end(struct engine *engine);
/* Ends the engine at once, as its work is done; does nothing if it is stopping. */
void engine_stop(struct engine *engine);
/* Has the scripts do what they do last, and take in nothing any more; the engine goes on. */
void engine_stop_scripts(struct engine *engine);
/* Returns whether the end has begun: sessions are not taken any more. */
bool engine_is_ending(const struct engine *engine);
/* Returns whether engine_run is about to return. */
bool engine_is_stopping(const struct engine *engine);
/* The end takes no longer, unless a script does not return. */
int64_t engine_timeout_ms(const struct engine *engine);
/* --- Of engines that are driven, outside of any callback, instead of engine_load and engine_run. */

/* Loads and starts a script; call engine_begin once leadership is decided. */
bool engine_add(struct engine *engine, const char *path, const char *name, struct err *err);
/* Resolves the claims of added scripts, and runs mains when their caches are full. */
void engine_begin(struct engine *engine);
/* Takes a cluster that comes and goes; has the one with this name end. False if there is none. */
void engine_join_cluster(struct engine *engine, struct cluster *cluster);
bool engine_leave_cluster(struct engine *engine, const char *name);
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

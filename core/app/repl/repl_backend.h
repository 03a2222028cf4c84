/* Engines that run a prompt's lines: one of its own (repl_local.c) or a running one, by its admin socket
 * (repl_remote.c). Owner: the command, on its one thread; `interrupt` alone may be called from a signal
 * handler. */
#pragma once
#include "app/inside/inside.h"
#include "engine/engine_view.h"
#include "script/prompt/repl.h"
#include "script/vm/limits.h"

/* --- The engine of a prompt: caches that are filled as they are asked for, of a cluster or of a dump, on one
 * loop that turns while the prompt waits. Owner: the command; everything is on its thread. The ops' functions
 * may not free it. */

struct repl_engine {
    struct loop *loop;
    struct spec_cluster *dump;       /* the server, in memory; NULL: a real one */
    struct engine *engine;           /* without a script */
    struct engine_settings settings; /* of it */
    struct limits limits;
    bool refreshes;     /* the server which kinds it has */
    struct err failure; /* of the last result */
    struct repl *repl;
    struct repl_ops ops;
    struct waker *wake;
    volatile bool woken;
    char *namespace_;
};

struct repl_engine_options {
    const struct cluster_config *config; /* NULL: files */
    int64_t request_timeout_ms;          /* of a cluster; 0: none */
    const char *const *files;            /* of a dump: JSON or YAML */
    size_t file_count;
    const char *namespace_; /* of informers; "" all */
    struct repl_ops ops;    /* `claimed` is the engine's own */
};

/* Blocks until it is known what the server has. NULL with an error. */
struct repl_engine *repl_engine_new(const struct repl_engine_options *options, struct err *err);
void repl_engine_free(struct repl_engine *engine);
/* One turn of the loop; with `wait` until something happens. */
void repl_engine_turn(struct repl_engine *engine, bool wait);
/* Ends a turn that waits, and repl_engine_await_input. From a signal handler. */
void repl_engine_wake(struct repl_engine *engine);
/* Turns until something can be read there, or repl_engine_wake. */
void repl_engine_await_input(struct repl_engine *engine, int fd);
/* Refreshes the kinds of the server, and waits for the response. */
bool repl_engine_refresh_kinds(struct repl_engine *engine, struct err *err);

/* --- repl_dump.c */

/* Puts the objects of the files into the cluster in memory. */
bool repl_dump_load(struct repl_engine *engine, const char *const *files, size_t count, struct err *err);

/* --- repl_backend */

struct repl_backend {
    /* Runs the text to its end, with ^C if that comes meanwhile. What it prints goes to stdout, the result is
     * put into `result`. */
    enum repl_end (*eval)(struct repl_backend *backend, struct str text, const struct repl_style *style,
                          struct buf *result);
    /* As repl_complete. */
    void (*complete)(struct repl_backend *backend, struct str text, size_t *start, struct buf *names);
    /* Until stdin can be read, ^C has come or the backend is lost. */
    void (*wait)(struct repl_backend *backend);
    void (*interrupt)(struct repl_backend *backend);
    void (*free)(struct repl_backend *backend);
    struct err lost; /* why nothing more can be run; ERR_NONE while all is well */
};

/* `ops` of the options is the backend's own. NULL with an error. */
struct repl_backend *repl_local_new(const struct repl_engine_options *options, struct err *err);
/* `path` NULL: the default one. Appends where it is, for people. */
struct repl_backend *repl_remote_new(const char *path, struct buf *where, struct err *err);
void repl_backend_print(struct str line);

/* Engines that run the lines of a prompt: one of its own (repl_local.c), or a running one over its admin
 * socket (repl_remote.c). Owner: the command, on its one thread; only `interrupt` may be called from a signal
 * handler. */
#pragma once
#include "app/inside/inside.h"
#include "engine/engine_view.h"
#include "script/prompt/repl.h"
#include "script/vm/limits.h"

/* --- Engine of a prompt. Its caches, of a cluster or a dump, are filled on first use, on one loop that turns
 * while the prompt waits. Owner: the command; everything is on its thread. Functions of `ops` may not free
 * it. */

struct repl_engine {
    struct loop *loop;
    struct spec_cluster *dump;       /* in-memory server; NULL: a real one */
    struct engine *engine;           /* has no script */
    struct engine_settings settings; /* of `engine` */
    struct limits limits;
    bool refreshes;     /* a discovery refresh is in flight */
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

/* Blocks until the kinds of the server are known. Returns NULL and sets err on failure. */
struct repl_engine *repl_engine_new(const struct repl_engine_options *options, struct err *err);
void repl_engine_free(struct repl_engine *engine);
/* Runs one turn of the loop; with `wait` blocks until an event comes. */
void repl_engine_turn(struct repl_engine *engine, bool wait);
/* Wakes repl_engine_turn and repl_engine_await_input. Call from a signal handler. */
void repl_engine_wake(struct repl_engine *engine);
/* Turns the loop until `fd` is readable or repl_engine_wake is called. */
void repl_engine_await_input(struct repl_engine *engine, int fd);
/* Refreshes the kinds of the server, and blocks until the response. */
bool repl_engine_refresh_kinds(struct repl_engine *engine, struct err *err);

/* --- repl_dump.c */

/* Adds the objects of the files to the in-memory server. */
bool repl_dump_load(struct repl_engine *engine, const char *const *files, size_t count, struct err *err);

/* --- repl_backend */

struct repl_backend {
    /* Takes a line of print; NULL: it goes to stdout. Set by the owner, for remote ones only. */
    void (*print)(void *print_ctx, struct str line);
    void *print_ctx;
    /* Runs `text` until it ends or ^C interrupts it. Prints go where `print` says, the result to `result`. */
    enum repl_end (*eval)(struct repl_backend *backend, struct str text, const struct repl_style *style,
                          struct buf *result);
    /* Completes a name; see repl_complete. */
    void (*complete)(struct repl_backend *backend, struct str text, size_t *start, struct buf *names);
    /* Blocks until stdin is readable, ^C was pressed or the backend is lost. */
    void (*wait)(struct repl_backend *backend);
    void (*interrupt)(struct repl_backend *backend);
    void (*free)(struct repl_backend *backend);
    struct err lost; /* reason why no more lines run; ERR_NONE while connected */
};

/* Creates an engine for the prompt; replaces `ops` of the options. Returns NULL and sets err on failure. */
struct repl_backend *repl_local_new(const struct repl_engine_options *options, struct err *err);
/* Connects to the engine at the socket `path` (NULL: the default one) and appends its description to `where`.
 * Returns NULL and sets err on failure. */
struct repl_backend *repl_remote_new(const char *path, struct buf *where, struct err *err);
void repl_backend_print(struct str line);

/* Where a prompt's lines are run: in an engine of its own (repl_local.c) or in one that runs, by its admin
 * socket (repl_remote.c). Owner: the command, on its one thread; `interrupt` alone may be called from a
 * signal handler. */
#pragma once
#include "app/repl/repl_engine.h"

struct repl_backend {
    /* Runs the text to its end, with ^C if that comes meanwhile. What it prints goes to stdout, the answer is
     * put into `answer`. */
    enum repl_end (*eval)(struct repl_backend *backend, struct str text, const struct repl_style *style,
                          struct buf *answer);
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

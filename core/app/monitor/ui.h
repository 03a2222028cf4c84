/* Read-only page about the engine for browsers: the page itself, which is in the program, and the state of
 * the engine as JSON, made on the engine thread when somebody looks. Requests by other names than those of
 * this machine, and those of other pages, are refused: a page that a user visits must not read the engine by
 * his browser. Owner: the driver, on the engine thread; requests come on the server's thread. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "net/loop.h"

struct ui;

struct ui_options {
    struct loop *engine_loop;
    const char *address; /* as bind_address.h takes it, not off */
    /* Writes the state as JSON, on the engine thread; calls `done` from inside or later, which may take the
     * text. */
    void (*write)(void *ctx, void (*done)(void *ui, struct buf *text), void *ui);
    void *ctx;
};

/* NULL with an error that names the address. */
struct ui *ui_new(const struct ui_options *options, struct err *err);
/* "127.0.0.1:8082" */
const char *ui_where(const struct ui *ui);
/* When no state is being written any more. NULL is allowed. */
void ui_free(struct ui *ui);

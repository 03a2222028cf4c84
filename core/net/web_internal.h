/* Internals shared by both halves of a script's request: web.c is the engine's, web_io.c the I/O thread's.
 * Each field belongs to one of them; `reply`, `err` and what they point at to the holder of the mail
 * `finished`. For these files only. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "net/transport.h"
#include "net/web.h"

struct web {
    struct web_options options;
    LIST_HEAD(, web_call) calls; /* the engine's */
    struct transport *transport; /* of the I/O thread; created with the first request */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    _Atomic size_t buffered; /* bytes of responses' bodies */
    size_t running;          /* guarded by the lock: calls that the I/O thread still uses */
};

struct web_call {
    struct web *web;
    struct mail start, stop, finished, gone;

    /* Used by the engine thread alone. */
    LIST_ENTRY(web_call) link;
    void (*done)(void *ctx, const struct web_reply *reply, const struct err *err);
    void *ctx;
    bool closed;

    /* Used by the I/O thread alone, once `start` was posted. */
    char *method, *url;
    char **headers; /* name, value, ...; ends with NULL */
    struct buf body;
    bool has_body, keeps_body;
    int64_t timeout_ms;
    size_t body_max;
    struct http_exchange *exchange;
    struct timer deadline;
    int redirects;
    bool redirected; /* by the response that is coming in */
    size_t buffered; /* of web->held */
    bool crowded;    /* that was too much */
    bool over;       /* it has a response, or was stopped */
    struct buf head_text, body_text;
    struct web_reply reply;
    struct err err;
    bool failed;
};

void web_io_start(struct mail *mail);
void web_io_stop(struct mail *mail);

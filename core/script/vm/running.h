/* Script and kind of call in progress, for threads that watch over the engine thread while a call does not
 * return. Two words that the engine thread writes and any thread reads: what they point to is never freed
 * while a thread may read. Owner: the engine, longer than its scripts and its other threads. */
#pragma once
#include <stdatomic.h>

#include "base/buf.h"

struct running {
    _Atomic(const char *) script; /* its name; NULL: no script is in a call */
    _Atomic(const char *) what;   /* "a handler", "main": a literal */
};

/* For call.c. `running` NULL: nobody watches. `script` must outlive it. */
static inline void running_enter(struct running *running, const char *script, const char *what)
{
    if (!running) return;
    atomic_store_explicit(&running->what, what, memory_order_relaxed);
    atomic_store_explicit(&running->script, script, memory_order_release);
}

static inline void running_leave(struct running *running)
{
    if (running) atomic_store_explicit(&running->script, NULL, memory_order_release);
}

/* Appends "the script watch is in a handler"; nothing when none is in a call. From any thread. */
static inline void running_describe(struct running *running, struct buf *out)
{
    const char *script = atomic_load_explicit(&running->script, memory_order_acquire);
    const char *what = atomic_load_explicit(&running->what, memory_order_relaxed);
    if (script) buf_printf(out, "script %s is executing %s", script, what ? what : "a call");
}

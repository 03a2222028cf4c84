/* Sinks of the scripts of a process (script/server/sink.h): each stores events in a spool under the directory
 * of states, DIR/SCRIPT/NAME.spool, and delivers them from there. A sink stays for the life of the process,
 * whatever generations of its script do. Owner: the engine, longer than its scripts. On the engine thread;
 * each sink has two threads of its own, which touch the disk and wait for deliveries. */
#pragma once
#include "base/err.h"
#include "net/loop.h"
#include "script/server/sink.h"

struct web;

struct sinks_options {
    const char *dir; /* copied */
    struct loop *loop;
    struct web *web;            /* of sinks that send by HTTP; outlives the sinks */
    const char *const *allowed; /* targets besides those of `web`, borrowed for its life */
    size_t allowed_count;
    const char *allow_name; /* of the flag that allows those */
};

struct sinks *sinks_new(const struct sinks_options *options);
/* While the process ends. Returns how many sinks have events that may still be delivered: without its login a
 * sink delivers nothing, and scripts that have stopped are not asked for it any more. */
size_t sinks_flush(struct sinks *sinks);
/* Ends deliveries; what is in the spools stays there. The engine loop does not run any more, and the I/O
 * thread still does. Scripts have gone. NULL is allowed. */
void sinks_free(struct sinks *sinks);

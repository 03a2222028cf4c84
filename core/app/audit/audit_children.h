/* Child processes that an engine forked for an audit: their number, and how each ends. Owner: the audit that
 * embeds it; on the engine thread. Callbacks come from its loop, never from inside these functions. */
#pragma once
#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "app/audit/audit_protocol.h"
#include "audit/rules/auditor.h"
#include "base/clock.h"
#include "base/err.h"
#include "engine/io_thread.h"
#include "informer/shared/shared_factory.h"
#include "net/loop.h"

/* --- Child process forked from an engine to evaluate rules on a part of its caches: it sees them as of that
 * moment, writes findings to a pipe, and ends. It uses nothing of the engine but its memory, and shares no
 * change of that. Owner: the child; everything is borrowed. Call first in the child. */

struct script_host;

struct audit_child_options {
    const struct shared_factory *factory;
    const struct catalogue *catalogue;
    const struct script_host *host; /* of the engine's scripts */
    struct script *const *scripts;  /* scripts of the engine, evaluated if the job has none */
    size_t script_count;
    int order, result;  /* descriptors: audit_job.h, audit/found/stream.h */
    size_t part, parts; /* which part of the objects */
    pid_t parent;
};

_Noreturn void audit_child_run(const struct audit_child_options *options);

/* --- audit_part.c */

/* Evaluates the rules and writes to `result`. Returns false if they do not load, which it reports there. */
bool audit_part(const struct audit_child_options *options, int order, int result);

/* --- audit_children */

struct audit_process {
    struct audit_children *all;
    pid_t pid;
    ev_io exit; /* its pidfd; -1: there is none */
    int stream; /* its output is read here; -1: it was taken */
    bool runs;
};

struct audit_children {
    struct loop *loop;
    struct audit_process items[AUDIT_CHILDREN_MAX];
    size_t count, running;
    struct timer check; /* at those without a pidfd, which are killed */
    /* Called when a child has ended, with the status of waitpid, after `running` was decremented. For the
     * last child, the callback may free everything. */
    void (*ended)(void *ctx, size_t which, int status);
    void *ctx;
};

/* Forks them, one part of the objects each, with every thread of the engine in a state that a child can live
 * with (docs/dev/adr/0004-forked-audits.md). `options` are a child's, but for its part and its pipe. False
 * with an error; those that run by then are killed by audit_children_kill. `*pause_ns`: how long it took. */
bool audit_children_start(struct audit_children *children, size_t count, struct audit_child_options *options,
                          struct io_thread *io, int64_t *pause_ns, struct err *err);
/* Kills the children without waiting: freeing gigabytes of mappings takes a process its time. */
void audit_children_kill(struct audit_children *children);
/* Waits for the end of all, which are killed; `ended` is not called. */
void audit_children_wait(struct audit_children *children);
void audit_children_close_streams(struct audit_children *children);

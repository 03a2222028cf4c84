/* Processes that audit the pieces of a large file: forks of the command with its rules, one for each core.
 * Their findings are added to the table piece by piece, in the order of the file, as if the command had read
 * it alone. A piece with anything unusual in it counts for nothing: the command reads it itself, and with it
 * the rest. Owner: the command, on its only thread; a worker is a process of its own. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "audit/found/stream.h"
#include "audit/input/input_share.h"

enum { AUDIT_WORKERS_MAX = 8 };

/* Report of a worker on the current piece. */
struct audit_worker {
    struct buf out;                 /* frames */
    bool is_unusual;                /* the command has to read the piece itself */
    size_t objects;                 /* counted by the worker, as the next one */
    size_t elsewhere;               /* objects of other namespaces than the requested one */
    struct buf type;                /* of `run`: kind, then apiVersion */
    struct audit_unmatched_run run; /* not told yet; a count of 0: none */
};

struct audit_workers_options {
    size_t count; /* of processes; below 2: none */
    struct audit_stream_sink sink;
    /* Called in a worker first of all: it owns nothing of the command, and tells the worker what there is to
     * tell. */
    void (*become)(void *ctx, struct audit_worker *worker);
    /* Called for each piece that was added. */
    void (*added)(void *ctx, size_t objects, size_t elsewhere, uint64_t place);
    void *ctx;
};

/* Returns the number of pieces that were added, and adds their line ends (audit_input_options.share). */
size_t audit_workers_read(const struct audit_workers_options *options, struct input_share *share,
                          uint64_t *lines);

/* --- in a worker */

void audit_worker_print(void *worker, struct str line);
void audit_worker_unmatched(struct audit_worker *worker, struct str api_version, struct str kind,
                            size_t line);

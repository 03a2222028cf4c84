/* Records watch streams of a server: each stream by a reflector like those of informers, into a file of its
 * own beside the requested one; at the end the files are joined. Owner: the command; on the one thread of its
 * loop. */
#pragma once
#include "kube/api/client.h"
#include "kube/api/list_watch.h"

struct recorder;

struct recorder_options {
    struct loop *loop;
    struct kube_client *client;
    const char *path;
    bool redacts; /* omits data of Secrets before they are stored */
};

struct recorder_totals {
    size_t streams, unlisted; /* streams without a complete list */
    uint64_t objects;         /* of the first lists */
    uint64_t changes;         /* that watches delivered */
    uint64_t relists;         /* lists after the first */
    uint64_t bytes;
};

/* NULL when the file could not be written: what has its name stays until the end. */
struct recorder *recorder_new(const struct recorder_options *options, struct err *err);
/* One stream more in a file of its own, which is gone again unless it was started; nothing when it is
 * recorded already. Only namespace and selectors of the scope count. */
bool recorder_add(struct recorder *recorder, const struct resource *resource, const struct lw_scope *scope,
                  struct err *err);
size_t recorder_stream_count(const struct recorder *recorder);
void recorder_start(struct recorder *recorder);
/* Writes what was recorded so far to files; returns false if one cannot be written, as recorder_finish
 * reports. */
bool recorder_flush(struct recorder *recorder);
/* Appends a line for each stream that has no list yet, with the cause. */
void recorder_describe_lag(struct recorder *recorder, struct buf *out);
/* Ends the streams and joins their files. When that fails they are left, and the error names them. */
bool recorder_finish(struct recorder *recorder, struct recorder_totals *totals, struct err *err);
void recorder_free(struct recorder *recorder);

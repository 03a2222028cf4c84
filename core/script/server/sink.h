/* Sinks of scripts: k8s.sink. What is published is stored in a spool on disk, and delivered from there by the
 * process, in order. Behind `struct sinks` is core/engine/sink, or the memory of a spec. Owner: the engine
 * has the sinks, longer than its scripts; a script has what it declared (script_sinks). On the engine thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "script/server/sink_target.h"

enum { SINKS_MAX = 16, SINK_NAME_MAX = 60, SINK_EVENT_MAX = 1 << 20, SINK_ID_MAX = 250, SINK_KEY_MAX = 250 };
enum { SINK_BATCH = 100, SINK_BATCH_MAX = 1000, SINK_TIMEOUT_MS = 30000, SINK_PUBLISH_MS = 30000 };
enum { SINK_TOLD_MAX = 600 };
enum { SINK_SPOOL = 64 << 20, SINK_SPOOL_MIN = 8 << 20 };
#define SINK_SPOOL_MAX ((size_t)64 << 30)

/* The script's declaration; borrowed for the call. */
struct sink_config {
    const char *script, *name, *to;
    const char *const *headers;     /* name, value, ... */
    size_t header_count;            /* pairs */
    const char *access[SINK_TEXTS]; /* NULL: none */
    size_t spool_bytes, batch;
    int64_t timeout_ms; /* of a delivery */
};

/* An event as JSON, with the id and the key that are in it, too. */
struct sink_event {
    struct str id, key, json;
};

struct sink;
struct sink_publish;
/* The event is stored, and `err` NULL, or it will not be. */
typedef void sink_publish_done(void *ctx, const struct err *err);

struct sink_status {
    const char *name, *scheme; /* borrowed, as the next */
    char error[SINK_TOLD_MAX]; /* of the last delivery, or of the spool, and of texts; "": it works */
    uint64_t events, bytes;    /* in the spool */
    size_t waiting;            /* calls of publish */
};

struct sinks {
    /* Prefix of ids for events without one, and how many there were. */
    uint64_t incarnation, ids;
    /* Returns the sink of this script and name, which is made with these settings if it is not there. Each
     * generation claims it, and releases it. NULL if the target is not allowed. */
    struct sink *(*claim)(struct sinks *sinks, const struct sink_config *config, struct err *err);
    void (*release)(struct sink *sink);
    /* The generation with these settings is the running one. */
    void (*use)(struct sink *sink, const struct sink_config *config);
    /* So it is, but not all of its texts are known, for this reason; NULL: it is being found out. Events wait
     * for `use`, unless there was one: its settings stay. */
    void (*hold)(struct sink *sink, const struct sink_config *config, const char *reason);
    /* Its texts are known, and those that it uses. */
    void (*confirm)(struct sink *sink);
    /* Stores an event; waits for room until the timeout. `done` is called once, later. */
    struct sink_publish *(*publish)(struct sink *sink, const struct sink_event *event, int64_t timeout_ms,
                                    sink_publish_done *done, void *ctx);
    /* The caller goes: `done` is not called any more. Not after `done`. */
    void (*cancel)(struct sink_publish *publish);
    void (*status)(struct sink *sink, struct sink_status *status);
};

struct script;
/* The generation is the running one. */
void sinks_handover(struct script *script);
/* Asks the functions that give texts of sinks, when they may give others: work of a turn. */
void sinks_turn(struct script *script);
/* In the order of their declaration. */
size_t script_sink_count(const struct script *script);
/* False: there is no process that delivers. */
bool script_get_sink_status(const struct script *script, size_t i, struct sink_status *status);

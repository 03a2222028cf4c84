/* A module of the package kubelua-streams for objects in a bucket of keys and values, each with its last
 * value, as NATS JetStream has them. It is a shared object, opened when a bucket is needed, that shares
 * nothing with the program but this file and stream_module.h. Owner: the program has the module for as long
 * as it runs. A client belongs to one thread, which waits in its calls; none of them waits longer than
 * BUCKET_WAIT_MS. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "streams/stream_module.h"

enum { BUCKET_MODULE_VERSION = 3, BUCKET_WAIT_MS = 5000 };
#define BUCKET_MODULE_SYMBOL "kubelua_bucket_module"

/* A value, or the mark that there is none any more: then `value` is the last one, or empty. */
struct bucket_message {
    const char *key;
    const char *value;
    size_t size;
    const char *version;  /* a text that goes with the value; "": none */
    const char *encoding; /* of the value; "": none */
    int is_deleted;
    uint64_t sequence; /* of all messages of the bucket; increases */
    uint64_t pending;  /* how many follow that are there already */
};

/* The bucket as it is; another `created` is another bucket of that name. */
struct bucket_state {
    int64_t created;
    uint64_t last; /* sequence; 0: it is empty */
    int expires;   /* messages vanish by age, or as others come */
};

enum bucket_outcome {
    BUCKET_DONE,
    BUCKET_FAILED,  /* perhaps some of it is done; the next call connects anew */
    BUCKET_OUTDONE, /* another one has written */
    BUCKET_MISSING, /* there is no such bucket, or no such key */
};

enum bucket_next {
    BUCKET_NEXT_OVER = -1, /* with an error: the reading is over */
    BUCKET_NEXT_NONE,      /* none came in this time */
    BUCKET_NEXT_MESSAGE,   /* borrowed until the next call */
    BUCKET_NEXT_LEVEL,     /* nothing is pending, whatever was; only `sequence` is set: all up to there was
                              delivered */
};

struct bucket_module {
    int version; /* BUCKET_MODULE_VERSION */
    /* Does not connect. `path` is the bucket. NULL and an error: the settings are wrong. */
    void *(*open)(const struct stream_settings *settings, struct stream_error *error);
    /* Connects if need be. */
    enum bucket_outcome (*inspect)(void *client, struct bucket_state *state, struct stream_error *error);
    enum bucket_outcome (*create)(void *client, int replicas, struct stream_error *error);
    /* Begins to read: with the last messages of all keys that `filter` admits ("a.*.>"), or with those behind
     * the sequence `after`, if it is not 0. `heads_only`: without their values. `pending`: how many are
     * there.
     */
    enum bucket_outcome (*read)(void *client, const char *filter, uint64_t after, int heads_only,
                                uint64_t *pending, struct stream_error *error);
    enum bucket_next (*next)(void *client, int timeout_ms, struct bucket_message *message,
                             struct stream_error *error);
    /* Ends the reading. */
    void (*stop)(void *client);
    /* The last message of a key, borrowed until the next call. */
    enum bucket_outcome (*get)(void *client, const char *key, struct bucket_message *message,
                               struct stream_error *error);
    /* Writes all messages in their order, if the last one of the bucket is `*last`, and moves `*last`; 0:
     * whatever that is, which must be so for one message only. */
    enum bucket_outcome (*write)(void *client, const struct bucket_message *messages, size_t count,
                                 uint64_t *last, struct stream_error *error);
    /* Forgets the mark of a deleted key, if that is still its last message. */
    enum bucket_outcome (*forget)(void *client, const char *key, uint64_t sequence,
                                  struct stream_error *error);
    /* Most bytes of a value, as of the last `inspect`; 0: there was none. */
    size_t (*value_max)(void *client);
    void (*close)(void *client);
};

/* The pods of the replay source as bytes that are ready to be written. An update writes two texts of fixed
 * width in place: the resourceVersion and the annotation bench/sent-ns. Owner: the source. Who reads holds
 * its lock, who changes holds it alone. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { REPLAY_VERSION_DIGITS = 10, REPLAY_SENT_DIGITS = 19 };

/* One encoding of a pod without what stands around it in lists and events: the object's members in JSON,
 * without kind, apiVersion and the opening brace. The metadata comes first. */
struct replay_body {
    char *bytes;
    uint32_t len, metadata_len;
    uint32_t version_at, sent_at;
};

struct replay_pod {
    char *key; /* "namespace/name" */
    uint64_t version, created;
    struct replay_body json;
    struct replay_body protobuf; /* when there are encodings: a v1.Pod */
};

struct replay_pods {
    struct replay_pod *generated; /* in the order in which they were made, which is that of a storm */
    size_t generated_count;
    struct replay_pod **sorted; /* by key; markers too */
    size_t count;
    uint64_t version; /* the newest one */
    uint64_t oldest;  /* older ones are too old */
    bool has_protobuf;
    struct buf encodings; /* what the protobuf bodies of the generated pods lie in */
};

void replay_pods_init(struct replay_pods *pods, size_t count, size_t replicas);
void replay_pods_clear(struct replay_pods *pods);
/* Adds the encodings of a folder, see replay_encodings.h, to pods that have not changed yet. */
bool replay_pods_encode(struct replay_pods *pods, const char *dir, struct err *err);
/* A new version, sent at this time. */
void replay_pods_touch(struct replay_pods *pods, struct replay_pod *pod, int64_t now_ns);
/* A pod of the namespace default with the text of the first one. NULL when the name is no name (ERR_INVALID)
 * or is taken (ERR_LIMIT). Borrowed. */
struct replay_pod *replay_pods_mark(struct replay_pods *pods, const char *name, struct err *err);
/* The place of the first pod whose key is behind `key`. */
size_t replay_pods_behind(const struct replay_pods *pods, const char *key);
/* Returns the changes after `version`, in their order: for each pod its last one. `*n` pods; the caller
 * frees. */
struct replay_pod **replay_pods_since(const struct replay_pods *pods, uint64_t version, size_t *n);

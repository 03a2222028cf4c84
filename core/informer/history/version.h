/* One version of an object: when, by whom, and what it replaced. It has the old values of what differs from
 * the version before, so that the one before is made from this one by putting them back; managedFields and
 * the version's number are left out. Owner: the history. */
#pragma once
#include <stdint.h>
#include <sys/queue.h>

#include "informer/history/text_table.h"
#include "object/value/value.h"

enum version_event { VERSION_CREATED, VERSION_UPDATED, VERSION_DELETED };

struct tracked;

struct object_version {
    TAILQ_ENTRY(object_version) by_age;    /* of all objects, the oldest first */
    TAILQ_ENTRY(object_version) of_object; /* the newest first */
    struct tracked *object;
    int64_t time_us;          /* wall time of its arrival */
    uint32_t manager, script; /* in the table of texts */
    uint32_t size : 29;       /* of the data */
    enum version_event event : 3;
    unsigned char data[]; /* length of resourceVersion, and that; then for each difference the path's number,
                             the length of the old value, and that as JSON; empty: it was absent */
};

TAILQ_HEAD(version_list, object_version);

/* Creates a version: `after` replaced `before`, which may be NULL; of a deleted object it is the last state.
 */
struct object_version *version_new(struct text_table *texts, enum version_event event, struct root *before,
                                   struct root *after, int64_t time_us);
void version_free(struct text_table *texts, struct object_version *version);
/* Returns its resourceVersion. */
struct str version_number(const struct object_version *version);
/* Bytes that it takes, without its texts. */
size_t version_bytes(const struct object_version *version);
void version_set_script(struct text_table *texts, struct object_version *version, const char *script);
/* Calls `fn` for each difference, in the order in which they are put back. `old` is empty for a value that
 * was absent. */
void version_each(const struct object_version *version, const struct text_table *texts,
                  void (*fn)(void *ctx, struct str path, struct str old), void *ctx);

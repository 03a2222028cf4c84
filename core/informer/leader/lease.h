/* Fields of a Lease (coordination.k8s.io/v1) that an election reads and writes. Everything else in the object
 * stays as it is: labels, unknown fields. Owner: a record owns its strings; lease_record_clear frees them.
 * May be used anywhere. */
#pragma once
#include "base/buf.h"
#include "object/value/value.h"

struct lease_record {
    char *holder;                    /* "" for none; NULL in an empty record */
    int64_t duration_s, transitions; /* as read and as written: 0 to INT32_MAX */
    char acquired[40], renewed[40];  /* as written; nothing is decided by them (L-6) */
};

/* Labels that each write sets. */
struct lease_labels {
    const char *const *items; /* key, value, key, value, ... */
    size_t count;             /* of pairs */
};

/* Reads a record; `out` must be empty. */
void lease_record_read(const struct root *lease, struct lease_record *out);
void lease_record_clear(struct lease_record *record);
/* Returns whether both are equal: any difference shows that the holder is alive. */
bool lease_record_equal(const struct lease_record *a, const struct lease_record *b);
/* Writes a MicroTime (L-7): "2026-01-01T00:00:00.000000Z". */
void lease_time(int64_t wall_us, char out[40]);

/* Appends the lease `ns`/`name` with the record as JSON. `before` is the last lease seen; NULL: it is new.
 * Labels that are not in `labels` stay (L-13). */
void lease_write(const struct root *before, struct str ns, struct str name, const struct lease_record *record,
                 struct lease_labels labels, struct buf *out);

/* Fields of a Lease (coordination.k8s.io/v1) that an election reads and writes. All else of the object stays
 * as it is: labels, fields that are unknown here. Owner: a record owns its strings; lease_record_clear frees
 * them. May be used anywhere. */
#pragma once
#include "base/buf.h"
#include "object/value/value.h"

struct lease_record {
    char *holder;                    /* "": nobody; NULL in an empty record */
    int64_t duration_s, transitions; /* as read and as written: 0 to INT32_MAX */
    char acquired[40], renewed[40];  /* as they stand there: nothing is decided by them (L-6) */
};

/* Texts that go with each write. */
struct lease_labels {
    const char *const *items; /* key, value, key, value, ... */
    size_t count;             /* of pairs */
};

/* `out` is empty before. */
void lease_record_read(const struct root *lease, struct lease_record *out);
void lease_record_clear(struct lease_record *record);
/* Any difference is a sign of life of the holder. */
bool lease_record_equal(const struct lease_record *a, const struct lease_record *b);
/* A MicroTime (L-7): "2026-01-01T00:00:00.000000Z". */
void lease_time(int64_t wall_us, char out[40]);

/* Appends the JSON text of the lease `ns`/`name` with the record in it. `before` is what is known of it;
 * NULL: it is new. L-13: labels that are not in `labels` stay. */
void lease_write(const struct root *before, struct str ns, struct str name, const struct lease_record *record,
                 struct lease_labels labels, struct buf *out);

/* Files of a spool: a header with the number of the first record, then records with their checksums, which
 * the number of a record is part of. For spool.c. Owner: stateless. Blocks on the disk. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { SPOOL_HEADER = 32, SPOOL_RECORD_HEADER = 16, SPOOL_RECORD_MAX = 64 << 20 };

enum spool_record {
    SPOOL_RECORD_OK,
    SPOOL_RECORD_END,  /* the file ends here */
    SPOOL_RECORD_TORN, /* the record is not complete, and the last one */
    SPOOL_RECORD_BAD,
};

void spool_put_header(char out[SPOOL_HEADER], uint64_t first);
/* Returns false if the file does not begin with a header, or is that of another number. */
bool spool_check_header(int fd, uint64_t first);
/* Appends the record in the form of the file. */
void spool_put_record(struct buf *out, uint64_t sequence, struct str record);
/* Reads the record at `at`, in a file of `size` bytes: appends its content (`out` NULL: it is only checked),
 * and moves `at` behind it. */
enum spool_record spool_get_record(int fd, uint64_t size, uint64_t sequence, uint64_t *at, struct buf *out);
/* Makes a file of the first `good` bytes, in the place of the file, which is kept under the name `aside`
 * (`aside_max` bytes), beside it. False with errno: nothing has changed. */
bool spool_salvage(int folder, const char *name, uint64_t good, char *aside, size_t aside_max);

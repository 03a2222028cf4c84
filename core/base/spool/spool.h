/* Queue of records in a directory, bounded by its bytes on disk, that survives the process: what spool_sync
 * made last is there after kill -9 and after a loss of power, in its order, until it is acknowledged. Each
 * record has a sequence number and a checksum. A record that was cut off at the end is dropped, a file that
 * is damaged is moved aside, and both are reported. One process has a spool at a time. Owner: its creator,
 * who serialises the calls; spool_sync alone may run beside spool_next and spool_ack. Blocks on the disk. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Least bytes of a spool; a record may take a quarter of it. */
enum { SPOOL_BYTES_MIN = 64 << 10, SPOOL_SEGMENT_MAX = 8 << 20 };

struct spool;

/* Calls about losses, from inside the functions below: of spool_open (`torn`, `damaged`) and spool_next
 * (`damaged`). The texts are borrowed. */
struct spool_watcher {
    /* So many bytes at the end of the file were no complete record: one that was being written. */
    void (*torn)(void *ctx, const char *path, uint64_t bytes);
    /* The file is damaged, or missing, and is kept as `aside` (NULL: it is missing, or could not be kept).
     * `lost`: records that are not delivered for that; 0: so many bytes of which it is not known. */
    void (*damaged)(void *ctx, const char *path, const char *aside, uint64_t lost, uint64_t bytes);
    void *ctx;
};

struct spool_options {
    size_t max_bytes;
    struct spool_watcher watcher; /* functions may be NULL */
};

/* Opens the directory, which is created with mode 0700 if it is not there. NULL with ERR_OUTDATED: another
 * process has it; ERR_IO. */
struct spool *spool_open(const char *dir, const struct spool_options *options, struct err *err);
/* Keeps the files. NULL is allowed. */
void spool_free(struct spool *spool);

/* Most bytes from now on. What is there stays, if it is more. */
void spool_set_max(struct spool *spool, size_t max_bytes);
/* Returns whether a record of so many bytes may be appended now. */
bool spool_has_room(const struct spool *spool, size_t bytes);
/* Bytes that are left; a record takes some more than its own. */
size_t spool_room(const struct spool *spool);
enum { SPOOL_RECORD_EXTRA = 64 };
/* Returns whether one may be appended once there is room. */
bool spool_may_hold(const struct spool *spool, size_t bytes);

/* Appends a record. It is not read before spool_sync and spool_commit. False with ERR_IO; the spool is as it
 * was before. */
bool spool_append(struct spool *spool, struct str record, struct err *err);
/* Waits until the disk has what was appended. False with ERR_IO: call spool_drop. */
bool spool_sync(struct spool *spool, struct err *err);
/* Synced records may be read. */
void spool_commit(struct spool *spool);
/* Takes back what was appended since the last commit. */
void spool_drop(struct spool *spool);

/* Appends the next record to `out`, and sets its number; false: there is none. After spool_open it begins
 * with the first that was not acknowledged. */
bool spool_next(struct spool *spool, struct buf *out, uint64_t *sequence);
/* Records up to this number are not needed any more: files without others are removed, once the disk has
 * taken this number, or, where it never took any, but for one file, which tells it; 0: those that it did not
 * take before. After a loss of power the last ones may be read again. */
void spool_ack(struct spool *spool, uint64_t sequence);

/* Records that were committed and not acknowledged, and bytes on disk. */
uint64_t spool_count(const struct spool *spool);
size_t spool_bytes(const struct spool *spool);
size_t spool_max(const struct spool *spool);

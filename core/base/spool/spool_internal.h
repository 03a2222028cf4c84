/* Struct of a spool, for its files: spool.c appends and acknowledges, spool_open.c finds what an earlier
 * process left, spool_read.c reads, spool_position.c stores what was acknowledged. */
#pragma once
#include "base/spool/spool.h"

enum { SPOOL_NAME_MAX = 32 };

/* A file: records from `first` to `last`, which is `first` - 1 when there is none. */
struct spool_file {
    uint64_t first, last, bytes;
};

struct spool {
    char *dir;
    int folder, lock;
    size_t max_bytes;
    struct spool_watcher watcher;
    struct spool_file *files; /* in their order; the last one is appended to while `tail` is open */
    size_t file_count;
    size_t bytes; /* of all files */
    /* For the one who appends. */
    int tail;
    bool rolls;                                /* the next record begins a file */
    uint64_t next;                             /* number of the next record */
    uint64_t committed;                        /* number of the last one that may be read */
    uint64_t committed_first, committed_bytes; /* the file with that record, and where it ends there */
    /* For the one who reads. */
    int reader;
    uint64_t reader_first;         /* file that `reader` is open for */
    uint64_t reader_at, reader_is; /* place in it, and the number of the record there */
    uint64_t wanted;               /* number of the next record to be returned */
    /* spool_position.c */
    int position;
    uint64_t position_number, acked;
    bool position_lags; /* the disk refused what was acknowledged last */
    struct buf scratch;
};

void spool_name(uint64_t first, char name[SPOOL_NAME_MAX]);
/* Reports a loss by the watcher; `aside` is a name in the folder, or NULL. */
void spool_tell_damaged(struct spool *spool, const char *name, const char *aside, uint64_t lost,
                        uint64_t bytes);
/* Removes the file from the disk. */
void spool_remove_file(struct spool *spool, size_t index);

/* Sets what was acknowledged; false: that is not known. */
bool spool_position_open(struct spool *spool, struct err *err, bool *known);
void spool_position_put(struct spool *spool);
/* Waits until the disk has it; false: it does not. */
bool spool_position_sync(struct spool *spool);

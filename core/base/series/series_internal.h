/* Internals of the table of series and its text format (series.c), shared with user metrics. Owner: see
 * series.h. For these files only. */
#pragma once
#include <stdatomic.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/series/series.h"

struct series {
    TAILQ_ENTRY(series) link;
    struct family *family;
    char *labels; /* as shown, without braces */
    unsigned refs;
    uint64_t id;            /* grows in the order in which they are made */
    _Atomic double value;   /* of a histogram or a summary: the sum */
    _Atomic uint64_t above; /* beyond the last bucket; of a summary: the count */
    _Atomic uint64_t counts[];
};

/* Takes the lock of the table and of user metrics; a child does not inherit it. */
void series_lock(void);
void series_unlock(void);
/* Returns the id of one more series or metric. Under the lock. */
uint64_t series_next_id(void);
/* Appends a label's value as it stands between quotes. */
void series_put_value(struct buf *out, struct str value);
/* Appends a family's help as it stands behind # HELP. */
void series_put_help(struct buf *out, struct str help);
/* Appends what a family without a head has for a series. */
void series_render_one(struct buf *out, const struct series *series);
void series_render_head(struct buf *out, const struct family *family);

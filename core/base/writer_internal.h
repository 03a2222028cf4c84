/* Stream of the writer: waiting lines, lost lines, and what was logged about them. Owner: writer.c.
 * Everything with the stream's lock, except writer_report. */
#pragma once
#include <pthread.h>

#include "base/metrics.h"
#include "base/outlet.h"
#include "base/writer.h"

struct output_stream {
    struct outlet outlet;
    enum writer_stream which;
    const char *name; /* of its file */
    struct metric *dropped_metric;
    const struct writer_file *file; /* NULL: no line of it tells of a gap */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled, drained;
    struct buf waiting; /* appended by callers, moved to the outlet by the thread */
    uint64_t dropped;
    int dropped_by;        /* errno for which lines were dropped last */
    struct writer_gap gap; /* not logged yet */
    uint64_t unmarked;     /* lines of it that the file lacks: a line about them comes before others */
    uint64_t marking;      /* of these, those in the line of the outlet */
    bool reported;         /* the log was, that it fails, or that lines are lost */
    int reported_error;    /* the errno; 0: no room was left */
    bool running, stopping;
    bool moved; /* its file may be another one now */
};

/* Message of a writer for the log. */
struct news {
    enum { NO_NEWS, IT_FAILS, IT_WORKS, IT_ENDED } kind;
    int error;
    struct writer_gap gap;
};

/* Moves what is to be written next to the outlet, unless it has something; false: there is nothing. */
bool writer_load(struct output_stream *s);
/* After outlet_write: what came of it. Without a thread, and at the end, no other try follows: what failed is
 * lost. */
struct news writer_settle(struct output_stream *s, int error);
bool writer_has_room(const struct output_stream *s, size_t len, size_t most);
/* Counts lines that are lost. */
void writer_lose(struct output_stream *s, uint64_t lines);
/* Likewise for lines without room; returns true if that must be logged. */
bool writer_refuse(struct output_stream *s, struct str text);
/* Logs the news, without a lock, as the log is a stream too. */
void writer_report(const struct output_stream *s, const struct news *news);

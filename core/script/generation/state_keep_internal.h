/* Internals of states that are kept: state_keep.c has their life, state_keep_read.c the reading,
 * state_keep_write.c the writing. For these files only. */
#pragma once
#include <sys/queue.h>

#include "base/clock.h"
#include "script/generation/state_keep.h"
#include "script/view/state_store.h"
#include "script/vm/task.h"

struct state_keep;

struct kept_item {
    struct state_keep *keep;
    size_t of; /* number of the state */
    struct state_store *store;
    struct state_slot *slot;
    bool is_read, may_write;
    char *reason;        /* why what is stored is moved aside before anything is written; NULL: it stays */
    struct state_op *op; /* a change in progress; NULL: none */
    uint64_t stored, writing; /* `touched` of what is stored, and of what `op` writes */
    uint64_t flushed;         /* `touched` when it was tried at the end; UINT64_MAX: it was not */
    char *error;              /* last failure, which was logged; NULL: none */
    int64_t retry_ms;         /* after the next failure */
};

/* A call of state:sync(). */
struct keep_wait {
    struct task_wait wait;
    LIST_ENTRY(keep_wait) link;
    size_t of;
    uint64_t target; /* `touched` when it was called */
    bool is_over;    /* it is on no list any more */
    struct err err;  /* ERR_NONE: it is stored */
};

struct state_keep {
    struct script *script;
    struct kept_item *items;
    size_t count;
    struct fence *fence; /* of the term in which states are read and written; NULL: there is no election */
    struct timer quiet;  /* until changes are written */
    struct timer soon;   /* until those are that a call waits for */
    struct timer again;  /* until states are read that could not be */
    uint64_t seen;       /* `touched` of all when `quiet` was started */
    int64_t changed_ms;  /* when it was started first */
    bool is_flushing;
    struct state_op *reading; /* in progress; NULL: none */
    bool is_inside;           /* it is being started */
    struct err *read_err;     /* NULL while nothing is kept, as it is larger than all else */
    LIST_HEAD(, keep_wait) waits;
};

/* --- state_keep.c */

struct state_table *keep_table(const struct kept_item *item);
bool keep_is_dry(const struct script *script);
/* Notes a failure, and logs it if it is another one than before. */
void keep_note_failure(struct kept_item *item, const char *message, const struct err *err);
void keep_clear_failure(struct kept_item *item);

/* --- state_keep_read.c */

enum keep_progress { KEEP_READ, KEEP_READING, KEEP_FAILED };

/* Reads all states that were not read yet; goes on by itself while some are being read. KEEP_FAILED with the
 * error of the first that cannot be. */
enum keep_progress keep_read(struct state_keep *keep, struct err *err);
/* Likewise; what cannot be read is logged, and tried again in a while. False until all have been read: then
 * the script is told, as one that leads or is held. */
bool keep_read_or_wait(struct state_keep *keep);
void keep_on_again(struct timer *timer);
/* Holds the script back until its states were read. */
void keep_hold(struct state_keep *keep);
/* Forgets a read in progress. */
void keep_stop_reading(struct state_keep *keep);

/* --- state_keep_write.c */

/* From now on the states that were read are written. */
void keep_begin_writing(struct state_keep *keep);
/* Starts the wait until what has changed is written. */
void keep_await_quiet(struct state_keep *keep);
void keep_on_quiet(struct timer *timer);
void keep_on_soon(struct timer *timer);
/* Writes what has changed. */
void keep_write_changed(struct state_keep *keep);
/* Ends the calls of sync that wait for more than what is being written. */
void keep_end_waits(const struct kept_item *item, const struct err *err);
/* The script ends: what has changed is still written, by the store alone. */
void keep_write_last(struct kept_item *item);

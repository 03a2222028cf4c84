/* A place outside the process where states of scripts are kept (k8s.state with `keep`): files, ConfigMaps, or
 * the memory of a spec. Each script has a place of its own there, named after it, with a record for each
 * state (state_record.h). Operations of a store are done one after the other, in the order in which they were
 * started. Owner: the engine, longer than its scripts. On the engine thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fence.h"
#include "base/str.h"

/* STATE_PLACE_MAX: "kubelua-state-" and a place are the name of a ConfigMap, which has 253 characters. */
enum { STATE_PLACE_MAX = 200, STATE_MARK_MAX = 80, STATE_SUM_MAX = 33 };

/* A stored state, for all generations of its script: what this process last read or wrote there. Owner: the
 * store. */
struct state_slot {
    char *place, *state;
    char mark[STATE_MARK_MAX]; /* names the record among all that ever were there; "": nothing is stored */
    char sum[STATE_SUM_MAX];   /* of its bytes; "": not known */
    bool is_foreign;           /* others changed it: not written any more, until it is read again */
    char *where;               /* name of the record; NULL: neither read nor written yet */
    size_t bytes;              /* of the record */
    int64_t written_us;        /* wall time of the last write of this process; 0: none */
};

enum state_op_kind {
    STATE_READ,
    STATE_TAKE,       /* a read, after which a write that another process has under way comes too late */
    STATE_WRITE,      /* replaces the record, completely or not at all */
    STATE_MOVE_ASIDE, /* the record is kept under another name, and is not the state's any more */
};

struct state_store;
struct state_op;
static inline bool state_op_reads(enum state_op_kind kind)
{
    return kind == STATE_READ || kind == STATE_TAKE;
}

/* The operation is borrowed for the call. */
typedef void state_op_done(void *ctx, const struct state_op *op);

struct state_op {
    TAILQ_ENTRY(state_op) link;
    struct state_store *store;
    struct state_slot *slot;
    enum state_op_kind kind;
    struct buf bytes;    /* of a write; then of a read */
    struct fence *fence; /* once closed nothing is changed, by a take neither; NULL: none */
    state_op_done *done;
    void *ctx;
    /* The result, by the store. */
    bool ok, found;            /* `found`: of a read that is ok, something is stored */
    char mark[STATE_MARK_MAX]; /* of what is stored now, whether it is ok or not */
    char *where;               /* name of what was read, written, or moved aside to; NULL: not known */
    struct err err;            /* if it is not ok; "Conflict": others have changed the record */
};

struct state_claim;

struct state_store {
    const char *keep; /* as scripts call it: "file" */
    size_t max;       /* bytes of a record */
    /* Begins an operation. state_op_end ends it, for a read perhaps from inside. */
    void (*run)(struct state_store *store, struct state_op *op);
    /* Completes all operations, and returns when they have ended; NULL: they take their time. */
    void (*settle)(struct state_store *store);
    void (*free)(struct state_store *store);
    TAILQ_HEAD(, state_op) ops;
    struct state_slot **slots;
    size_t slot_count;
    struct state_claim *claims;
    size_t claim_count;
};

/* --- for scripts */

/* The place of a script: the last part of its name, in characters that any store takes. */
void state_place_of(const char *script, char out[STATE_PLACE_MAX + 1]);
/* Claims the place for the script. False if another script has it, which the error names. Several generations
 * of a script claim it each, and release it each. */
bool state_store_claim(struct state_store *store, const char *script, struct err *err);
void state_store_release(struct state_store *store, const char *script);
/* Returns the slot of a script's state. */
struct state_slot *state_store_slot(struct state_store *store, const char *script, const char *state);
/* Starts an operation; takes the bytes (NULL is allowed), and a reference to the fence (likewise). `done` is
 * called once, later; that of a read perhaps from inside. */
struct state_op *state_op_start(struct state_store *store, enum state_op_kind kind, struct state_slot *slot,
                                struct buf *bytes, struct fence *fence, state_op_done *done, void *ctx);
/* The caller goes: `done` is called instead of its own, without a context. */
void state_op_leave(struct state_op *op, state_op_done *done);
/* NULL is allowed. No script is left. */
void state_store_free(struct state_store *store);

/* --- for stores */

void state_store_init(struct state_store *store);
/* Sets the error of an operation that was not done as its fence is closed (ERR_CANCELLED); returns false. */
bool state_op_refuse_fence(struct state_op *op);
/* Likewise, as others have changed `where`. */
bool state_op_refuse_change(struct state_op *op, const char *where);
/* Ends the operation in progress, frees it and runs the next. */
void state_op_end(struct state_op *op);
/* Frees what still waits, and the rest of the struct. */
void state_store_clear(struct state_store *store);

/* Writes of states that the server may have executed, or still may, without an answer that says so: each
 * since the last one of its state that was answered well. Owner: state_maps.c. On the engine thread. Zeroed:
 * none. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "script/view/state_store.h"

struct state_tries {
    struct state_try {
        const struct state_slot *slot; /* borrowed */
        char sum[STATE_SUM_MAX];       /* "": the state was moved */
        int aside;                     /* where to */
    } * list;
    size_t count;
    bool is_new; /* the last of them is the request that was sent last, of the operation in progress */
};

/* Returns the try of an operation's state with this sum, borrowed until the next change; NULL: none. */
const struct state_try *state_tries_find(const struct state_tries *tries, const struct state_op *op,
                                         const char *sum);
/* Notes the request that an operation is about to send; `aside`: where it moves the state to. */
void state_tries_note(struct state_tries *tries, const struct state_op *op, int aside);
/* Notes that another operation begins. */
void state_tries_begin(struct state_tries *tries);
/* Forgets the request that was sent last: the server has done nothing of it, nor will it. An earlier one that
 * says the same may still come, and stays. */
void state_tries_forget_refused(struct state_tries *tries);
/* Forgets all of the operation's state: they name a version before the one of now. */
void state_tries_forget(struct state_tries *tries, const struct state_op *op);
void state_tries_clear(struct state_tries *tries);

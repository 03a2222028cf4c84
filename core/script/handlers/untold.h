/* Objects of lost slots that a handler was never told of, as their add was dropped: from then on until their
 * end, or until they are added again, or an update tells of the next one of that name. Their end is not told
 * of either. Owner: the handler that embeds it, on the engine thread. */
#pragma once
#include "script/handlers/pending_events.h"

struct untold_object;

struct untold {
    struct untold_object *objects; /* by key; NULL: none */
    bool starts_over;              /* the script may know initial objects from before */
};

/* Makes of an event of a lost slot the loss that the handler is to be told of. False: it is told of nothing,
 * and an add makes its object an untold one. */
bool untold_leaves_loss(struct untold *untold, struct handler_event *event);
/* Returns whether the handler is told of any other event, losses included: not of the end of an untold
 * object. What has such an event behind it is no untold object any more, so that of two events of one key the
 * earlier one must be asked for first. */
bool untold_passes(struct untold *untold, const struct handler_event *event);
/* Moves all to `to`, which has none. */
void untold_move(struct untold *from, struct untold *to);
/* Forgets all, as the handler is told of all objects anew: of initial ones its script may know some from
 * before, so that they are no untold ones from then on. */
void untold_start_over(struct untold *untold);

/* Objects that the server has and that are refused, as they stand now: one that is accepted later, or that is
 * deleted, is no longer among them. Owner: the reflector, on the I/O thread. Zeroed at first. */
#pragma once
#include <stddef.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "kube/api/list_watch.h"

struct refusal;

struct refusals {
    STAILQ_HEAD(, refusal) items; /* from the oldest; NULL in `stqh_last` before the first */
    size_t known;                 /* in `items`: REFUSALS_KNOWN_MAX at most */
    size_t unknown;               /* without a name, or beyond that: until the next list */
    char *unknown_text;           /* of the last of these; NULL: there is none */
};

enum { REFUSALS_KNOWN_MAX = 1000 };

/* Counted once by its key, with the text of now. One that came with a delete is no longer there. */
void refusals_note(struct refusals *refusals, const struct lw_refusal *refusal);
void refusals_remove(struct refusals *refusals, struct str ns, struct str name);
size_t refusals_count(const struct refusals *refusals);
/* Why one of them was refused; "" when none is known. Borrowed. */
const char *refusals_text(const struct refusals *refusals);
/* Appends "pods: 2 objects are refused, such as: TEXT". */
void refusals_put(struct buf *out, const char *name, size_t count, const char *text);
void refusals_clear(struct refusals *refusals);
/* What `from` has is `to`'s, and `from` empty. */
void refusals_move(struct refusals *to, struct refusals *from);

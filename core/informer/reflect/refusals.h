/* Objects that the server has and that are refused at present: an object that is accepted later, or deleted,
 * is removed. Owner: the reflector, on the I/O thread. A zeroed one is empty and valid. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/str.h"
#include "kube/api/list_watch.h"

struct refusal;

struct refusals {
    STAILQ_HEAD(, refusal) items; /* from the oldest; not initialised before the first */
    size_t known;                 /* number of `items`: at most REFUSALS_KNOWN_MAX */
    size_t unknown;               /* number without a name or above that limit; reset by the next list */
    char *unknown_text;           /* of the last of these; NULL for none */
};

enum { REFUSALS_KNOWN_MAX = 1000 };

/* Adds a refusal, once for each key and with the latest reason. One of a deleted object removes its key. */
void refusals_note(struct refusals *refusals, const struct lw_refusal *refusal);
void refusals_remove(struct refusals *refusals, struct str ns, struct str name);
size_t refusals_count(const struct refusals *refusals);
/* Returns the reason for one of them; "" if none is known. Borrowed. */
const char *refusals_text(const struct refusals *refusals);
/* Appends "pods: 2 objects are refused, such as: TEXT". */
void refusals_put(struct buf *out, const char *name, size_t count, const char *text);
void refusals_clear(struct refusals *refusals);
/* Moves all refusals of `from` to `to`. */
void refusals_move(struct refusals *to, struct refusals *from);

/* --- Window in which a repeated error may be retried at once (contract R-27): the first error opens the
 * window; it closes when its time is over, or after a minute without errors. Owner: the struct that embeds
 * it; a zeroed one is closed. May be used from any callback. */

enum { ERROR_WINDOW_QUIET_MS = 60000 };

struct error_window {
    bool open;
    int64_t first_ms, last_ms;
};

/* Records an error; returns whether it may be retried at once. `length_ms` 0: never. */
static inline bool error_window_allows(struct error_window *window, int64_t now_ms, int64_t length_ms)
{
    if (window->open && now_ms - window->last_ms >= ERROR_WINDOW_QUIET_MS) window->open = false;
    if (!window->open) window->first_ms = now_ms;
    window->last_ms = now_ms;
    window->open = length_ms > 0 && now_ms - window->first_ms <= length_ms;
    return window->open;
}

/* --- Keys of listed objects that were refused. The store keeps their previous state. Owner: the collection
 * or the delta that contains them. One thread at a time; may be used from any callback. */

struct delta_refused {
    struct buf keys; /* namespace, NUL, name, NUL, and so on */
    bool unknown;    /* some keys are not known, so nothing may be taken for deleted */
};

/* Adds a key; creates `*refused` if NULL. A name that is empty or contains NUL, which no server accepts,
 * counts as not known. */
void refused_add(struct delta_refused **refused, struct str ns, struct str name);
/* Removes the key of a deleted object, so that its old state is not kept. NULL is allowed. */
void refused_remove(struct delta_refused *refused, struct str ns, struct str name);
/* Returns the next key of a walk that begins with buf_slice(&refused->keys); false after the last. */
bool refused_next(struct str *rest, struct str *ns, struct str *name);
/* NULL is allowed. */
void refused_free(struct delta_refused *refused);

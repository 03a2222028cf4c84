/* State of the informer of a claim, with its reason and the time of the last change (B-7), so that an
 * informer that does not sync says why (I-20).
 * Owner: the caller; everything is copied. On the engine thread, from any callback. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "informer/reflect/followed.h"
#include "informer/reflect/reflector.h"
#include "informer/shared/transform.h"

struct informer_claim;

enum claim_state {
    CLAIM_PENDING,      /* discovery, or the group of the kind, has not responded yet */
    CLAIM_UNKNOWN_KIND, /* discovery does not know it; it may come */
    CLAIM_LISTING,      /* the informer runs, its first list is not in yet */
    CLAIM_SYNCED,       /* the cache follows the server */
    CLAIM_FORBIDDEN,    /* the server does not allow list or watch; retried, as permissions may come */
    CLAIM_GONE,         /* the server no longer has the kind; the cache keeps its objects */
    CLAIM_ERROR,        /* a list or watch failed; it is retried */
};

struct claim_status {
    enum claim_state state;
    bool synced;               /* the cache holds a complete list, whatever has happened since */
    int64_t since_us;          /* wall time of the last change of state */
    int64_t heard_us;          /* wall time of the last list, event or bookmark; 0 before the first */
    struct err last_error;     /* ERR_NONE if there is none; a watch that resumed at once sets it too */
    size_t objects, bytes;     /* number in the cache; an estimate of their memory */
    char resource_version[64]; /* of the store (S-10) */
    struct transform_counts transform; /* of all namespaces */
    struct followed_counts namespaces; /* with certain labels, if it follows these */
    bool each;                         /* by a watch of each of them, as one of all is forbidden */
    struct reflector_status reflector; /* zero before CLAIM_LISTING */
    char text[ERR_TEXT_MAX]; /* reason why it is not synced, or the last error; "" if there is none */
};

/* "pending", "unknown kind", "listing", "synced", "forbidden", "gone", "error": what users see. */
const char *claim_state_name(enum claim_state state);
/* Copies the status. Of a claim on several namespaces it is that of the worst one, synced only if all are.
 * Measures some thousand objects at most to estimate `bytes`. */
void claim_get_status(struct informer_claim *claim, struct claim_status *out);
/* Returns the number of informers that the claim reads as one: one for each namespace that it names, else
 * one; 0 until it is resolved. */
size_t claim_part_count(const struct informer_claim *claim);
/* Returns the name in logs and metrics, such as "pods in shop with labels app=web"; borrowed. */
const char *claim_part_name(const struct informer_claim *claim, size_t i);
/* Returns its namespace, borrowed: "" for all, or for a kind that has none. */
const char *claim_get_part_status(struct informer_claim *claim, size_t i, struct claim_status *out);
/* In a line that is longer than this the text of an error, which servers write as long as they like, is cut
 * to so many bytes. */
enum { CLAIM_LINE_MAX = 1024, CLAIM_BRIEF_MAX = 120 };
/* Appends "pods: forbidden for 12 s: failed to list pods: ..." for each informer that is not synced,
 * separated by ";". Returns false and appends nothing if the claim is synced (I-20). */
bool claim_describe_lag(struct informer_claim *claim, struct buf *out);
/* Records the objects that are missing from the cache, or outdated in it, because the engine refuses them:
 * over a limit, malformed. It locks the status of the I/O thread; the two below do not. */
void claim_note_refused(struct informer_claim *claim);
/* Returns the number recorded last. */
size_t claim_refused(const struct informer_claim *claim);
/* Appends "pods: 2 objects are refused, such as: Pod default/a: ..." for each informer, separated by ";".
 * Returns false and appends nothing if none is. */
bool claim_describe_refused(const struct informer_claim *claim, struct buf *out);

/* State of the informer of a claim, with its reason and the time of the last change (B-7), so that an
 * informer that does not sync says why (I-20).
 * Owner: the caller; everything is copied. On the engine thread, from any callback. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "informer/reflect/reflector.h"
#include "informer/shared/transform.h"

struct informer_claim;

enum claim_state {
    CLAIM_PENDING,      /* discovery has not responded yet; the discoverer has the reason */
    CLAIM_UNKNOWN_KIND, /* discovery does not know it; it may come */
    CLAIM_LISTING,      /* the informer runs, its first list is not in yet */
    CLAIM_SYNCED,       /* the cache follows the server */
    CLAIM_FORBIDDEN,    /* the server does not let us list or watch; tried again, as rights may come */
    CLAIM_GONE,         /* the server had the kind and no longer has it; what was in the cache stays there */
    CLAIM_ERROR,        /* a list or watch failed; it will be tried again */
};

struct claim_status {
    enum claim_state state;
    bool synced;      /* the cache holds a whole list, whatever has happened since */
    int64_t since_us; /* wall time at which it came into its state */
    int64_t heard_us; /* wall time of the last list, event or bookmark; 0 before the first */
    struct err
        last_error; /* ERR_NONE while all is well; one of a watch that resumed is no state of its own */
    size_t objects, bytes;             /* in the cache; what these take in memory, about */
    char resource_version[64];         /* of the store (S-10) */
    struct transform_counts transform; /* of all namespaces */
    struct reflector_status reflector; /* zero before CLAIM_LISTING */
    char text[ERR_TEXT_MAX];           /* why it is not synced, or the last error; "" when all is well */
};

/* "pending", "unknown kind", "listing", "synced", "forbidden", "gone", "error": what users see. */
const char *claim_state_name(enum claim_state state);
/* Of a claim on several namespaces it is that of the one that fares worst; it is synced when all are. Looks
 * at some thousand objects at most to estimate `bytes`. */
void claim_get_status(struct informer_claim *claim, struct claim_status *out);
/* The informers that the claim reads as one: one for each namespace that it names, else one; 0 until it is
 * resolved. */
size_t claim_part_count(const struct informer_claim *claim);
/* "pods in shop with labels app=web": as logs and metrics name it; borrowed. */
const char *claim_part_name(const struct informer_claim *claim, size_t i);
/* Returns its namespace, borrowed: "" for all, or for a kind that has none. */
const char *claim_get_part_status(struct informer_claim *claim, size_t i, struct claim_status *out);
/* Appends "pods: forbidden for 12 s: failed to list pods: ...", each informer that is not synced after a ";";
 * false, and nothing, when the claim is synced (I-20). */
bool claim_describe_lag(struct informer_claim *claim, struct buf *out);
/* Keeps which objects of the server's are missing from the cache, or stand in it as they were, since the
 * engine refuses them: over a limit, malformed. It asks the I/O thread's side, the two below do not. */
void claim_note_refused(struct informer_claim *claim);
/* As it was noted last: how many. */
size_t claim_refused(const struct informer_claim *claim);
/* Appends "pods: 2 objects are refused, such as: Pod default/a: ...", each informer after a ";"; false,
 * and nothing, when none is. */
bool claim_describe_refused(const struct informer_claim *claim, struct buf *out);

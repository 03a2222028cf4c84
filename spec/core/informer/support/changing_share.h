/* An informer of a part of what a server has, where the part changes at random and the server changes,
 * compacts, lags behind and fails at random: the base of random tests of namespaces and slots that come and
 * go. Owner: the spec, which makes the reflector and what lists single parts. */
#pragma once
#include "core/informer/support/replay.h"
#include "informer/reflect/reflector.h"
#include "informer/shared/shared_informer.h"

enum { CHANGING_HANDLERS = 3 };

struct changing_share {
    struct virtual_clock clock;
    struct fake_server server;
    struct shared_informer *informer;
    struct reflector *reflector, **finished; /* the latter of single parts */
    size_t finished_count;
    int page_size; /* of these */
    struct jitter jitter;
    int64_t slow;                              /* one step of so many is one of the consumer */
    struct replay handlers[CHANGING_HANDLERS]; /* the first is there from the start to the end */
};

/* Sums of all runs. */
struct changing_totals {
    size_t calls, coalesced, lists, watches, compared;
};

/* A number from `from` and below `to`. */
int64_t changing_dice(struct changing_share *share, int64_t from, int64_t to);
/* All but the reflector. */
void changing_begin(struct changing_share *share, uint64_t seed);
/* Starts a list of a part by `options`, of which name, clock, source, seed and pages are set. */
struct reflector *changing_list(struct changing_share *share, struct reflector_options options);
/* Ends it; it is freed with the share, as it may be what calls. */
void changing_end_list(struct changing_share *share, struct reflector *list);
/* Some steps of changes, faults and time; `toggle` moves a part in or out, now and then, and `check` is
 * called where nothing is queued. */
void changing_go_on(struct changing_share *share, void (*toggle)(void *ctx), void (*check)(void *ctx),
                    void *ctx);
/* Ends the faults; afterwards the reflector watches, and all is handled. */
void changing_settle(struct changing_share *share);
/* Cache and handlers have what the server has of its objects that are `owned`, by their keys too; adds to the
 * sums. */
void changing_compare(struct changing_share *share,
                      bool (*owned)(void *ctx, int key, const struct root *object), void *ctx,
                      struct changing_totals *totals);
/* Once those who use its queue are gone, and their lists. Adds to the sums. */
void changing_end(struct changing_share *share, struct changing_totals *totals);

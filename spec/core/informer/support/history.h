/* A handler that writes down what it is told, as "add a@1; update a@1 a@2; delete a@2", each with its flags:
 * + initial, ? final state unknown, ~ resync, ! filtered, * coalesced. Owner: the spec. */
#pragma once
#include "base/buf.h"
#include "informer/shared/shared_informer.h"

struct history {
    struct buf text;
    const struct indexer
        *store; /* when set: "(store N)" behind each call, N the version a lister sees, or "absent" */
    void (*before)(struct history *history, void *ctx); /* called first, for each call; optional */
    void *ctx;
    size_t calls;
};

struct event_handler history_handler(struct history *history);
/* What was told since the last time; borrowed until the next call. */
const char *history_take(struct history *history);
void history_clear(struct history *history);

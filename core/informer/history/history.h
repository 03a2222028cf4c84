/* History: the last versions of each object of some kinds, kept as what they replaced (version.h), and
 * deleted objects for a time. Bounded by memory, the oldest versions go first. It has a claim on the whole
 * objects of each kind, which scripts that read them whole share. Owner: the engine, on its thread; `notes`
 * and lookups from any callback there. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/history/version.h"
#include "informer/shared/shared_factory.h"

enum { HISTORY_VERSIONS = 10, HISTORY_VERSIONS_MAX = 1000 }; /* of an object, unless a kind says; at most */

struct history_options {
    struct shared_factory *factory;
    struct clock *clock;
    const char *namespace_; /* "": all */
    size_t memory_bytes;    /* limit of all versions and deleted objects together */
    int64_t deleted_ms;     /* how long deleted objects are kept */
};

struct history;

struct history *history_new(const struct history_options *options);
/* While the factory exists. NULL is allowed. */
void history_free(struct history *history);
/* Adds a kind, in any form that kubectl accepts, whose objects keep up to so many versions. */
void history_add_kind(struct history *history, const char *kind, unsigned versions);
/* Returns the claim of kind number `i`, and `*kind` as it was given; NULL: there are no more. */
struct informer_claim *history_claim(const struct history *history, size_t i, const char **kind);
/* Notes that a script wrote this version of an object: it, or one that is to come, is the script's. */
void history_note_write(struct history *history, const struct resource *resource, const struct root *written,
                        const char *script);

/* State and versions of one object. */
struct object_history {
    struct root *object; /* its state now, or before it was deleted; borrowed; NULL: unknown */
    bool deleted;
    const struct version_list *versions; /* the newest first; NULL: there are none */
    const struct text_table *texts;
};

/* False if no history is kept of the resource. */
bool history_find(const struct history *history, const struct resource *resource, struct str ns,
                  struct str name, struct object_history *found);

struct history_stats {
    size_t objects, versions, bytes, limit_bytes;
    uint64_t evicted; /* versions that had to go, as the memory was full */
};
struct history_stats history_stats(const struct history *history);

/* Admission to a bounded table that never becomes smaller. Each kind of object has a share of the room that
 * is left, so that rare entries of one kind, such as data keys of ConfigMaps, cannot take the room of others:
 * what is new is admitted up to a small share, and what comes again before long up to a larger one. Owner:
 * the table that embeds it. May be called from any thread. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum {
    ADMISSION_MEMORY = 4096,
    ADMISSION_KINDS = 4096,
    ADMISSION_SHIFT = 32 - 12, /* of a hash of 32 bits, for a number of a kind */
    ADMISSION_NEW = 16,        /* a sixteenth of the room that is left */
    ADMISSION_AGAIN = 8,
};

/* Kind of the object that is packed. */
struct admission_kind {
    uint32_t number; /* below ADMISSION_KINDS; kinds may share one. 0: unknown */
    struct str name; /* borrowed for the call */
};

struct admission {
    const char *table;                          /* name for the log */
    _Atomic uint32_t admitted[ADMISSION_KINDS]; /* by the number of the kind */
    _Atomic uint32_t seen[ADMISSION_MEMORY];    /* hashes of the last ones turned away */
    _Atomic uint32_t turn;
    _Atomic bool logged;
};

/* Returns whether an entry may be added to the `count` of at most `capacity`, and counts it for the kind,
 * which may be NULL. Logs once if a kind has used its share of what is new. */
bool admission_allows(struct admission *a, uint32_t hash, const struct admission_kind *kind, size_t count,
                      size_t capacity);

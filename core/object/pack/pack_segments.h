/* Recording and copying of segments while pack_tokens.c walks a large container; see segment.h. Owner: a
 * struct large belongs to its walk, and ends with it. Used by pack_tokens.c only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/pack/pack_internal.h"
#include "object/pack/segment.h"

/* The container under the walk. */
struct large {
    struct walk *walk;
    struct open open;
    int depth;
    bool is_map, ascends;
    uint32_t from; /* of the text: its bracket */
    /* of the last state; NULL without */
    const uint32_t *words, *header;
    const struct segment *next, *end;
    bool old_ascends, old_is_plain;
    /* of this one */
    size_t segments;        /* in the list before it */
    struct segment stretch; /* the entries since the last segment */
    bool follows;           /* the last segment ends where the stretch begins */
    struct str before;      /* the last key */
    struct text text;
    int strangers;
};

/* Begins with the container at the walk. */
struct large large_begin(struct walk *w, int depth);
/* Copies the entries from the walk on, as far as they are a segment of the last state, and moves behind them.
 */
bool large_copy(struct large *l);
/* Before an entry that is walked, and behind it. */
void large_open(struct large *l);
void large_extend(struct large *l);
/* Notes the next key, as it is in the text; `is_plain`: it has no escapes. */
void large_note_key(struct large *l, struct str key, bool is_plain);
/* Behind the last entry: a short rest belongs to the segment before it. */
void large_close(struct large *l);
/* Keeps the segments of the container, which became `word`. */
void large_end(struct large *l, uint32_t word, bool is_plain);

/* Sections of an object's text: its larger parts, one field of the object or of its metadata each, with its
 * key. An object stores them, so that its next state, most of whose text is equal, copies their results: only
 * the text between them is read. One that a projection drops is a section too, without words. Owner: sections
 * belong to their root; they are written when it is created. Used inside core/object only, on the pool's
 * thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "object/parse/token.h"
#include "object/value/word.h"

enum {
    SECTIONS_MAX = 7,          /* of one object */
    SECTION_MIN = 256,         /* bytes of text; each section takes 24 bytes */
    SECTION_MIN_OF_FEW = 1024, /* in objects of few fields, where 24 bytes are many */
    SECTION_FIRST_MAX = (1 << 23) - 1,
    SECTION_LENGTH_MAX = (1 << 24) - 1,
    SECTION_KEY_MAX = (1 << 7) - 1,
};

/* Words only, as it stands behind the words of its root. */
struct section {
    uint32_t hash[2];              /* of the text, from its key on */
    uint32_t at;                   /* position of the value in the text of the object */
    uint32_t length : 24, key : 7; /* bytes of the value, and from its key's first quote to it */
    uint32_t lent : 1;             /* see loan.h */
    uint32_t first : 23;           /* the words it became begin here; they end with those of `word` */
    uint32_t in_metadata : 1;
    uint32_t height : 7;   /* maps and arrays in one another, this one not counted */
    uint32_t borrowed : 1; /* see loan.h */
    uint32_t word; /* under TAG_LOCAL the place of the top blob, ROOT_ABSENT: dropped; else as it is */
};

struct root;

/* Sections found again in another text, in order. */
struct section_matches {
    size_t count;
    struct token_part part[SECTIONS_MAX];
    const struct section *section[SECTIONS_MAX];
};

/* Finds the sections of `root` that `text` has too. Sections before the first change are at the same distance
 * from the beginning, sections after the last one at the same distance from the end; others are searched
 * around these places. */
void sections_match(const struct root *root, struct str text, struct section_matches *matches);
/* Returns whether the section's text, with its key, stands at `at`, the key not before `from`. */
bool section_stands_at(const struct section *section, struct str text, int64_t at, int64_t from);
/* Returns the end of the words of a section that became blobs of their own. */
size_t section_end(const uint32_t *words, const struct section *section);
/* Returns the section of `length` bytes of text at `at`, whose key begins `key` bytes before; the caller sets
 * its other members. */
struct section section_make(struct str object, uint32_t at, uint32_t length, uint32_t key);

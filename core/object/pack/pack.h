/* Packer of JSON: walks simdjson's tape and interns shapes, subtrees and the object itself. Owner: a packer
 * belongs to its pool's thread. It returns a new reference; equal content results in the same pointer while a
 * reference exists. Every object is stored with `apiVersion` and `kind`, first, in this order, whether the
 * text has them or not. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "object/pack/pool.h"
#include "object/parse/tape.h"

enum {
    PACK_DEPTH_MAX = 100,           /* nested maps and arrays */
    PACK_KEY_LENGTH_MAX = 64 << 10, /* bytes of one map key */
};

struct projection;
struct tokens;

/* Type of an item where the item does not have it, and its projection. */
struct pack_type {
    struct str api_version, kind;        /* empty: the text must have both */
    bool always;                         /* even if the text has others */
    const struct projection *projection; /* NULL: everything is kept */
    bool nameless;                       /* metadata and its name may be absent, as of a TokenReview */
};

/* Type that a text declares; borrowed from it, empty where it declares none. */
struct pack_own_type {
    struct str api_version, kind;
};

/* Identifies a text that was packed before. */
struct pack_mark {
    uint64_t whole; /* of the complete text and of the type; 0: the text is not expected again */
    uint32_t head;  /* of the bytes that name the object, equal for all its states (pack_mark.c) */
};

struct packer;

struct packer *packer_new(struct pool *pool);
void packer_free(struct packer *packer);

/* Packs the object at `at` of `tape`. Fails without side effect if it is not an object, lacks a name that
 * `type` requires, apiVersion or kind, or exceeds a limit; the error names the object as far as it is known.
 */
bool pack_tape(struct packer *packer, const struct tape *tape, size_t at, const struct pack_type *type,
               struct root **out, struct err *err);
/* Packs an object directly from its text, if it is usual: everything is kept, or it has nothing but the
 * requested metadata; apiVersion and kind come first or not at all. Finds the object's last state, by the
 * mark, and known texts of subtrees, and skips them. Returns false with nothing done if the text needs the
 * tape; it may be an object all the same. The result is that of pack_tape. `said` may be NULL. `text` as
 * below. */
bool pack_tokens(struct packer *packer, struct str text, const struct pack_type *type,
                 const struct pack_mark *mark, struct pack_own_type *own_type, struct root **out);
/* Packs the object at token `at`, where `close` has the end of each bracket (token_match). Fields that a
 * projection drops are skipped: only their brackets were read. `type` must be `always`. The text is not
 * recorded, which only helps if it is seen again. Returns false like pack_tokens; the result is that of
 * pack_tape. */
bool pack_matched(struct packer *packer, const struct tokens *tokens, const uint32_t *close, size_t at,
                  const struct pack_type *type, struct root **out);
/* Tries pack_tokens, then pack_tape. `text` has TAPE_PADDING bytes behind `len`. */
bool pack_text(struct packer *packer, const char *text, size_t len, const struct pack_type *type,
               struct root **out, struct err *err);

/* Returns the mark of a text that is a new state of its object: its `whole` is 0. */
struct pack_mark pack_mark(struct str text, const struct pack_type *type);
/* Returns a hash that is equal for the states of an object, and for objects of one template that share most
 * of their subtrees: those with the same generateName, where the text has it at its beginning. */
uint32_t pack_group(struct str text);
/* Returns the object that was packed from the identical text, if it still exists: a new reference, or NULL.
 * Nothing is parsed. `*mark` is for pack_tokens, or for pack_remember after pack_tape, which record the text;
 * pack_text does both itself. */
struct root *pack_recall(struct packer *packer, struct str text, const struct pack_type *type,
                         struct pack_mark *mark);
void pack_remember(struct packer *packer, struct root *root, const struct pack_mark *mark);

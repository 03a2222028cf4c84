/* JSON to packed objects: walks simdjson's tape, interning shapes, subtrees and the object itself. Owner: a
 * packer belongs to its pool's thread. The object that comes out is a new reference for the caller; the same
 * content gives the same pointer as long as a reference is held. Every object is stored with `apiVersion` and
 * `kind`, first, in this order, whether the text has them or not. */
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
    struct str api_version, kind;        /* empty: the text must have it */
    bool always;                         /* also when the text says otherwise */
    const struct projection *projection; /* NULL: everything is kept */
    bool nameless;                       /* metadata and its name may be absent, as of a TokenReview */
};

/* Type that a text declares; borrowed from it, empty where it declares none. */
struct pack_own_type {
    struct str api_version, kind;
};

/* Identifies a text that was packed before. */
struct pack_mark {
    uint64_t whole; /* of the complete text and of the type; 0: the same text is not expected again */
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
/* The straight way from a text to an object, for what most texts are: everything is kept, or there is nothing
 * but metadata in it as was asked for; apiVersion and kind come first or not at all. It knows the object's
 * last state, by the mark, and the texts of subtrees that it has seen, and walks by them. Where it returns
 * false it has done nothing, and a tape knows more: it may be an object all the same. What it makes is what
 * pack_tape would. `said` may be NULL. `text` as below. */
bool pack_tokens(struct packer *packer, struct str text, const struct pack_type *type,
                 const struct pack_mark *mark, struct pack_own_type *own_type, struct root **out);
/* The object at token `at`, where `close` says which bracket ends where (token_match). What a projection
 * drops is stepped over: of what is in it only the brackets were looked at. `type` says `always` what the
 * object is. Nothing is remembered of the text, which is of use only for what is seen again. False as above,
 * with nothing done; else what pack_tape makes of the object. */
bool pack_matched(struct packer *packer, const struct tokens *tokens, const uint32_t *close, size_t at,
                  const struct pack_type *type, struct root **out);
/* Tries pack_tokens, then pack_tape. `text` has TAPE_PADDING bytes behind `len`. */
bool pack_text(struct packer *packer, const char *text, size_t len, const struct pack_type *type,
               struct root **out, struct err *err);

/* The mark of a text that is a new state of its object: its `whole` is 0. */
struct pack_mark pack_mark(struct str text, const struct pack_type *type);
/* The object that was made from this very text before, when it is still there: a new reference, or NULL.
 * Nothing is parsed. `*mark` is for pack_tokens, or for pack_remember after pack_tape, by whom the text is
 * known from then on; pack_text does all that by itself. */
struct root *pack_recall(struct packer *packer, struct str text, const struct pack_type *type,
                         struct pack_mark *mark);
void pack_remember(struct packer *packer, struct root *root, const struct pack_mark *mark);

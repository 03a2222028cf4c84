/* Internals shared by the walks of a packer: pack_tokens.c takes everything from a text, pack.c from a tape,
 * pack_projected.c what a projection keeps. Owner: as pack.h says. For these files only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "object/pack/encode.h"
#include "object/pack/intern.h"
#include "object/pack/pack.h"
#include "object/pack/projection.h"
#include "object/pack/section.h"
#include "object/pack/text_cache.h"
#include "object/parse/token.h"

/* Type of an object that has its own. */
extern const struct pack_type pack_unknown_type;

enum { PACK_PATHS = 4096, PACK_FOUND_MAX = 64 };

/* Subtree of the object in progress whose text may be worth recording. */
struct found_text {
    struct text_places places;
    struct text_entry entry;
    uint32_t from; /* its first token */
    bool fresh;    /* its node was created for this object */
};

struct packer {
    struct encoder encoder;
    struct tape_parser *parser;
    struct token_parser *tokens;
    struct buf scratch; /* for a string with escapes */
    struct found_text found[PACK_FOUND_MAX];
    size_t found_count;
    struct section section[SECTIONS_MAX]; /* of the object that is walked */
    size_t section_count;
    bool is_partial;           /* the object is packed by a projection of names */
    struct root *lender;       /* the last state, when some of them are borrowed of it */
    uint32_t lent;             /* bits by their numbers there */
    uint8_t plain[PACK_PATHS]; /* how often in a row the values at a path made no node; see pack_tokens.c */
    const uint64_t *words;     /* of the tape that is walked */
    const uint8_t *strings;
    size_t at;
    struct err *err;
};

/* Packs the value at the walk, and moves behind it. `depth` counts maps and arrays, this one included. */
bool pack_value(struct packer *p, int depth, uint32_t field, uint32_t *word);
/* Packs the key at the walk, and its value. */
bool pack_entry(struct packer *p, int depth);
/* Opens an entry of a map; the walk does not move. */
bool pack_key(struct packer *p, struct str key, uint32_t *field);
bool pack_check_depth(const struct packer *p, int depth);

/* Packs what `projection` keeps of the value at `at`; `state` is the result of projection_enter for it. */
struct projected {
    const struct projection *projection;
    const struct tape *tape;
};
bool pack_projected_value(struct packer *p, const struct projected *by, struct projection_state state,
                          size_t at, int depth, uint32_t field, uint32_t *word);
/* Packs an entry of a map with its key; nothing if it is dropped. `state` is that of the map. */
bool pack_projected_entry(struct packer *p, const struct projected *by, struct projection_state state,
                          struct str key, size_t at, int depth);

/* Identity of an object, known before or at its end; strings are borrowed. */
struct identity {
    struct str api_version, kind;
    struct str ns, name, uid, resource_version;
};

/* Packs apiVersion and kind, the first fields of the object. New keys belong to this kind from then on. */
bool pack_type(struct packer *p, const struct identity *id);
/* Before an object is walked; the projection may be NULL. */
void pack_begin(struct packer *p, const struct projection *projection);
/* Interns the object under `word` of the encoder's area, with the packer's sections, which belong to a text
 * of this length. */
bool pack_intern_root(struct packer *p, const struct identity *id, uint32_t word, size_t text_length,
                      struct root **out);

/* --- Internals shared by the parts of the straight way (pack.h): pack_tokens.c walks tokens, pack_matched.c
 * what a projection keeps of them, pack_sections.c copies what the last state had, pack_subtrees.c finds
 * subtrees by their text. Owner: as pack.h says. For these files only. */

struct walk {
    struct packer *packer;
    struct tokens tokens;
    size_t at;        /* the token under the walk */
    int deepest;      /* of the maps and arrays seen since it was set */
    uint32_t anchor;  /* the first node of the object; see text_places */
    uint32_t path;    /* of the keys above the walk, a hash */
    bool in_metadata; /* of the object itself */
    bool metadata_only;
    /* Of pack_matched.c: */
    const uint32_t *close; /* ends of brackets; the text is not recorded then. NULL: not known */
    const struct projection *projection;
    bool is_unsure; /* of what it would have to know to go on: the tape knows */
    struct identity id;
    struct root *last; /* the object's last state, for what `matches` has of it; NULL without */
    struct section_matches matches;
    size_t matched; /* of them, how many were copied */
};

static inline char here(const struct walk *w)
{
    return token_type(&w->tokens, w->at);
}

/* Packs the value at the walk, and moves behind it. Returns false if it needs the tape, as all of these do.
 */
bool walk_value(struct walk *w, int depth, uint32_t field, uint32_t *word);

/* Takes the part of the identity under the key `field` of the metadata; the walk stands on the value. */
bool walk_identify(struct walk *w, uint32_t field);
/* Steps over the comma or the bracket behind an entry: true when there are more. */
static inline bool walk_more(struct walk *w, char close, bool *well)
{
    char c = here(w);
    w->at++;
    *well = c == ',' || c == close;
    return c == ',';
}

/* Finds the tokens of the text, without its sections that the last state had. */
bool walk_find_tokens(struct walk *w, struct str text, const struct pack_mark *mark);
/* Packs a field of the object or of its metadata: a long one is a section. */
bool walk_section(struct walk *w, int depth, uint32_t field, uint32_t *word);

/* Returns whether the map or array under the walk is longer than TEXT_CACHE_MIN: most shorter ones make no
 * node. */
bool walk_is_long(const struct walk *w);
/* Finds the node that was packed from the text at the walk before; returns false if none can be used. */
bool walk_recall(struct walk *w, int depth, struct text_places places, uint32_t *word);
/* Notes that the text from token `from` up to the walk became this node. */
void walk_note(struct walk *w, size_t from, int height, struct text_places places, uint32_t granule);
/* Records the noted texts, once the object exists. */
void walk_remember(struct walk *w);

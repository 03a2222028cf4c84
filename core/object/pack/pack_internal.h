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
#include "object/pack/segment.h"
#include "object/pack/text_cache.h"
#include "object/parse/token.h"
#include "object/value/dict.h"

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
    struct segment_group group[SECTIONS_MAX]; /* likewise; see pack_segments.c */
    size_t group_count;
    struct segment *segment;
    size_t segment_count, segment_cap;
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

/* --- Internals shared by the parts of the straight way (pack.h): pack_tokens.c walks tokens, pack_kept.c
 * what a projection keeps of them, pack_over.c steps over the rest, pack_sections.c copies what the last
 * state had, pack_subtrees.c finds subtrees by their text. Owner: as pack.h says. For these files only. */

struct walk {
    struct packer *packer;
    struct tokens tokens;
    size_t at;             /* the token under the walk */
    int large;             /* depth of the container that is packed in segments; 0: none */
    int deepest;           /* of the maps and arrays seen since it was set */
    uint32_t anchor;       /* the first node of the object; see text_places */
    uint32_t path;         /* of the keys above the walk, a hash */
    bool in_metadata;      /* of the object itself */
    const uint32_t *close; /* ends of brackets; the text is not recorded then. NULL: not known */
    const struct projection *projection; /* NULL: everything is kept */
    bool is_unsure;                      /* of what it would have to know to go on: the tape knows */
    struct identity id;
    struct root *last;              /* the object's last state; NULL without */
    struct section_matches matches; /* of its sections, those that are in this text where they were */
    size_t matched;                 /* of them, how many were copied */
    uint32_t copied; /* the number behind that of the section that was copied last; 0: none was */
};

static inline char here(const struct walk *w)
{
    return token_type(&w->tokens, w->at);
}

/* Packs the value at the walk, and moves behind it. Returns false if it needs the tape, as all of these do.
 */
bool walk_value(struct walk *w, int depth, uint32_t field, uint32_t *word);

bool walk_take_identity(struct walk *w, uint32_t field);
/* Takes the part of the identity under the key `field` of the metadata, if it is one; the walk stands on the
 * value. */
static inline bool walk_identify(struct walk *w, uint32_t field)
{
    bool is_part = field >= KEY_NAME && field <= KEY_RESOURCE_VERSION; /* with namespace and uid */
    return !is_part || walk_take_identity(w, field);
}

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
/* Returns whether the value at the walk, in the map of this depth, may be a section: a field of the object or
 * of its metadata. */
static inline bool walk_may_be_section(const struct walk *w, int depth)
{
    if (depth != 1 + w->in_metadata || w->close) return false;
    char type = here(w);
    return type == '{' || type == '[';
}

/* Returns the section of the last state whose text is the token at the walk; NULL for a usual token. */
const struct section *walk_at_section(const struct walk *w);
/* Packs the field at the walk from the last state, if that has it as a section; `*done` says whether it could
 * be copied. Its word is ROOT_ABSENT if it is dropped. */
bool walk_find_section(struct walk *w, int depth, uint32_t *word, bool *done);
/* A field that may become a section: where it begins, and how deep the walk was before. */
struct section_start {
    size_t token, first;
    int depth, outer;
};
struct section_start walk_section_start(struct walk *w, int depth);
/* The walk is behind the field, which became `word`: if it is long, it is a section. */
void walk_section_end(struct walk *w, const struct section_start *start, uint32_t word);

/* Moves behind the text that ends at `end`. */
void walk_leap(struct walk *w, uint32_t end);

/* Packs what the projection keeps of the value at the walk: `state` is the result of projection_enter. */
bool walk_kept(struct walk *w, struct projection_state state, int depth, uint32_t field, uint32_t *word);
/* Packs a field of the object itself with its key, behind the type. */
bool walk_kept_field(struct walk *w, bool *has_metadata);
/* Moves behind the value at the walk, whatever it is. Where brackets are not matched, it has to be JSON. */
bool walk_over(struct walk *w);
bool walk_unescape(struct walk *w, struct str raw, struct str *out);
/* Takes the string at the walk, without its escapes: borrowed until the next one with escapes. */
static inline bool walk_text(struct walk *w, struct str *out)
{
    *out = token_raw(&w->tokens, w->at++);
    return !has_backslash(out->p, out->n) || walk_unescape(w, *out, out);
}

/* Returns whether the map or array under the walk is longer than TEXT_CACHE_MIN: most shorter ones make no
 * node. */
bool walk_is_long(const struct walk *w);
/* Finds the node that was packed from the text at the walk before; returns false if none can be used. */
bool walk_recall(struct walk *w, int depth, struct text_places places, uint32_t *word);
/* Notes that the text from token `from` up to the walk became this node. */
void walk_note(struct walk *w, size_t from, int height, struct text_places places, uint32_t granule);
/* Records the noted texts, once the object exists. */
void walk_remember(struct walk *w);

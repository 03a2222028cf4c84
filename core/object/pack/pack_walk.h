/* What the parts of the straight way share (pack.h): pack_tokens.c walks tokens, pack_matched.c what a
 * projection keeps of them, pack_sections.c copies what the last state had, pack_subtrees.c finds subtrees by
 * their text. Owner: as pack.h says. For these files only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/pack/intern.h"
#include "object/pack/pack_internal.h"

struct walk {
    struct packer *packer;
    struct tokens tokens;
    size_t at;        /* the token under the walk */
    int deepest;      /* of the maps and arrays seen since somebody set it */
    uint32_t anchor;  /* the first node of the object; see text_places */
    uint32_t path;    /* of the keys above the walk, a hash */
    bool in_metadata; /* of the object itself */
    bool metadata_only;
    /* Of pack_matched.c: */
    const uint32_t *close; /* where brackets end; nothing is remembered of the text then. NULL: not known */
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

/* The value under the walk, which moves behind it; false: it is left to the tape, as for all of these. */
bool walk_value(struct walk *w, int depth, uint32_t field, uint32_t *word);

/* What names the object, under the key `field` of its metadata; the walk stands on the value. */
bool walk_identify(struct walk *w, uint32_t field);
/* Steps over the comma or the bracket behind an entry: true when there are more. */
static inline bool walk_more(struct walk *w, char close, bool *well)
{
    char c = here(w);
    w->at++;
    *well = c == ',' || c == close;
    return c == ',';
}

/* The tokens of the text, but for its sections that the last state had. */
bool walk_find_tokens(struct walk *w, struct str text, const struct pack_mark *mark);
/* The value of a field of the object or of its metadata: where its text is long it is a section. */
bool walk_section(struct walk *w, int depth, uint32_t field, uint32_t *word);

/* Whether the map or array under the walk has more text than its first bytes: most that have not make no
 * node. */
bool walk_is_long(const struct walk *w);
/* The node that was made from the text under the walk before; false: there is none that can be used. */
bool walk_recall(struct walk *w, int depth, struct text_places places, uint32_t *word);
/* The text from token `from` up to the walk became this node. */
void walk_note(struct walk *w, size_t from, int height, struct text_places places, uint32_t granule);
/* Remembers the texts that were noted, as the object was made. */
void walk_remember(struct walk *w);

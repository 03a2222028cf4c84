/* What the walks of a packer share: pack_tokens.c takes everything from a text, pack.c from a tape,
 * pack_projected.c what a projection keeps. Owner: as pack.h says. For these files only. */
#pragma once
#include "object/pack/encode.h"
#include "object/pack/pack.h"
#include "object/pack/projection.h"
#include "object/pack/section.h"
#include "object/pack/text_cache.h"
#include "object/parse/token.h"

/* Of an object that says itself what it is. */
extern const struct pack_type pack_unknown_type;

enum { PACK_PATHS = 4096, PACK_FOUND_MAX = 64 };

/* A subtree of the object that is walked, whose text may be worth to be remembered. */
struct found_text {
    struct text_places places;
    struct text_entry entry;
    uint32_t from; /* its first token */
    bool fresh;    /* its node was made for this object */
};

struct packer {
    struct encoder encoder;
    struct tape_parser *parser;
    struct token_parser *tokens;
    char *scratch; /* for a string with escapes; NULL until the first */
    struct found_text found[PACK_FOUND_MAX];
    size_t found_count;
    struct section section[SECTIONS_MAX]; /* of the object that is walked */
    size_t section_count;
    bool is_partial;           /* the object is packed by a projection of names */
    struct root *lender;       /* the last state, when some of them are borrowed of it */
    uint32_t lent;             /* bits by their numbers there */
    uint8_t plain[PACK_PATHS]; /* how often in a row what came at a path made no node; see pack_tokens.c */
    const uint64_t *words;     /* of the tape that is walked */
    const uint8_t *strings;
    size_t at;
    struct err *err;
};

/* The value under the walk, which moves behind it. `depth` counts maps and arrays, this one included. */
bool pack_value(struct packer *p, int depth, uint32_t field, uint32_t *word);
/* The key under the walk, and its value. */
bool pack_entry(struct packer *p, int depth);
/* Opens an entry of a map; the walk does not move. */
bool pack_key(struct packer *p, struct str key, uint32_t *field);
bool pack_check_depth(const struct packer *p, int depth);

/* What `projection` keeps of the value at `at`; `state` is what projection_enter said of it. */
struct projected {
    const struct projection *projection;
    const struct tape *tape;
};
bool pack_projected_value(struct packer *p, const struct projected *by, struct projection_state state,
                          size_t at, int depth, uint32_t field, uint32_t *word);
/* An entry of a map, its key included; nothing when it is dropped. `state` is that of the map. */
bool pack_projected_entry(struct packer *p, const struct projected *by, struct projection_state state,
                          struct str key, size_t at, int depth);

/* What has to be known of an object beforehand, or by its end; borrowed texts. */
struct identity {
    struct str api_version, kind;
    struct str ns, name, uid, resource_version;
};

/* apiVersion or kind, an entry of the root. */
bool pack_type_field(struct packer *p, struct str key, struct str text);
/* Before an object is walked; the projection may be NULL. */
void pack_begin(struct packer *p, const struct projection *projection);
/* Makes what stands in the encoder's area under `word` an object of the pool, with the packer's sections,
 * which are of a text of this length. */
bool pack_intern_root(struct packer *p, const struct identity *id, uint32_t word, size_t text_length,
                      struct root **out);

/* From the tokens of a text to an interned root, without a tape; see pack.h. Sections that the object had
 * before are copied, and a text whose subtrees are known is walked in strides: each of them is found by its
 * text. Whatever is unusual here, or wrong, is left to the tape. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/dict.h"
#include "object/intern.h"
#include "object/loan.h"
#include "object/pack_internal.h"

enum {
    SCRATCH_BYTES = 64 << 10, /* longer strings with escapes are left to the tape */
    PLAIN_OFTEN = 4,
};

struct walk {
    struct packer *packer;
    struct tokens tokens;
    size_t at;        /* the token under the walk */
    int deepest;      /* of the maps and arrays seen since somebody set it */
    uint32_t anchor;  /* the first node of the object; see text_places */
    uint32_t path;    /* of the keys above the walk, a hash */
    bool in_metadata; /* of the object itself */
    bool metadata_only;
    struct identity id;
    struct root *last; /* the object's last state, for what `matches` has of it; NULL without */
    struct section_matches matches;
    size_t matched; /* of them, how many were copied */
};

static bool take_value(struct walk *w, int depth, uint32_t field, uint32_t *word);

static inline char here(const struct walk *w)
{
    return token_type(&w->tokens, w->at);
}

static bool unescape(struct walk *w, struct str raw, struct str *out)
{
    struct packer *p = w->packer;
    if (raw.n > SCRATCH_BYTES) return false;
    if (!p->scratch) p->scratch = xmalloc(SCRATCH_BYTES);
    out->p = p->scratch;
    return token_unescape(raw, p->scratch, &out->n);
}

/* The text of the string under the walk, until the next one with escapes. */
static inline bool take_text(struct walk *w, struct str *out)
{
    *out = token_raw(&w->tokens, w->at++);
    return !has_backslash(out->p, out->n) || unescape(w, *out, out);
}

static bool take_string(struct walk *w, uint32_t field, uint32_t *word)
{
    struct str text;
    return take_text(w, &text) && encode_string(&w->packer->encoder, text, field, word, NULL);
}

static bool take_number(struct walk *w, uint32_t *word)
{
    int64_t n;
    double d;
    uint64_t bits;
    size_t at = w->at++;
    if (token_int(&w->tokens, at, &n)) return encode_int(&w->packer->encoder, n, word, NULL);
    if (!token_double(&w->tokens, at, &d)) return false;
    memcpy(&bits, &d, sizeof bits);
    return encode_double(&w->packer->encoder, bits, word, NULL);
}

static bool take_atom(struct walk *w, uint32_t *word)
{
    char atom = token_atom(&w->tokens, w->at++);
    *word = word_make(TAG_SIMPLE, atom == 't' ? SIMPLE_TRUE : atom == 'f' ? SIMPLE_FALSE : SIMPLE_NULL);
    return atom != 0;
}

/* What names the object; the walk stands on the value. A text with escapes is no name. */
static bool identify(struct walk *w, uint32_t field)
{
    struct str *to = field == KEY_NAME               ? &w->id.name
                     : field == KEY_NAMESPACE        ? &w->id.ns
                     : field == KEY_UID              ? &w->id.uid
                     : field == KEY_RESOURCE_VERSION ? &w->id.resource_version
                                                     : NULL;
    if (!to) return true;
    *to = here(w) == '"' ? token_raw(&w->tokens, w->at) : (struct str){NULL, 0};
    return !has_backslash(to->p, to->n);
}

static bool at_match(const struct walk *w)
{
    return w->matched < w->matches.count && w->at == w->matches.part[w->matched].token;
}

/* NULL when there are too many. */
static struct section *keep_section(struct walk *w, struct section section, size_t first, int height,
                                    uint32_t word)
{
    struct packer *p = w->packer;
    if (p->section_count == SECTIONS_MAX || first > SECTION_FIRST_MAX) return NULL;
    section.first = (uint32_t)first & SECTION_FIRST_MAX;
    section.height = (uint32_t)height & 0x7f;
    section.word = word;
    p->section[p->section_count] = section;
    return &p->section[p->section_count++];
}

/* The references in a copied section are counted by the last state, if that lends to no other. */
static void borrow(struct walk *w, struct section *section, size_t number)
{
    if (!section || word_tag(section->word) != TAG_LOCAL || !loan_is_free(w->last)) return;
    section->borrowed = true;
    w->packer->lender = w->last;
    w->packer->lent |= 1u << number;
}

/* What a section of the last state became, again. */
static bool copy_section(struct walk *w, int depth, uint32_t *word)
{
    struct encoder *e = &w->packer->encoder;
    const struct section *found = w->matches.section[w->matched];
    struct section section = *found;
    size_t first = e->used;
    *word = section.word;
    if (depth + (int)section.height > PACK_DEPTH_MAX) return false;
    if (word_tag(*word) == TAG_LOCAL) {
        size_t end = section_end(w->last->words, found);
        if (!encode_copy(e, w->last->words + section.first, end - section.first, NULL)) return false;
        *word = word_make(TAG_LOCAL, (uint32_t)first + word_payload(*word) - section.first);
    }
    section.lent = section.borrowed = false;
    section.at = w->matches.part[w->matched++].from;
    w->at++;
    if (w->deepest < depth + (int)section.height) w->deepest = depth + (int)section.height;
    borrow(w, keep_section(w, section, first, (int)section.height, *word),
           (size_t)(found - root_sections(w->last)));
    return true;
}

/* The value of a field of the object or of its metadata: where its text is long it is a section. */
static bool take_section(struct walk *w, int depth, uint32_t field, uint32_t *word)
{
    if (at_match(w)) return copy_section(w, depth, word);
    const struct tokens *t = &w->tokens;
    size_t from = w->at, first = w->packer->encoder.used;
    int outer = w->deepest;
    w->deepest = depth;
    if (!take_value(w, depth, field, word)) return false;
    uint32_t length = t->at[w->at - 1] + 1 - t->at[from];
    if (length >= SECTION_MIN && length <= SECTION_LENGTH_MAX &&
        (t->text[t->at[from]] == '{' || t->text[t->at[from]] == '['))
        keep_section(w, section_make((struct str){t->text, t->at[t->count]}, t->at[from], length), first,
                     w->deepest - depth, *word);
    if (w->deepest < outer) w->deepest = outer;
    return true;
}

/* Whether what stands in the map of this depth may be a section. */
static bool has_sections(const struct walk *w, int depth)
{
    return depth == (w->in_metadata ? 2 : 1);
}

static bool take_entry(struct walk *w, int depth)
{
    struct packer *p = w->packer;
    struct str key;
    uint32_t field, word;
    if (here(w) != '"' || !take_text(w, &key) || !pack_key(p, key, &field)) return false;
    if (here(w) != ':') return false;
    w->at++;
    if (depth == 2 && w->in_metadata && !identify(w, field)) return false;
    uint32_t path = w->path;
    w->path = (path + field) * 0x9e3779b1u;
    if (!(has_sections(w, depth) ? take_section : take_value)(w, depth + 1, field, &word)) return false;
    w->path = path;
    encode_value(&p->encoder, word);
    return true;
}

/* Steps over the comma or the bracket behind an entry: true when there are more. */
static inline bool take_more(struct walk *w, char close, bool *well)
{
    char c = here(w);
    w->at++;
    *well = c == ',' || c == close;
    return c == ',';
}

static bool take_map(struct walk *w, int depth, uint32_t *word)
{
    struct open open = encode_open(&w->packer->encoder);
    bool well = true;
    w->at++;
    if (here(w) == '}') {
        w->at++;
    } else {
        do {
            if (!take_entry(w, depth)) return false;
        } while (take_more(w, '}', &well));
    }
    return well && encode_map(&w->packer->encoder, open, depth > 2, word, NULL);
}

static bool take_array(struct walk *w, int depth, uint32_t *word)
{
    struct open open = encode_open(&w->packer->encoder);
    bool well = true;
    w->at++;
    if (here(w) == ']') {
        w->at++;
    } else {
        do {
            uint32_t item;
            if (!take_value(w, depth + 1, DICT_NONE, &item)) return false;
            encode_item(&w->packer->encoder, item);
        } while (take_more(w, ']', &well));
    }
    return well && encode_array(&w->packer->encoder, open, true, word, NULL);
}

/* Whether the map or array under the walk has more text than its first bytes: most that have not make no
 * node. */
static bool is_long(const struct walk *w)
{
    const struct tokens *t = &w->tokens;
    uint32_t end = t->at[w->at] + TEXT_CACHE_MIN;
    int open = 0;
    if (end > t->at[t->count]) return false;
    for (size_t i = w->at; t->at[i] < end; i++) {
        char c = t->text[t->at[i]];
        if (c == '{' || c == '[') open++;
        if ((c == '}' || c == ']') && --open == 0) return false;
    }
    return true;
}

/* Whether a section that was left out of the tokens stands in the `length` bytes from here: a known text's
 * count of tokens is not that of what is here then. */
static bool has_match(const struct walk *w, uint32_t length)
{
    const struct section_matches *m = &w->matches;
    return w->matched < m->count && m->part[w->matched].from < w->tokens.at[w->at] + length;
}

static bool recall(struct walk *w, int depth, struct text_places places, uint32_t *word)
{
    const struct tokens *t = &w->tokens;
    const struct text_entry *known = text_cache_find(&w->packer->encoder.pool->subtrees, places,
                                                     t->text + t->at[w->at], t->at[t->count] - t->at[w->at]);
    if (!known || depth + (int)known->height > PACK_DEPTH_MAX) return false;
    if (has_match(w, known->length) || known->tokens > t->count - w->at) return false;
    w->at += known->tokens;
    w->deepest = w->deepest > depth + (int)known->height ? w->deepest : depth + (int)known->height;
    *word = word_make(TAG_REF, known->granule);
    return true;
}

/* Of the subtrees in a node that is remembered itself only those are worth it that stand in others too: what
 * was there before, in one that was not. */
static void drop_inner(struct packer *p, uint32_t from, bool fresh)
{
    size_t kept = p->found_count;
    while (kept > 0 && p->found[kept - 1].from > from) kept--;
    for (size_t i = kept; i < p->found_count; i++) {
        if (fresh && !p->found[i].fresh) p->found[kept++] = p->found[i];
    }
    p->found_count = kept;
}

static void note_node(struct walk *w, size_t from, int height, struct text_places places, uint32_t granule)
{
    struct packer *p = w->packer;
    const struct encoder *e = &p->encoder;
    const struct tokens *t = &w->tokens;
    bool fresh = e->fresh_count > 0 && e->fresh[e->fresh_count - 1] == granule;
    drop_inner(p, (uint32_t)from, fresh);
    if (p->found_count == PACK_FOUND_MAX || w->at - from > TEXT_CACHE_TOKENS_MAX) return;
    text_cache_expect(&e->pool->subtrees, places, granule);
    p->found[p->found_count++] = (struct found_text){
        .places = places,
        .from = (uint32_t)from,
        .fresh = fresh,
        .entry = {.length = t->at[w->at - 1] + 1 - t->at[from],
                  .tokens = (w->at - from) & TEXT_CACHE_TOKENS_MAX,
                  .height = (uint8_t)height,
                  .granule = granule},
    };
}

static void remember_found(struct walk *w)
{
    const struct packer *p = w->packer;
    if (w->matched > 0) return; /* what is new in a known object is hardly ever seen again in another */
    for (size_t i = 0; i < p->found_count; i++) {
        const struct found_text *found = &p->found[i];
        node_set_text(p->encoder.pool, found->places, w->tokens.text + w->tokens.at[found->from],
                      &found->entry);
    }
}

static bool walk_container(struct walk *w, int depth, uint32_t *word)
{
    return here(w) == '{' ? take_map(w, depth, word) : take_array(w, depth, word);
}

/* One that may be a node; its text is looked for first. */
static bool take_long(struct walk *w, int depth, uint32_t *word)
{
    size_t from = w->at;
    struct text_places places = text_places(w->tokens.text + w->tokens.at[from], w->anchor);
    if (!recall(w, depth, places, word)) {
        int outer = w->deepest;
        w->deepest = depth;
        if (!walk_container(w, depth, word)) return false;
        if (word_tag(*word) == TAG_REF) note_node(w, from, w->deepest - depth, places, word_payload(*word));
        if (w->deepest < outer) w->deepest = outer;
    }
    if (!w->anchor && word_tag(*word) == TAG_REF) w->anchor = word_payload(*word);
    return true;
}

/* Whether what comes at this path makes nodes: where it did not for some times, it is not looked for. */
static bool take_container(struct walk *w, int depth, uint32_t *word)
{
    if (depth > PACK_DEPTH_MAX) return false;
    if (w->deepest < depth) w->deepest = depth;
    bool array = here(w) == '[';
    if (depth <= 2 && !array) return walk_container(w, depth, word);
    uint8_t *plain = &w->packer->plain[(w->path >> 16 ^ array) % PACK_PATHS];
    if (!(*plain < PLAIN_OFTEN && is_long(w) ? take_long : walk_container)(w, depth, word)) return false;
    if (word_tag(*word) == TAG_REF) {
        *plain = 0;
    } else if (*plain < PLAIN_OFTEN) {
        ++*plain;
    }
    return true;
}

static bool take_value(struct walk *w, int depth, uint32_t field, uint32_t *word)
{
    switch (here(w)) {
    case '"': return take_string(w, field, word);
    case '{':
    case '[': return take_container(w, depth, word);
    case 't':
    case 'f':
    case 'n': return take_atom(w, word);
    default: return w->at < w->tokens.count && take_number(w, word);
    }
}

/* kind and apiVersion before all else. */
static bool take_type(struct walk *w, const struct pack_type *type, struct pack_said *said)
{
    *said = (struct pack_said){{NULL, 0}, {NULL, 0}};
    for (;;) {
        if (here(w) != '"') return false;
        struct str key = token_raw(&w->tokens, w->at);
        struct str *to = str_is(key, "kind")         ? &said->kind
                         : str_is(key, "apiVersion") ? &said->api_version
                                                     : NULL;
        if (!to) break;
        if (to->p || token_type(&w->tokens, w->at + 1) != ':' || token_type(&w->tokens, w->at + 2) != '"')
            return false;
        *to = token_raw(&w->tokens, w->at + 2);
        if (has_backslash(to->p, to->n) || token_type(&w->tokens, w->at + 3) != ',') return false;
        w->at += 4;
    }
    w->id.kind = said->kind.p && !type->always ? said->kind : type->kind;
    w->id.api_version = said->api_version.p && !type->always ? said->api_version : type->api_version;
    return w->id.kind.n > 0 && w->id.api_version.n > 0;
}

static bool take_field(struct walk *w, bool *has_metadata)
{
    if (here(w) != '"') return false;
    struct str key = token_raw(&w->tokens, w->at);
    if (str_is(key, "kind") || str_is(key, "apiVersion")) return false;
    bool metadata = str_is(key, "metadata");
    if (w->metadata_only && !metadata) return false;
    if (metadata) {
        if (*has_metadata || token_type(&w->tokens, w->at + 2) != '{') return false;
        w->in_metadata = *has_metadata = true;
    }
    bool ok = take_entry(w, 1);
    w->in_metadata = false;
    return ok;
}

static bool take_root(struct walk *w, const struct pack_type *type, struct pack_said *said, uint32_t *word)
{
    struct packer *p = w->packer;
    bool well, has_metadata = false;
    if (here(w) != '{') return false;
    w->at++;
    if (!take_type(w, type, said)) return false;
    struct open open = encode_open(&p->encoder);
    if (!pack_type_field(p, STR("apiVersion"), w->id.api_version)) return false;
    if (!pack_type_field(p, STR("kind"), w->id.kind)) return false;
    do {
        if (!take_field(w, &has_metadata)) return false;
    } while (take_more(w, '}', &well));
    if (!well || w->at != w->tokens.count || w->matched != w->matches.count || w->id.name.n == 0)
        return false;
    return encode_map(&p->encoder, open, false, word, NULL);
}

/* The tokens of the text, but for its sections that the last state had. */
static bool find_tokens(struct walk *w, struct str text, const struct pack_mark *mark)
{
    struct packer *p = w->packer;
    w->last = root_of_head(p->encoder.pool, mark->head);
    if (w->last) sections_match(w->last, text, &w->matches);
    return w->matches.count > 0
               ? tokens_find_around(p->tokens, text, w->matches.part, w->matches.count, &w->tokens)
               : tokens_find(p->tokens, text.p, text.n, &w->tokens);
}

bool pack_tokens(struct packer *p, struct str text, const struct pack_type *type,
                 const struct pack_mark *mark, struct pack_said *said, struct root **out)
{
    struct walk w = {.packer = p, .metadata_only = type->projection != NULL};
    struct pack_said unasked;
    uint32_t word;
    *out = NULL;
    if (type->projection && !projection_is_metadata(type->projection)) return false;
    if (!find_tokens(&w, text, mark)) return false;
    p->err = NULL;
    p->found_count = p->section_count = 0;
    p->lender = NULL;
    p->lent = 0;
    bool done =
        take_root(&w, type, said ? said : &unasked, &word) && pack_intern_root(p, &w.id, word, text.n, out);
    if (done) remember_found(&w);
    encoder_reset(&p->encoder);
    return done;
}

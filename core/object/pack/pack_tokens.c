/* Packing from the tokens of a text, without a tape; see pack.h. Sections of the object's last state are
 * copied, and subtrees with a known text are found by that text. Unusual or malformed objects are left to the
 * tape. */
#include <string.h>

#include "object/pack/intern.h"
#include "object/pack/pack_internal.h"
#include "object/pack/pack_segments.h"
#include "object/value/dict.h"

enum {
    PLAIN_OFTEN = 4,
    STRANGERS = 8,           /* keys without a number in a row, after which none of their map gets one */
    SCRATCH_KEPT = 64 << 10, /* bytes, between two objects */
};

bool walk_unescape(struct walk *w, struct str raw, struct str *out)
{
    struct buf *scratch = &w->packer->scratch;
    scratch->len = 0;
    out->p = buf_reserve(scratch, raw.n);
    return token_unescape(raw, scratch->data, &out->n);
}

static bool take_string(struct walk *w, uint32_t field, uint32_t *word)
{
    struct str text;
    return walk_text(w, &text) && encode_string(&w->packer->encoder, text, field, word, NULL);
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

/* A string with escapes is not a name. */
bool walk_take_identity(struct walk *w, uint32_t field)
{
    struct str *to = field == KEY_NAME        ? &w->id.name
                     : field == KEY_NAMESPACE ? &w->id.ns
                     : field == KEY_UID       ? &w->id.uid
                                              : &w->id.resource_version;
    *to = here(w) == '"' ? token_raw(&w->tokens, w->at) : (struct str){NULL, 0};
    return !has_backslash(to->p, to->n);
}

/* Packs a key. Once many in a row of one map got no number, those behind them are stored as they are: the map
 * is data, whose keys would hardly get one. */
static inline bool put_key(struct walk *w, struct str key, int *strangers, uint32_t *field)
{
    if (*strangers == STRANGERS) {
        *field = DICT_NONE;
        return key.n <= PACK_KEY_LENGTH_MAX && encode_own_key(&w->packer->encoder, key, NULL);
    }
    if (!pack_key(w->packer, key, field)) return false;
    *strangers = *field == DICT_NONE ? *strangers + 1 : 0;
    return true;
}

/* Takes the key at the walk, and moves to its value. */
static inline bool take_key(struct walk *w, uint32_t *field)
{
    struct str key;
    if (here(w) != '"' || !walk_text(w, &key) || !pack_key(w->packer, key, field)) return false;
    if (here(w) != ':') return false;
    w->at++;
    return true;
}

static bool take_entry(struct walk *w, int depth, int *strangers)
{
    uint32_t field, word, path = w->path;
    struct str key;
    if (here(w) != '"' || !walk_text(w, &key) || !put_key(w, key, strangers, &field)) return false;
    if (here(w) != ':') return false;
    w->at++;
    w->path = (path + field) * 0x9e3779b1u;
    if (!walk_value(w, depth + 1, field, &word)) return false;
    w->path = path;
    encode_value(&w->packer->encoder, word);
    return true;
}

/* Takes a field of the object or of its metadata. */
static bool take_section(struct walk *w, int depth, uint32_t field, uint32_t *word)
{
    bool done;
    if (walk_find_section(w, depth, word, &done)) return done && *word != ROOT_ABSENT;
    struct section_start start = walk_section_start(w, depth);
    w->large = w->tokens.at[w->tokens.count] >= SEGMENTS_TEXT_MIN ? depth : 0;
    if (!walk_value(w, depth, field, word)) return false;
    w->large = 0;
    walk_section_end(w, &start, *word);
    return true;
}

/* An entry of the object or of a map of the first level. */
static bool take_outer_entry(struct walk *w, int depth)
{
    uint32_t field, word, path = w->path;
    if (!take_key(w, &field)) return false;
    if (depth == 2 && w->in_metadata && !walk_identify(w, field)) return false;
    w->path = (path + field) * 0x9e3779b1u;
    if (!(walk_may_be_section(w, depth) ? take_section(w, depth + 1, field, &word)
                                        : walk_value(w, depth + 1, field, &word)))
        return false;
    w->path = path;
    encode_value(&w->packer->encoder, word);
    return true;
}

static bool take_map(struct walk *w, int depth, uint32_t *word)
{
    struct open open = encode_open(&w->packer->encoder);
    bool well = true;
    int strangers = 0;
    w->at++;
    if (here(w) == '}') {
        w->at++;
    } else {
        do {
            if (!(depth > 2 ? take_entry(w, depth, &strangers) : take_outer_entry(w, depth))) return false;
        } while (walk_more(w, '}', &well));
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
            if (!walk_value(w, depth + 1, DICT_NONE, &item)) return false;
            encode_item(&w->packer->encoder, item);
        } while (walk_more(w, ']', &well));
    }
    return well && encode_array(&w->packer->encoder, open, true, word, NULL);
}

/* Packs the key at the walk, and moves to its value. */
static bool take_large_key(struct large *l, uint32_t *field)
{
    struct walk *w = l->walk;
    struct str raw, key;
    if (here(w) != '"') return false;
    raw = token_raw(&w->tokens, w->at);
    if (!walk_text(w, &key)) return false;
    large_note_key(l, raw, raw.p == key.p);
    if (!put_key(w, key, &l->strangers, field)) return false;
    if (here(w) != ':') return false;
    w->at++;
    return true;
}

static bool take_large_entry(struct large *l)
{
    struct walk *w = l->walk;
    uint32_t field = DICT_NONE, word, path = w->path;
    large_open(l);
    if (l->is_map) {
        if (!take_large_key(l, &field)) return false;
        w->path = (path + field) * 0x9e3779b1u;
    }
    if (!walk_value(w, l->depth + 1, field, &word)) return false;
    w->path = path;
    if (l->is_map)
        encode_value(&w->packer->encoder, word);
    else
        encode_item(&w->packer->encoder, word);
    large_extend(l);
    return true;
}

/* Takes a map or an array, with the segments that the last state has of it. */
static bool take_large(struct walk *w, int depth, uint32_t *word)
{
    struct encoder *e = &w->packer->encoder;
    struct large l = large_begin(w, depth);
    const char close = l.is_map ? '}' : ']';
    const size_t outer = e->referenced;
    bool well = true;
    w->large = 0;
    e->referenced = 0;
    w->at++;
    if (here(w) == close) {
        w->at++;
    } else {
        do {
            if (!large_copy(&l) && !take_large_entry(&l)) return false;
        } while (walk_more(w, close, &well));
    }
    large_close(&l);
    const bool is_plain = e->referenced == 0;
    e->ascends = l.ascends;
    if (!well || !(l.is_map ? encode_map(e, l.open, depth > 2, word, NULL)
                            : encode_array(e, l.open, true, word, NULL)))
        return false;
    if (e->referenced < outer) e->referenced = outer;
    large_end(&l, *word, is_plain);
    return true;
}

static bool walk_container(struct walk *w, int depth, uint32_t *word)
{
    if (depth == w->large) return take_large(w, depth, word);
    return here(w) == '{' ? take_map(w, depth, word) : take_array(w, depth, word);
}

/* Takes a container that may be a node; searches for its text first. */
static bool take_long(struct walk *w, int depth, uint32_t *word)
{
    size_t from = w->at;
    struct text_places places = text_places(w->tokens.text + w->tokens.at[from], w->anchor);
    if (!walk_recall(w, depth, places, word)) {
        int outer = w->deepest;
        w->deepest = depth;
        if (!walk_container(w, depth, word)) return false;
        if (word_tag(*word) == TAG_REF) walk_note(w, from, w->deepest - depth, places, word_payload(*word));
        if (w->deepest < outer) w->deepest = outer;
    }
    if (!w->anchor && word_tag(*word) == TAG_REF) w->anchor = word_payload(*word);
    return true;
}

/* Takes a map or array. At a path where values repeatedly made no nodes, known texts are not searched for. */
static bool take_container(struct walk *w, int depth, uint32_t *word)
{
    if (depth > PACK_DEPTH_MAX) return false;
    if (w->deepest < depth) w->deepest = depth;
    bool array = here(w) == '[';
    if (w->close || (depth <= 2 && !array)) return walk_container(w, depth, word);
    uint8_t *plain = &w->packer->plain[(w->path >> 16 ^ array) % PACK_PATHS];
    if (!(*plain < PLAIN_OFTEN && walk_is_long(w) ? take_long : walk_container)(w, depth, word)) return false;
    if (word_tag(*word) == TAG_REF) {
        *plain = 0;
    } else if (*plain < PLAIN_OFTEN) {
        ++*plain;
    }
    return true;
}

bool walk_value(struct walk *w, int depth, uint32_t field, uint32_t *word)
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
static bool take_type(struct walk *w, const struct pack_type *type, struct pack_own_type *own_type)
{
    *own_type = (struct pack_own_type){{NULL, 0}, {NULL, 0}};
    for (;;) {
        if (here(w) != '"') return false;
        struct str key = token_raw(&w->tokens, w->at);
        struct str *to = str_is(key, "kind")         ? &own_type->kind
                         : str_is(key, "apiVersion") ? &own_type->api_version
                                                     : NULL;
        if (!to) break;
        if (to->p || token_type(&w->tokens, w->at + 1) != ':' || token_type(&w->tokens, w->at + 2) != '"')
            return false;
        *to = token_raw(&w->tokens, w->at + 2);
        if (has_backslash(to->p, to->n) || token_type(&w->tokens, w->at + 3) != ',') return false;
        w->at += 4;
    }
    w->id.kind = own_type->kind.p && !type->always ? own_type->kind : type->kind;
    w->id.api_version = own_type->api_version.p && !type->always ? own_type->api_version : type->api_version;
    return w->id.kind.n > 0 && w->id.api_version.n > 0;
}

static bool take_field(struct walk *w, bool *has_metadata)
{
    if (here(w) != '"') return false;
    struct str key = token_raw(&w->tokens, w->at);
    /* With escapes it may be one of these. */
    if (str_is(key, "kind") || str_is(key, "apiVersion") || has_backslash(key.p, key.n)) return false;
    bool metadata = str_is(key, "metadata");
    if (metadata) {
        if (*has_metadata || token_type(&w->tokens, w->at + 2) != '{') return false;
        w->in_metadata = *has_metadata = true;
    }
    bool ok = take_outer_entry(w, 1);
    w->in_metadata = false;
    return ok;
}

static bool take_root(struct walk *w, const struct pack_type *type, struct pack_own_type *own_type,
                      uint32_t *word)
{
    struct packer *p = w->packer;
    bool well, has_metadata = false;
    if (here(w) != '{') return false;
    w->at++;
    if (!take_type(w, type, own_type)) return false;
    struct open open = encode_open(&p->encoder);
    if (!pack_type(p, &w->id)) return false;
    do {
        if (!(w->projection ? walk_kept_field(w, &has_metadata) : take_field(w, &has_metadata))) return false;
    } while (walk_more(w, '}', &well));
    if (!well || w->at != w->tokens.count || w->matched != w->matches.count || w->id.name.n == 0)
        return false;
    return encode_map(&p->encoder, open, false, word, NULL);
}

bool pack_tokens(struct packer *p, struct str text, const struct pack_type *type,
                 const struct pack_mark *mark, struct pack_own_type *own_type, struct root **out)
{
    struct walk w = {.packer = p, .projection = type->projection};
    struct pack_own_type ignored;
    uint32_t word;
    *out = NULL;
    if (!walk_find_tokens(&w, text, mark)) return false;
    p->err = NULL;
    p->found_count = 0;
    pack_begin(p, type->projection);
    bool done = take_root(&w, type, own_type ? own_type : &ignored, &word) &&
                pack_intern_root(p, &w.id, word, text.n, out);
    if (done) walk_remember(&w);
    encoder_reset(&p->encoder);
    if (p->scratch.cap > SCRATCH_KEPT) buf_clear(&p->scratch);
    return done;
}

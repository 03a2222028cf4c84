/* Packing of what a projection keeps, from tokens; see pack_internal.h. pack_projected.c has the same from
 * the tape. */
#include "base/mem.h"
#include "object/pack/pack_internal.h"
#include "object/value/dict.h"

/* A value that stands at a token. */
struct token_value {
    struct projection_value value;
    struct walk *walk;
};

/* Returns the token behind the value at token `i`; 0 if it is none. The walk does not move. */
static size_t behind(struct walk *w, size_t i)
{
    size_t at = w->at;
    w->at = i;
    size_t next = walk_over(w) ? w->at : 0;
    w->at = at;
    return next;
}

/* Keys with escapes are left to the tape, and so is what comes twice. */
static bool field_is(const struct projection_value *value, struct str name, struct str expected)
{
    struct walk *w = container_of(value, struct token_value, value)->walk;
    const struct tokens *t = &w->tokens;
    bool is = false, seen = false;
    if (here(w) != '{') return false;
    for (size_t i = w->at + 1; token_type(t, i) == '"'; i++) {
        struct str key = token_raw(t, i);
        struct str text = token_type(t, i + 2) == '"' ? token_raw(t, i + 2) : (struct str){NULL, 0};
        if (has_backslash(key.p, key.n)) w->is_unsure = true;
        if (str_eq(key, name)) {
            if (seen || has_backslash(text.p, text.n)) w->is_unsure = true;
            is = text.p && str_eq(text, expected);
            seen = true;
        }
        i = behind(w, i + 2);
        if (i == 0 || token_type(t, i) != ',') break;
    }
    return is;
}

/* Enters the value at the walk. */
static bool enter(struct walk *w, struct projection_state state, struct str key, int depth,
                  struct projection_state *below)
{
    char type = here(w);
    *below = state;
    if (projection_is_done(state)) return true;
    const struct token_value v = {{type == '{' || type == '[', field_is}, w};
    return projection_enter(w->projection, (size_t)depth - 1, state, key, &v.value, below);
}

/* Takes the key at the walk, and moves to its value. */
static bool take_key(struct walk *w, struct str *key)
{
    if (here(w) != '"' || !walk_text(w, key) || here(w) != ':') return false;
    w->at++;
    return true;
}

/* Takes a field of the object or of its metadata. */
static bool take_section(struct walk *w, struct projection_state state, int depth, uint32_t field,
                         uint32_t *word)
{
    bool done;
    if (walk_find_section(w, depth, word, &done)) return done && *word != ROOT_ABSENT;
    struct section_start start = walk_section_start(w, depth);
    if (!walk_kept(w, state, depth, field, word)) return false;
    walk_section_end(w, &start, *word);
    return true;
}

/* Steps over such a field; if it is long, it is a section too. */
static bool drop_section(struct walk *w, int depth)
{
    bool done;
    uint32_t word;
    if (walk_find_section(w, depth, &word, &done)) return done && word == ROOT_ABSENT;
    struct section_start start = walk_section_start(w, depth);
    if (!walk_over(w)) return false;
    walk_section_end(w, &start, ROOT_ABSENT);
    return true;
}

static bool take_entry(struct walk *w, struct projection_state state, struct str key, int depth)
{
    struct packer *p = w->packer;
    struct projection_state below = state;
    uint32_t field, word, path = w->path;
    bool section = walk_may_be_section(w, depth);
    const struct section *known = section ? walk_at_section(w) : NULL; /* has no tokens to look into */
    if (known ? known->word == ROOT_ABSENT : !enter(w, state, key, depth, &below))
        return section ? drop_section(w, depth + 1) : walk_over(w);
    if (!pack_key(p, key, &field)) return false;
    if (depth == 2 && w->in_metadata && !walk_identify(w, field)) return false;
    w->path = (path + field) * 0x9e3779b1u;
    if (!(section ? take_section(w, below, depth + 1, field, &word)
                  : walk_kept(w, below, depth + 1, field, &word)))
        return false;
    w->path = path;
    encode_value(&p->encoder, word);
    return true;
}

static bool take_map(struct walk *w, struct projection_state state, int depth, uint32_t *word)
{
    struct open open = encode_open(&w->packer->encoder);
    struct str key;
    bool well = true;
    w->at++;
    if (here(w) == '}') {
        w->at++;
    } else {
        do {
            if (!take_key(w, &key) || !take_entry(w, state, key, depth)) return false;
        } while (walk_more(w, '}', &well));
    }
    return well && encode_map(&w->packer->encoder, open, depth > 2, word, NULL);
}

static bool take_item(struct walk *w, struct projection_state state, int depth)
{
    struct projection_state below;
    struct str none = {0};
    uint32_t item;
    if (!enter(w, state, none, depth, &below)) return walk_over(w);
    if (!walk_kept(w, below, depth + 1, DICT_NONE, &item)) return false;
    encode_item(&w->packer->encoder, item);
    return true;
}

static bool take_array(struct walk *w, struct projection_state state, int depth, uint32_t *word)
{
    struct open open = encode_open(&w->packer->encoder);
    bool well = true;
    w->at++;
    if (here(w) == ']') {
        w->at++;
    } else {
        do {
            if (!take_item(w, state, depth)) return false;
        } while (walk_more(w, ']', &well));
    }
    return well && encode_array(&w->packer->encoder, open, true, word, NULL);
}

bool walk_kept(struct walk *w, struct projection_state state, int depth, uint32_t field, uint32_t *word)
{
    char type = here(w);
    if (w->is_unsure) return false;
    if (projection_is_done(state) || (type != '{' && type != '[')) return walk_value(w, depth, field, word);
    if (depth > PACK_DEPTH_MAX) return false;
    if (w->deepest < depth) w->deepest = depth;
    return type == '{' ? take_map(w, state, depth, word) : take_array(w, state, depth, word);
}

bool walk_kept_field(struct walk *w, bool *has_metadata)
{
    struct projection_state state = {.keep = true};
    struct str key, raw = here(w) == '"' ? token_raw(&w->tokens, w->at) : (struct str){NULL, 0};
    if (w->projection) state = projection_start(w->projection);
    if (has_backslash(raw.p, raw.n) || !take_key(w, &key)) return false;
    if (str_is(key, "kind") || str_is(key, "apiVersion")) return w->close && walk_over(w);
    if (str_is(key, "metadata")) {
        if (*has_metadata || here(w) != '{') return false;
        w->in_metadata = *has_metadata = true;
    }
    bool ok = take_entry(w, state, key, 1);
    w->in_metadata = false;
    return ok;
}

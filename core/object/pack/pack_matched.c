/* Packing of an object whose brackets are matched (token_match), or of its projection: a dropped field is
 * skipped in one step, whatever its content; see pack.h. The text is not recorded: this is for objects that
 * are seen once. */
#include "base/mem.h"
#include "object/pack/pack_internal.h"
#include "object/parse/token.h"
#include "object/value/dict.h"

/* A value that stands at a token. */
struct token_value {
    struct projection_value value;
    struct walk *walk;
};

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
        i = token_behind(t, w->close, i + 2);
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

static bool step_over(struct walk *w)
{
    w->at = token_behind(&w->tokens, w->close, w->at);
    return w->at > 0 && !w->is_unsure;
}

static bool take_value(struct walk *w, struct projection_state state, int depth, uint32_t field,
                       uint32_t *word);

/* Takes the key at the walk, and moves to its value. */
static bool take_key(struct walk *w, struct str *key)
{
    if (here(w) != '"') return false;
    *key = token_raw(&w->tokens, w->at);
    w->at += 2;
    return token_type(&w->tokens, w->at - 1) == ':' && !has_backslash(key->p, key->n);
}

static bool take_entry(struct walk *w, struct projection_state state, struct str key, int depth)
{
    struct packer *p = w->packer;
    struct projection_state below;
    uint32_t field, word;
    if (!enter(w, state, key, depth, &below)) return step_over(w);
    if (!pack_key(p, key, &field)) return false;
    if (depth == 2 && w->in_metadata && !walk_identify(w, field)) return false;
    if (!take_value(w, below, depth + 1, field, &word)) return false;
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
    if (!enter(w, state, none, depth, &below)) return step_over(w);
    if (!take_value(w, below, depth + 1, DICT_NONE, &item)) return false;
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

static bool take_value(struct walk *w, struct projection_state state, int depth, uint32_t field,
                       uint32_t *word)
{
    char type = here(w);
    if (w->is_unsure) return false;
    if (projection_is_done(state) || (type != '{' && type != '[')) return walk_value(w, depth, field, word);
    if (depth > PACK_DEPTH_MAX) return false;
    return type == '{' ? take_map(w, state, depth, word) : take_array(w, state, depth, word);
}

/* An entry of the object itself; its type was taken already. */
static bool take_field(struct walk *w, struct projection_state state, bool *has_metadata)
{
    struct str key;
    if (!take_key(w, &key)) return false;
    if (str_is(key, "kind") || str_is(key, "apiVersion")) return step_over(w);
    if (str_is(key, "metadata")) {
        if (*has_metadata || here(w) != '{') return false;
        w->in_metadata = *has_metadata = true;
    }
    bool ok = take_entry(w, state, key, 1);
    w->in_metadata = false;
    return ok;
}

static bool take_root(struct walk *w, uint32_t *word)
{
    struct packer *p = w->packer;
    struct projection_state state = {.keep = true};
    if (w->projection) state = projection_start(w->projection);
    bool well, has_metadata = false;
    struct open open = encode_open(&p->encoder);
    w->at++;
    if (!pack_type(p, &w->id)) return false;
    do {
        if (!take_field(w, state, &has_metadata)) return false;
    } while (walk_more(w, '}', &well));
    return well && w->id.name.n > 0 && encode_map(&p->encoder, open, false, word, NULL);
}

bool pack_matched(struct packer *p, const struct tokens *tokens, const uint32_t *close, size_t at,
                  const struct pack_type *type, struct root **out)
{
    struct walk w = {
        .packer = p, .tokens = *tokens, .close = close, .at = at, .projection = type->projection};
    uint32_t word;
    *out = NULL;
    if (!type->always || !type->kind.n || !type->api_version.n) return false;
    if (here(&w) != '{' || !close[at]) return false;
    w.id.kind = type->kind;
    w.id.api_version = type->api_version;
    p->err = NULL;
    pack_begin(p, type->projection);
    bool done = take_root(&w, &word) && w.at == close[at] + 1 && pack_intern_root(p, &w.id, word, 0, out);
    encoder_reset(&p->encoder);
    return done;
}

/* Packing of an object whose brackets are matched (token_match), or of its projection: a dropped field is
 * skipped in one step, whatever its content; see pack.h. The text is not recorded: this is for objects that
 * are seen once. */
#include "object/pack/pack_internal.h"

static bool take_root(struct walk *w, uint32_t *word)
{
    struct packer *p = w->packer;
    bool well, has_metadata = false;
    struct open open = encode_open(&p->encoder);
    w->at++;
    if (!pack_type(p, &w->id)) return false;
    do {
        if (!walk_kept_field(w, &has_metadata)) return false;
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

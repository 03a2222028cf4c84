/* Subtrees with a known text, of any object: found without being walked; see text_cache.h. */
#include "object/pack/pack_internal.h"

bool walk_is_long(const struct walk *w)
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

/* Returns whether a section without tokens is within the `length` bytes from here: then the token count of a
 * known text is wrong here. */
static bool has_match(const struct walk *w, uint32_t length)
{
    const struct section_matches *m = &w->matches;
    return w->matched < m->count && m->part[w->matched].from < w->tokens.at[w->at] + length;
}

bool walk_recall(struct walk *w, int depth, struct text_places places, uint32_t *word)
{
    const struct tokens *t = &w->tokens;
    const struct text_entry *known = text_cache_find(&w->packer->encoder.pool->subtrees, places,
                                                     t->text + t->at[w->at], t->at[t->count] - t->at[w->at]);
    if (!known || depth + (int)known->height > PACK_DEPTH_MAX) return false;
    /* Token counts of the text are wrong then, and the walk would continue at the wrong token. */
    if (has_match(w, known->length) || known->tokens > t->count - w->at) return false;
    w->at += known->tokens;
    w->deepest = w->deepest > depth + (int)known->height ? w->deepest : depth + (int)known->height;
    *word = word_make(TAG_REF, known->granule);
    encode_referenced(&w->packer->encoder);
    return true;
}

/* Drops the subtrees inside a recorded node, except those that other nodes have too: an older one inside a
 * newer. */
static void drop_inner(struct packer *p, uint32_t from, bool fresh)
{
    size_t kept = p->found_count;
    while (kept > 0 && p->found[kept - 1].from > from) kept--;
    for (size_t i = kept; i < p->found_count; i++) {
        if (fresh && !p->found[i].fresh) p->found[kept++] = p->found[i];
    }
    p->found_count = kept;
}

void walk_note(struct walk *w, size_t from, int height, struct text_places places, uint32_t granule)
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

void walk_remember(struct walk *w)
{
    const struct packer *p = w->packer;
    if (w->copied > 0) return; /* what is new in a known object is hardly ever seen again in another */
    for (size_t i = 0; i < p->found_count; i++) {
        const struct found_text *found = &p->found[i];
        node_set_text(p->encoder.pool, found->places, w->tokens.text + w->tokens.at[found->from],
                      &found->entry, found->fresh);
    }
}

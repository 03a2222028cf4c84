/* Sections of an object's last state in its next one: found, copied, borrowed; see section.h and loan.h. */
#include "object/pack/loan.h"
#include "object/pack/pack_walk.h"

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

bool walk_section(struct walk *w, int depth, uint32_t field, uint32_t *word)
{
    if (at_match(w)) return copy_section(w, depth, word);
    const struct tokens *t = &w->tokens;
    size_t from = w->at, first = w->packer->encoder.used;
    int outer = w->deepest;
    w->deepest = depth;
    if (!walk_value(w, depth, field, word)) return false;
    uint32_t length = t->at[w->at - 1] + 1 - t->at[from];
    if (length >= SECTION_MIN && length <= SECTION_LENGTH_MAX &&
        (t->text[t->at[from]] == '{' || t->text[t->at[from]] == '['))
        keep_section(w, section_make((struct str){t->text, t->at[t->count]}, t->at[from], length), first,
                     w->deepest - depth, *word);
    if (w->deepest < outer) w->deepest = outer;
    return true;
}

bool walk_find_tokens(struct walk *w, struct str text, const struct pack_mark *mark)
{
    struct packer *p = w->packer;
    w->last = root_of_head(p->encoder.pool, mark->head);
    if (w->last) sections_match(w->last, text, &w->matches);
    return w->matches.count > 0
               ? tokens_find_around(p->tokens, text, w->matches.part, w->matches.count, &w->tokens)
               : tokens_find(p->tokens, text.p, text.n, &w->tokens);
}

/* Sections of an object's last state in its next one: found, copied, borrowed; see section.h and loan.h. */

#include "base/hash.h"
#include "object/pack/intern.h"
#include "object/pack/loan.h"
#include "object/pack/pack_internal.h"
#include "object/pack/section.h"

static bool at_match(const struct walk *w)
{
    return w->matched < w->matches.count && w->at == w->matches.part[w->matched].token;
}

/* Adds a section; returns NULL if there are too many. */
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

/* Copies the node of an unchanged section from the last state. */
static bool copy_section(struct walk *w, int depth, uint32_t *word)
{
    struct encoder *e = &w->packer->encoder;
    const struct section *found = w->matches.section[w->matched];
    struct section section = *found;
    size_t first = e->used;
    *word = section.word;
    /* The same section may be deeper in this text than in the last one. */
    if (depth + (int)section.height > PACK_DEPTH_MAX) return false;
    if (word_tag(*word) == TAG_LOCAL) {
        size_t end = section_end(w->last->words, found);
        if (!encode_copy(e, w->last->words + section.first, end - section.first, NULL)) return false;
        /* Distances inside the copy are unchanged; only its own position differs. */
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

/* --- Parts of texts seen again */

static uint64_t hash_of(const struct section *section)
{
    return (uint64_t)section->hash[1] << 32 | section->hash[0];
}

static bool is_bracket(char open, char close)
{
    return (open == '{' && close == '}') || (open == '[' && close == ']');
}

/* Returns whether the section's text is at `at`, after `from`. */
static bool stands_at(const struct section *section, struct str text, int64_t at, int64_t from)
{
    uint32_t length = section->length;
    if (at < from || at + length >= (int64_t)text.n) return false;
    const char *p = text.p + at;
    /* Two bytes reject most positions without hashing. The hash is 64 bits, seeded, so no text can be built
     * to collide. */
    return is_bracket(p[0], p[length - 1]) && hash_bytes(p, length) == hash_of(section);
}

void sections_match(const struct root *root, struct str text, struct section_matches *matches)
{
    const struct section *section = root_sections(root);
    /* One change in the text moves everything behind it by the same distance, so two positions are tried and
     * no search is needed. */
    int64_t shift = 0, from = 1, longer = (int64_t)text.n - root->text_length;
    matches->count = 0;
    for (const struct section *end = section + root->section_count; section < end; section++) {
        if (!stands_at(section, text, section->at + shift, from)) {
            if (shift == longer || !stands_at(section, text, section->at + longer, from)) continue;
            shift = longer;
        }
        uint32_t at = (uint32_t)(section->at + shift);
        matches->part[matches->count] = (struct token_part){.from = at, .length = section->length};
        matches->section[matches->count++] = section;
        from = (int64_t)at + section->length;
    }
}

size_t section_end(const uint32_t *words, const struct section *section)
{
    uint32_t top = word_payload(section->word);
    return top + blob_words(words[top]);
}

struct section section_make(struct str object, uint32_t at, uint32_t length)
{
    uint64_t hash = hash_bytes(object.p + at, length);
    return (struct section){
        .hash = {(uint32_t)hash, (uint32_t)(hash >> 32)},
        .at = at,
        .length = length & SECTION_LENGTH_MAX,
    };
}

/* Sections of an object's last state in its next one: found, copied, borrowed; see section.h and loan.h. */
#include "base/array.h"
#include "base/hash.h"
#include "object/pack/intern.h"
#include "object/pack/loan.h"
#include "object/pack/pack_internal.h"
#include "object/pack/section.h"
#include "object/pack/segment.h"

const struct section *walk_at_section(const struct walk *w)
{
    if (w->matched == w->matches.count || w->at != w->matches.part[w->matched].token) return NULL;
    return w->matches.section[w->matched];
}

/* Adds a section whose words begin at `first`; returns NULL if there are too many. */
static struct section *keep_section(struct packer *p, const struct section *section, size_t first)
{
    if (p->section_count == SECTIONS_MAX || first > SECTION_FIRST_MAX) return NULL;
    struct section *kept = &p->section[p->section_count++];
    *kept = *section;
    kept->first = (uint32_t)first & SECTION_FIRST_MAX;
    return kept;
}

/* The references in a copied section are counted by the last state, if that lends to no other. */
static void borrow(struct walk *w, struct section *section, size_t number)
{
    if (!section || word_tag(section->word) != TAG_LOCAL || !loan_is_free(w->last)) return;
    section->borrowed = true;
    w->packer->lender = w->last;
    w->packer->lent |= 1u << number;
}

static uint32_t number_of(const struct walk *w, const struct section *section)
{
    return (uint32_t)(section - root_sections(w->last));
}

/* A section was copied, which stands at `at` now, and whose words begin at `first`: so are its segments. */
static void carry_segments(struct walk *w, const struct section *section, uint32_t at, size_t first)
{
    struct packer *p = w->packer;
    struct segment_list list = segments_of(p->encoder.pool, w->last);
    for (size_t i = 0; i < list.groups && p->group_count < SECTIONS_MAX; i++) {
        struct segment_group group = list.group[i];
        if (group.at != section->at) continue;
        if (word_tag(group.word) == TAG_LOCAL)
            group.word = word_make(TAG_LOCAL, word_payload(group.word) - section->first + (uint32_t)first);
        if (word_tag(group.word) == TAG_LOCAL) group.first = group.first - section->first + (uint32_t)first;
        const struct segment *from = list.segment + group.segment;
        group.at = at;
        group.segment = (uint32_t)p->segment_count;
        for (size_t k = 0; k < group.count; k++) {
            array_reserve(p->segment, p->segment_count, p->segment_cap);
            p->segment[p->segment_count++] = from[k];
        }
        p->group[p->group_count++] = group;
    }
}

/* Copies what an unchanged section, whose text is at `at`, was in the last state. */
static bool copy_section(struct walk *w, const struct section *found, uint32_t at, int depth, uint32_t *word)
{
    struct encoder *e = &w->packer->encoder;
    struct section section = *found;
    size_t first = e->used;
    int deepest = depth + (int)section.height;
    /* The same section may be deeper in this text than in the last one, where a projection sees another. */
    if (deepest > PACK_DEPTH_MAX) return false;
    if (w->projection && section.in_metadata != w->in_metadata) return false;
    if (word_tag(section.word) == TAG_LOCAL) {
        size_t end = section_end(w->last->words, found);
        if (!encode_copy(e, w->last->words + section.first, end - section.first, NULL)) return false;
        /* Distances inside the copy are unchanged; only its own position differs. */
        section.word = word_make(TAG_LOCAL, (uint32_t)first + word_payload(section.word) - section.first);
    }
    if (w->last->text_length >= SEGMENTS_TEXT_MIN) carry_segments(w, found, at, first);
    encode_referenced(e);
    section.lent = section.borrowed = false;
    section.in_metadata = w->in_metadata;
    section.at = at;
    if (w->deepest < deepest) w->deepest = deepest;
    uint32_t number = (uint32_t)(found - root_sections(w->last));
    w->copied = number + 1;
    *word = section.word;
    borrow(w, keep_section(w->packer, &section, first), number);
    return true;
}

static bool copy_match(struct walk *w, int depth, uint32_t *word)
{
    const struct section *found = walk_at_section(w);
    uint32_t at = w->matches.part[w->matched++].from;
    w->at++;
    return copy_section(w, found, at, depth, word);
}

/* Returns the section of the last state that stands here, between two changes: where sections_match does not
 * look. It keeps the order of the sections, which loans need. */
static const struct section *section_here(const struct walk *w)
{
    const struct section *s = root_sections(w->last);
    uint32_t at = w->tokens.at[w->at], longer = w->tokens.at[w->tokens.count] - w->last->text_length;
    uint32_t end =
        w->matched < w->matches.count ? number_of(w, w->matches.section[w->matched]) : w->last->section_count;
    struct str text = {w->tokens.text, w->tokens.at[w->tokens.count]};
    for (uint32_t i = w->copied; i < end; i++) {
        bool known = s[i].at == at || s[i].at + longer == at; /* it was searched for there */
        if (!known && section_stands_at(&s[i], text, at, 1)) return &s[i];
    }
    return NULL;
}

void walk_leap(struct walk *w, uint32_t end)
{
    size_t low = w->at, high = w->tokens.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->tokens.at[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    w->at = low;
}

bool walk_find_section(struct walk *w, int depth, uint32_t *word, bool *done)
{
    if (walk_at_section(w)) {
        *done = copy_match(w, depth, word);
        return true;
    }
    const struct section *found = w->last ? section_here(w) : NULL;
    if (!found) return false;
    uint32_t at = w->tokens.at[w->at];
    walk_leap(w, at + found->length);
    *done = copy_section(w, found, at, depth, word);
    return true;
}

struct section_start walk_section_start(struct walk *w, int depth)
{
    struct section_start start = {w->at, w->packer->encoder.used, depth, w->deepest};
    w->deepest = depth;
    return start;
}

void walk_section_end(struct walk *w, const struct section_start *start, uint32_t word)
{
    const struct tokens *t = &w->tokens;
    uint32_t at = t->at[start->token], length = t->at[w->at - 1] + 1 - at, key = at - t->at[start->token - 2];
    int height = w->deepest - start->depth;
    if (w->deepest < start->outer) w->deepest = start->outer;
    size_t least = w->projection && projection_keeps_few(w->projection) ? SECTION_MIN_OF_FEW : SECTION_MIN;
    if (length < least || length > SECTION_LENGTH_MAX || key > SECTION_KEY_MAX) return;
    struct section section = section_make((struct str){t->text, t->at[t->count]}, at, length, key);
    section.in_metadata = w->in_metadata;
    section.height = (uint32_t)height & 0x7f;
    section.word = word;
    keep_section(w->packer, &section, start->first);
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

enum { SEARCHED = 64, SEARCHED_MAX = 2048 }; /* bytes */

static uint64_t hash_of(const struct section *section)
{
    return (uint64_t)section->hash[1] << 32 | section->hash[0];
}

static bool is_bracket(char open, char close)
{
    return (open == '{' && close == '}') || (open == '[' && close == ']');
}

bool section_stands_at(const struct section *section, struct str text, int64_t at, int64_t from)
{
    uint32_t length = section->length, key = section->key;
    if (at - key < from || at + length >= (int64_t)text.n) return false;
    const char *p = text.p + at;
    /* Three bytes reject most positions without hashing. The hash is 64 bits, seeded, so no text can be built
     * to collide. */
    return is_bracket(p[0], p[length - 1]) && p[-(int64_t)key] == '"' &&
           hash_bytes(p - key, (size_t)key + length) == hash_of(section);
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Finds a section by how far it has moved: a few bytes less or more than from `shift` to `longer`, the
 * distances of what is before the first change and of what is after the last one. */
static bool search(const struct section *section, struct str text, int64_t from, int64_t longer,
                   int64_t *shift)
{
    int64_t near = lesser(*shift, longer) - SEARCHED,
            far = *shift + longer - lesser(*shift, longer) + SEARCHED;
    int64_t at = section->at + near, end = lesser(section->at + far + 1, (int64_t)text.n);
    if (far - near > SEARCHED_MAX) return false; /* section_here may find it */
    if (at < from) at = from;
    for (; at < end; at++) {
        if (text.p[at - 1] != ':' || !section_stands_at(section, text, at, from)) continue;
        *shift = at - section->at;
        return true;
    }
    return false;
}

void sections_match(const struct root *root, struct str text, struct section_matches *matches)
{
    const struct section *section = root_sections(root);
    /* One change in the text moves everything behind it by the same distance, so two positions are tried
     * before a search. A text that is as long as before is not searched: usually nothing in it has moved. */
    int64_t shift = 0, from = 1, longer = (int64_t)text.n - root->text_length;
    matches->count = 0;
    for (const struct section *end = section + root->section_count; section < end; section++) {
        if (!section_stands_at(section, text, section->at + shift, from)) {
            if (longer == 0 && shift == 0) continue;
            if (section_stands_at(section, text, section->at + longer, from))
                shift = longer;
            else if (!search(section, text, from, longer, &shift))
                continue;
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

struct section section_make(struct str object, uint32_t at, uint32_t length, uint32_t key)
{
    uint64_t hash = hash_bytes(object.p + at - key, (size_t)key + length);
    return (struct section){
        .hash = {(uint32_t)hash, (uint32_t)(hash >> 32)},
        .at = at,
        .length = length & SECTION_LENGTH_MAX,
        .key = key & SECTION_KEY_MAX,
    };
}

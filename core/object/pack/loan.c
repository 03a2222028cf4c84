/* References that two states of an object share; see loan.h. */
#include "object/pack/loan.h"

#include "base/must.h"
#include "object/pack/segment.h"

static struct section *first_section(const struct root *root)
{
    return (struct section *)(root->words + root->size);
}

static struct section *sections_end(const struct root *root)
{
    return first_section(root) + root->section_count;
}

/* Returns the loan of a root; NULL for one without sections. */
static struct loan *loan_of(const struct root *root)
{
    return root && root->section_count > 0 ? (struct loan *)sections_end(root) : NULL;
}

static struct root *root_at(const struct pool *pool, uint32_t granule)
{
    return granule ? pool_at(pool, granule) : NULL;
}

bool loan_is_free(const struct root *lender)
{
    const struct loan *loan = loan_of(lender);
    return loan && !loan->heir;
}

void loan_make(struct pool *pool, struct root *lender, struct root *heir, uint32_t numbers)
{
    struct loan *lends = loan_of(lender), *takes = loan_of(heir);
    must(pool_is_mine(pool) && lends && takes && !lends->heir && !takes->lender);
    for (uint32_t i = 0; i < lender->section_count; i++) {
        if (numbers >> i & 1) first_section(lender)[i].lent = true;
    }
    lends->heir = granule_of(heir);
    takes->lender = granule_of(lender);
}

typedef void words_fn(struct pool *pool, const uint32_t *words, size_t size);

/* Calls `fn` for words of a large root, without those of containers that are known to have no references. */
static void each_large(struct pool *pool, const struct root *root, size_t from, size_t to, words_fn *fn)
{
    struct segment_list list = segments_of(pool, root);
    for (size_t i = 0; i < list.groups; i++) {
        const struct segment_group *group = &list.group[i];
        if (!group->is_plain || word_tag(group->word) != TAG_LOCAL || group->first < from) continue;
        uint32_t header = word_payload(group->word);
        size_t end = header + blob_words(root->words[header]);
        if (end > to) continue;
        fn(pool, root->words + from, group->first - from);
        from = end;
    }
    fn(pool, root->words + from, to - from);
}

static inline void each_range(struct pool *pool, const struct root *root, size_t from, size_t to,
                              words_fn *fn)
{
    if (root->text_length < SEGMENTS_TEXT_MIN)
        fn(pool, root->words + from, to - from);
    else
        each_large(pool, root, from, to, fn);
}

/* Calls `fn` for the words whose references belong to the root alone, and are not passed on. */
static void each_own(struct pool *pool, const struct root *root, words_fn *fn)
{
    size_t at = 0;
    for (const struct section *s = first_section(root), *end = sections_end(root); s < end; s++) {
        if (!s->borrowed && !s->lent) continue;
        each_range(pool, root, at, s->first, fn);
        at = section_end(root->words, s);
    }
    each_range(pool, root, at, root->size, fn);
}

void loan_retain(struct pool *pool, const struct root *root)
{
    each_own(pool, root, words_retain);
}

static struct section *next_lent(struct section *s)
{
    while (!s->lent) s++;
    return s;
}

static struct section *next_borrowed(struct section *s)
{
    while (!s->borrowed) s++;
    return s;
}

/* Closes the gap between a root's lender and its heir; true when the one lends to the other now. */
static bool settle_loans(const struct root *root, struct root *lender, struct root *heir)
{
    struct section *from = lender ? first_section(lender) : NULL, *to = heir ? first_section(heir) : NULL;
    bool direct = false;
    for (const struct section *s = first_section(root), *end = sections_end(root); s < end; s++) {
        if (s->borrowed) {
            from = next_lent(from);
            from->lent = s->lent;
            from++;
        }
        if (s->lent) {
            to = next_borrowed(to);
            to->borrowed = s->borrowed;
            to++;
        }
        direct |= s->borrowed && s->lent;
    }
    return direct;
}

void loan_release(struct pool *pool, struct root *root)
{
    const struct loan *loan = loan_of(root);
    if (loan && (loan->lender || loan->heir)) {
        struct root *lender = root_at(pool, loan->lender), *heir = root_at(pool, loan->heir);
        bool direct = settle_loans(root, lender, heir);
        if (lender) loan_of(lender)->heir = direct ? loan->heir : 0;
        if (heir) loan_of(heir)->lender = direct ? loan->lender : 0;
    }
    each_own(pool, root, words_release);
}

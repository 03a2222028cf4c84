/* Parts of texts seen again; see section.h. */
#include "object/pack/section.h"

#include "base/hash.h"
#include "object/pack/intern.h"

static uint64_t hash_of(const struct section *section)
{
    return (uint64_t)section->hash[1] << 32 | section->hash[0];
}

static bool is_bracket(char open, char close)
{
    return (open == '{' && close == '}') || (open == '[' && close == ']');
}

/* Whether the section's text stands at `at`, behind `from`. */
static bool stands_at(const struct section *section, struct str text, int64_t at, int64_t from)
{
    uint32_t length = section->length;
    if (at < from || at + length >= (int64_t)text.n) return false;
    const char *p = text.p + at;
    return is_bracket(p[0], p[length - 1]) && hash_bytes(p, length) == hash_of(section);
}

void sections_match(const struct root *root, struct str text, struct section_matches *matches)
{
    const struct section *section = root_sections(root);
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

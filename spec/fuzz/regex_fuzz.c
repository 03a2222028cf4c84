/* Any pattern on any text: a search ends, with spans within the text, or with an error. The input: the
 * pattern, a byte 0xff, the text. */
#include <stdint.h>
#include <string.h>

#include "base/must.h"
#include "base/text/regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *begin = (const char *)data, *cut = size ? memchr(begin, 0xff, size) : NULL;
    struct str pattern = {begin, cut ? (size_t)(cut - begin) : size};
    struct regex_search search = {.text = cut ? (struct str){cut + 1, size - pattern.n - 1} : STR("")};
    struct err err = {0};
    struct regex *regex = regex_new(pattern, &err);
    if (!regex) {
        must(err.text[0]);
        return 0;
    }
    search.is_utf8 = regex_is_utf8(search.text);
    while (regex_find(regex, &search, &err) == REGEX_FOUND) {
        const struct regex_span *span = search.spans;
        must(span->begin <= span->end && span->end <= search.text.n);
        search.from = span->end > search.from ? span->end : search.from + 1;
    }
    regex_free(regex);
    return 0;
}

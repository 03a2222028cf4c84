/* Any pattern on any subject: string.find, match, gmatch and gsub give what LuaJIT's own functions give. The
 * input: a byte that chooses, the pattern, a byte 0xff, the subject, and perhaps another one and a
 * replacement. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "core/script/support/patterns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Beyond these a match may take minutes: each repetition can end anywhere in the subject. */
enum { PATTERN_MAX = 24, SUBJECT_MAX = 24, REPETITIONS_MAX = 4 };

static bool is_slow(struct str pattern)
{
    size_t marks = 0;
    for (size_t i = 0; i < pattern.n; i++) marks += pattern.p[i] && strchr("*+-?", pattern.p[i]);
    return marks > REPETITIONS_MAX * 2; /* one may be what the other repeats */
}

static struct str next(struct str *rest)
{
    struct str part = *rest;
    const char *end = rest->n ? memchr(rest->p, 0xff, rest->n) : NULL;
    if (end) part.n = (size_t)(end - rest->p);
    size_t skip = part.n + (end != NULL);
    rest->p += skip;
    rest->n -= skip;
    return part;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const functions[] = {"find", "match", "gmatch", "gsub"};
    static struct patterns *both;
    if (!both) {
        both = malloc(sizeof *both);
        patterns_init(both);
    }
    if (size == 0) return 0;
    struct str rest = {(const char *)data + 1, size - 1};
    struct pattern_call call = {.pattern = next(&rest), .subject = next(&rest), .text = next(&rest)};
    if (call.pattern.n > PATTERN_MAX || call.subject.n > SUBJECT_MAX || is_slow(call.pattern)) return 0;
    call.function = functions[data[0] & 3];
    call.replacement = (enum replacement_kind)((data[0] >> 2 & 3) % REPLACEMENTS);
    call.has_number = (data[0] & 16) != 0;
    call.number = (data[0] >> 5) - 2;
    if (patterns_agree(both, &call)) return 0;
    fprintf(stderr, "ours gave:\n%sLuaJIT gave:\n%s", buf_text(&both->own), buf_text(&both->expected));
    must(!"ours and LuaJIT's functions differ");
    return 0;
}

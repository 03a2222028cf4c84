/* Bounded searches by PCRE2's interpreter; see regex.h. */
#include "base/text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Of one position at which a match may begin, and of nested groups: beyond the limit of the heap. */
enum { MATCH_MAX = 10000000, DEPTH_MAX = 100000 };

struct regex {
    char *pattern;
    size_t length;
    pcre2_code *utf8;
    pcre2_code *bytes; /* for texts that are no UTF-8; made when there is one */
    pcre2_match_context *context;
    uint32_t captures;
};

/* --- patterns */

static bool compile_error(int code, size_t offset, struct err *err)
{
    PCRE2_UCHAR text[200] = "";
    pcre2_get_error_message(code, text, sizeof text);
    return err_set(err, ERR_INVALID, "%s at offset %zu", (const char *)text, offset);
}

/* Callouts before each item, as PCRE2 counts steps for each position alone. A pattern cannot switch to UTF-8
 * by itself: texts are not checked again. */
static pcre2_code *compile(const char *pattern, size_t length, bool is_utf8, struct err *err)
{
    int code;
    PCRE2_SIZE offset;
    uint32_t options = PCRE2_AUTO_CALLOUT | PCRE2_NEVER_BACKSLASH_C;
    options |= is_utf8 ? PCRE2_UTF | PCRE2_UCP : PCRE2_NEVER_UTF | PCRE2_NEVER_UCP;
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)pattern, length, options, &code, &offset, NULL);
    if (!compiled) compile_error(code, offset, err);
    return compiled;
}

static int on_item(pcre2_callout_block *block, void *ctx);

struct regex *regex_new(struct str pattern, struct err *err)
{
    if (pattern.n > REGEX_PATTERN_MAX) {
        err_set(err, ERR_LIMIT, "a pattern exceeds %d bytes", REGEX_PATTERN_MAX);
        return NULL;
    }
    pcre2_code *utf8 = compile(pattern.n ? pattern.p : "", pattern.n, true, err);
    if (!utf8) return NULL;
    struct regex *regex = NEW(struct regex);
    regex->pattern = xstrndup(pattern.n ? pattern.p : "", pattern.n);
    regex->length = pattern.n;
    regex->utf8 = utf8;
    regex->context = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(regex->context, MATCH_MAX);
    pcre2_set_depth_limit(regex->context, DEPTH_MAX);
    pcre2_set_heap_limit(regex->context, REGEX_HEAP_KIB);
    pcre2_pattern_info(utf8, PCRE2_INFO_CAPTURECOUNT, &regex->captures);
    if (regex->captures <= REGEX_CAPTURES_MAX) return regex;
    err_set(err, ERR_LIMIT, "a pattern exceeds %d captures", REGEX_CAPTURES_MAX);
    regex_free(regex);
    return NULL;
}

void regex_free(struct regex *regex)
{
    if (!regex) return;
    pcre2_code_free(regex->utf8);
    pcre2_code_free(regex->bytes);
    pcre2_match_context_free(regex->context);
    free(regex->pattern);
    free(regex);
}

size_t regex_size(const struct regex *regex)
{
    size_t size = 0;
    pcre2_pattern_info(regex->utf8, PCRE2_INFO_SIZE, &size);
    return 2 * size + regex->length + sizeof *regex; /* the one for bytes is no larger */
}

size_t regex_captures(const struct regex *regex)
{
    return regex->captures;
}

/* --- searches */

struct regex_run {
    const volatile bool *stop;
    size_t steps;
    bool stopped, exceeded;
};

static int on_item(pcre2_callout_block *block, void *ctx)
{
    struct regex_run *run = ctx;
    run->exceeded = ++run->steps > REGEX_STEPS_MAX;
    run->stopped = run->stop && *run->stop;
    return run->exceeded || run->stopped ? PCRE2_ERROR_CALLOUT : 0;
}

static enum regex_end fail(const struct regex_run *run, int code, struct err *err)
{
    PCRE2_UCHAR text[200] = "";
    if (code == PCRE2_ERROR_NOMATCH) return REGEX_NONE;
    if (run->stopped) return REGEX_STOPPED;
    if (run->exceeded || code == PCRE2_ERROR_MATCHLIMIT) {
        err_set(err, ERR_LIMIT, "the search exceeds %d steps", REGEX_STEPS_MAX);
    } else if (code == PCRE2_ERROR_HEAPLIMIT || code == PCRE2_ERROR_DEPTHLIMIT) {
        err_set(err, ERR_LIMIT, "the search exceeds %d MiB of memory", REGEX_HEAP_KIB >> 10);
    } else {
        pcre2_get_error_message(code, text, sizeof text);
        err_set(err, ERR_INVALID, "%s", (const char *)text);
    }
    return REGEX_FAILED;
}

static void take_spans(const struct regex *regex, pcre2_match_data *data, struct regex_search *search)
{
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(data);
    for (size_t i = 0; i <= regex->captures; i++)
        search->spans[i] =
            (struct regex_span){at[2 * i] == PCRE2_UNSET ? REGEX_UNSET : at[2 * i], at[2 * i + 1]};
    /* \K may move the begin behind the end. */
    if (search->spans[0].begin > search->spans[0].end) search->spans[0].begin = search->spans[0].end;
}

static pcre2_code *code_for(struct regex *regex, bool is_utf8, struct err *err)
{
    if (is_utf8) return regex->utf8;
    if (!regex->bytes) regex->bytes = compile(regex->pattern, regex->length, false, err);
    if (!regex->bytes)
        err_wrap(err, "the text is not UTF-8, and the pattern cannot be searched for by bytes");
    return regex->bytes;
}

enum regex_end regex_find(struct regex *regex, struct regex_search *search, struct err *err)
{
    struct regex_run run = {.stop = search->stop};
    struct str text = search->text;
    const char *begin = text.n ? text.p : "";
    if (search->from > text.n) return REGEX_NONE;
    pcre2_code *code = code_for(regex, search->is_utf8, err);
    if (!code) return REGEX_FAILED;
    size_t from = search->from; /* within a character: from the next one on */
    while (search->is_utf8 && from < text.n && ((unsigned char)begin[from] & 0xc0) == 0x80) from++;
    pcre2_match_data *data = pcre2_match_data_create(regex->captures + 1, NULL);
    pcre2_set_callout(regex->context, on_item, &run);
    int found = pcre2_match(code, (PCRE2_SPTR)begin, text.n, from, search->is_utf8 ? PCRE2_NO_UTF_CHECK : 0,
                            data, regex->context);
    enum regex_end end = REGEX_FOUND;
    if (found < 0)
        end = fail(&run, found, err);
    else
        take_spans(regex, data, search);
    pcre2_match_data_free(data);
    return end;
}

bool regex_is_utf8(struct str text)
{
    while (text.n > 0) {
        size_t n = str_utf8(text);
        if (n == 0) return false;
        text.p += n;
        text.n -= n;
    }
    return true;
}

/* core/base/text/regex.c: searches that end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/text/regex.h"

static enum regex_end find(const char *pattern, struct str text, struct regex_search *search, struct err *err)
{
    struct regex *regex = regex_new(str_of(pattern), err);
    assert_non_null(regex);
    assert_true(regex_size(regex) > strlen(pattern));
    search->text = text;
    search->is_utf8 = regex_is_utf8(text);
    enum regex_end end = regex_find(regex, search, err);
    regex_free(regex);
    return end;
}

static void test_spans_are_those_of_the_match_and_of_its_captures(void **state)
{
    struct regex_search search = {.from = 1};
    struct err err;
    assert_int_equal(find("(a)|(b+)", STR("a-bb"), &search, &err), REGEX_FOUND);
    assert_int_equal(search.spans[0].begin, 2);
    assert_int_equal(search.spans[0].end, 4);
    assert_true(search.spans[1].begin == REGEX_UNSET);
    assert_int_equal(search.spans[2].end, 4);
    search.from = 5;
    assert_int_equal(find("a", STR("aaaa"), &search, &err), REGEX_NONE);
    search.from = 0;
    assert_int_equal(find("", (struct str){NULL, 0}, &search, &err), REGEX_FOUND);
    assert_int_equal(find("a\\Kb", STR("ab"), &search, &err), REGEX_FOUND);
    assert_int_equal(search.spans[0].begin, 1);
}

static void test_texts_are_utf8_or_bytes(void **state)
{
    struct regex_search search = {.from = 1};
    struct err err;
    assert_int_equal(find(".",
                          STR("\xc3\xa4"
                              "b"),
                          &search, &err),
                     REGEX_FOUND);
    assert_int_equal(search.spans[0].begin, 2); /* not within the first character */
    search.from = 0;
    assert_int_equal(find("^.",
                          STR("\xff"
                              "b"),
                          &search, &err),
                     REGEX_FOUND);
    assert_int_equal(search.spans[0].end, 1);
    assert_int_equal(find("\\x{263a}", STR("\xff"), &search, &err), REGEX_FAILED);
    assert_int_equal(err.code, ERR_INVALID);
    assert_int_equal(find("(*UTF).", STR("a"), &search, &err), REGEX_FOUND);
    assert_int_equal(find("(*UTF).", STR("\xff"), &search, &err), REGEX_FAILED);
}

static void test_a_search_ends_by_its_steps_its_memory_or_when_it_is_stopped(void **state)
{
    static const char as[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
    volatile bool stop = true;
    struct regex_search search = {0};
    struct err err;
    assert_int_equal(find("(a+)+$", STR(as), &search, &err), REGEX_FAILED);
    assert_int_equal(err.code, ERR_LIMIT);
    assert_string_equal(err.text, "the search exceeds 10000000 steps");
    enum { LONG = 4 << 20 };
    char *text = xcalloc(1, LONG);
    memset(text, 'a', LONG - 1);
    assert_int_equal(find("^(?:a|b)*$", (struct str){text, LONG}, &search, &err), REGEX_FAILED);
    assert_string_equal(err.text, "the search exceeds 16 MiB of memory");
    free(text);
    search.stop = &stop;
    assert_int_equal(find("(a+)+$", STR(as), &search, &err), REGEX_STOPPED);
}

static void test_a_pattern_is_refused_with_its_reason(void **state)
{
    struct err err;
    char many[REGEX_PATTERN_MAX + 1];
    memset(many, 'a', sizeof many);
    assert_null(regex_new((struct str){many, sizeof many}, &err));
    assert_string_equal(err.text, "a pattern exceeds 4096 bytes");
    assert_null(regex_new(STR("(a"), &err));
    assert_string_equal(err.text, "missing closing parenthesis at offset 2");
    assert_null(regex_new(STR("\xff"), &err));
    assert_null(regex_new(STR("\\C"), &err));
    assert_null(regex_new(STR("(a{1000}){1000}{1000}"), &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans_are_those_of_the_match_and_of_its_captures),
        cmocka_unit_test(test_texts_are_utf8_or_bytes),
        cmocka_unit_test(test_a_search_ends_by_its_steps_its_memory_or_when_it_is_stopped),
        cmocka_unit_test(test_a_pattern_is_refused_with_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

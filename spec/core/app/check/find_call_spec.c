/* core/app/check/check_declared.c: where a script calls a function of k8s. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "app/check/check.h"
#include "base/mem.h"

static void test_calls_are_told_from_names_comments_and_texts(void **state)
{
    static const struct {
        const char *source;
        int line;
        bool is_call;
    } cases[] = {
        {"", 0, false},
        {"k8s.get('pods')", 1, true},
        {"\n\nk8s . get\n(x)", 3, true},
        {"k8s.get{}", 1, true},
        {"k8s.get 'pods'", 1, true},
        {"k8s.get [[pods]]", 1, true},
        {"k8s.get --[[ why ]] ('pods')", 1, true},
        {"#!/usr/bin/kubelua\nk8s.get()", 2, true},
        {"pcall(k8s.get, 1)\nk8s.get(1)", 2, true},
        {"pcall(k8s.get, 1)", 1, false},
        {"local get = k8s.get", 1, false},
        {"x = [==[\n]] ]==]\nk8s.get()", 3, true},
        {"s = 'a\\'b' k8s.get()", 1, true},
        {"s = \"a\\\nb\" k8s.get()", 2, true},
        {"-- k8s.get()", 0, false},
        {"--[[\nk8s.get()\n]]", 0, false},
        {"--[==[ ]] k8s.get() ]==]", 0, false},
        {"'k8s.get()'", 0, false},
        {"[[k8s.get()]]", 0, false},
        {"my.k8s.get()", 0, false},
        {"k8s:get()", 0, false},
        {"k8s.gets()", 0, false},
        {"xk8s.get()", 0, false},
        {"k8s..get()", 0, false},
        {"function k8s.get() end", 0, false},
        {"'k8s.get()", 0, false},
        {"--[[ k8s.get()", 0, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct call_found found = find_call(str_of(cases[i].source), "get");
        if (found.line != cases[i].line || found.is_call != cases[i].is_call)
            fail_msg("%s: line %d, %d", cases[i].source, found.line, found.is_call);
    }
}

/* Exact allocations, so that a sanitizer sees each byte that is read beyond the end. */
static void test_texts_may_end_anywhere(void **state)
{
    static const char whole[] =
        "#!x\nlocal a = [==[ ]] ]==] --[[ c ]] 'b\\'' k8s . get \"x\" --[=[ ]=] .. k8s.get";
    for (size_t from = 0; from < sizeof whole - 1; from++)
        for (size_t n = 0; from + n < sizeof whole; n++) {
            char *text = xmalloc(n ? n : 1);
            memcpy(text, whole + from, n);
            struct call_found found = find_call((struct str){text, n}, "get");
            assert_in_range(found.line, 0, 2);
            free(text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_are_told_from_names_comments_and_texts),
        cmocka_unit_test(test_texts_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

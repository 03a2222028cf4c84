/* core/base/text/shell.c: what a shell makes of words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text/shell.h"

static void test_words_are_quoted_as_needed(void **state)
{
    static const char *const cases[][2] = {
        {"web-1", "web-1"},
        {"deployments.apps", "deployments.apps"},
        {"", "''"},
        {"two words", "'two words'"},
        {"it's", "'it'\\''s'"},
        {"~", "'~'"},
        {"=ls", "'=ls'"},
        {"$(reboot)", "'$(reboot)'"},
        {"caf\xc3\xa9", "'caf\xc3\xa9'"},
        {"\033[2J'\\", "$'\\033[2J\\'\\\\'"},
        {"a\nb", "$'a\\012b'"},
        {"\xc2\x9b", "$'\\302\\233'"},
        {"\xe2\x80\xae", "$'\\342\\200\\256'"},
        {"\xff", "$'\\377'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = {0};
        shell_put(&out, str_of(cases[i][0]));
        assert_string_equal(buf_text(&out), cases[i][1]);
        buf_clear(&out);
    }
}

static void test_a_zero_byte_cuts_nothing_off(void **state)
{
    struct buf out = {0};
    shell_put(&out, STR("a\0b"));
    assert_string_equal(buf_text(&out), "$'a\\357\\277\\275b'");
    buf_clear(&out);
}

/* Gives what bash takes the word for. */
static void read_back(struct str word, struct buf *out)
{
    struct buf command = {0};
    buf_puts(&command, "printf %s ");
    shell_put(&command, word);
    setenv("SHELL_SPEC", buf_text(&command), 1);
    FILE *pipe = popen("exec bash -c \"$SHELL_SPEC\"", "r"); /* NOLINT(cert-env33-c): it is what is asked */
    assert_non_null(pipe);
    char piece[4096];
    for (size_t n; (n = fread(piece, 1, sizeof piece, pipe)) > 0;) buf_append(out, piece, n);
    assert_int_equal(pclose(pipe), 0);
    buf_clear(&command);
}

static void assert_read_back(struct str word)
{
    struct buf out = {0};
    read_back(word, &out);
    assert_int_equal(out.len, word.n);
    if (word.n) assert_memory_equal(out.data, word.p, word.n);
    buf_clear(&out);
}

static void test_a_shell_reads_every_byte_back(void **state)
{
    char all[255], safe[95];
    for (size_t i = 0; i < sizeof all; i++) all[i] = (char)(i + 1);
    for (size_t i = 0; i < sizeof safe; i++) safe[i] = (char)(i + ' ');
    assert_read_back((struct str){all, sizeof all});
    assert_read_back((struct str){safe, sizeof safe});
    for (size_t i = 0; i < sizeof all; i++) assert_read_back((struct str){all + i, 1});
    assert_read_back(STR("*"));
    assert_read_back(STR("caf\xc3\xa9 {a,b} \\n"));
    assert_read_back(STR("\n\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_quoted_as_needed),
        cmocka_unit_test(test_a_zero_byte_cuts_nothing_off),
        cmocka_unit_test(test_a_shell_reads_every_byte_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* core/audit/input/input_share.c: a file read in pieces by several processes says what it says to one. */
#include "audit/input/input_share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "core/audit/support/inputs.h"

enum { MANY = 700, LEAST = 4096, WINDOW = 4096, MUTATIONS = 40 };

static size_t pieces_read, pieces_refused;

/* Texts before, between and behind objects, and their beginnings. */
struct form {
    const char *before, *between, *behind, *head;
    bool is_shared;
};

#define POD "\"apiVersion\":\"v1\",\"kind\":\"Pod\","

static const struct form forms[] = {
    {"", "\n", "\n", "{" POD, true},
    {"", "\n---\n", "\n", "{" POD, false},
    {"", "", "", "{" POD, false},
    {"[", ",", "]", "{" POD, true},
    {"{\"apiVersion\":\"v1\",\"items\":[\n", ",\n", "\n],\"kind\":\"List\"}", "{\n" POD, true},
    {"{\"apiVersion\":\"v1\",\"items\":[", ",", "],\"kind\":\"List\"}", "{" POD, true},
    {"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[\n  ", ",\n  ", "\n]}", "{\n    ", true},
    {"{\"items\":[\n", ",\n", "],\n\"kind\":\"PodList\",\"apiVersion\":\"v1\"}", "{", false},
};

static void put_object(struct buf *text, const struct form *form, size_t i)
{
    buf_printf(text, "%s\"metadata\":{\"name\":\"n%zu\"},\"a\":\"", form->head, i);
    for (size_t n = i * 37 % 103; n > 0; n--) buf_putc(text, n % 7 ? 'x' : '}');
    buf_puts(text, "\\\"{\\\\\"}");
}

static struct buf text_of(const struct form *form)
{
    struct buf text = {0};
    buf_puts(&text, form->before);
    for (size_t i = 0; i < MANY; i++) {
        if (i > 0) buf_puts(&text, form->between);
        put_object(&text, form, i);
    }
    buf_puts(&text, form->behind);
    return text;
}

/* --- a process for each piece */

static _Noreturn void read_piece(struct inputs *in, struct input_share *share, size_t piece, int out)
{
    in->options.packer = packer_new(pool_new(NULL));
    in->said.len = 0;
    struct input_piece_read got = input_share_read(share, piece);
    dprintf(out, "%d %llu\n%s", got.whole && !strchr(buf_text(&in->said), '!'), (unsigned long long)got.lines,
            buf_text(&in->said));
    _exit(0);
}

/* Says what a piece said, with lines of the file. */
static void say(struct inputs *in, char *lines, size_t before)
{
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        char *rest;
        size_t number = strtoul(line, &rest, 10);
        buf_printf(&in->said, "%zu%s\n", before + number, rest);
    }
}

static size_t share(void *ctx, struct input_share *share, uint64_t *lines)
{
    struct inputs *in = ctx;
    size_t piece = 0;
    for (bool whole = true; whole && piece < share->count; piece += whole) {
        int ends[2], status;
        static char text[1 << 20];
        assert_int_equal(pipe(ends), 0);
        pid_t pid = fork();
        if (pid == 0) read_piece(in, share, piece, ends[1]);
        close(ends[1]);
        size_t n = 0;
        for (ssize_t got; (got = read(ends[0], text + n, sizeof text - 1 - n)) > 0;) n += (size_t)got;
        text[n] = '\0';
        close(ends[0]);
        waitpid(pid, &status, 0);
        assert_int_equal(status, 0);
        char *rest;
        whole = strtol(text, &rest, 10) != 0;
        uint64_t inside = strtoull(rest, &rest, 10);
        assert_int_equal(*rest, '\n');
        if (whole) say(in, strchr(text, '\n') + 1, share->line - 1 + *lines);
        if (whole) *lines += inside;
    }
    pieces_read += piece;
    pieces_refused += piece < share->count;
    return piece;
}

static char *read_it(struct inputs *in, struct str text, bool by_all)
{
    in->said.len = 0;
    in->options.share = by_all ? share : NULL;
    in->options.share_least = LEAST;
    in->options.window = WINDOW; /* Lists that fit into it are cut at once */
    return xstrdup(inputs_say(in, text));
}

static void assert_same(struct inputs *in, struct str text)
{
    char *alone = read_it(in, text, false), *shared = read_it(in, text, true);
    size_t same = 0;
    while (alone[same] && alone[same] == shared[same]) same++;
    if (alone[same] != shared[same])
        fail_msg("alone: %.200s\nshared: %.200s\ntext: %.4000s", alone + same, shared + same, text.p);
    free(alone);
    free(shared);
}

/* --- the specs */

static void test_each_form_says_the_same(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct buf text = text_of(&forms[i]);
        pieces_read = pieces_refused = 0;
        assert_same(*state, buf_slice(&text));
        assert_int_equal(pieces_read > 0, forms[i].is_shared);
        if (forms[i].is_shared) assert_int_equal(pieces_refused, 0);
        buf_clear(&text);
    }
}

/* A byte is lost, or another one, anywhere. */
static void test_damaged_text_says_the_same(void **state)
{
    uint32_t random = 1;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct buf text = text_of(&forms[i]);
        for (size_t m = 0; m < MUTATIONS; m++) {
            random = random * 1664525 + 1013904223;
            size_t at = random % text.len;
            char before = text.data[at];
            text.data[at] = "}{,\"\\\n ]"[random >> 29];
            assert_same(*state, m % 2 ? buf_slice(&text) : (struct str){text.data, at});
            text.data[at] = before;
        }
        buf_clear(&text);
    }
}

/* Texts inside of objects that look like the beginning of one: the piece before ends elsewhere. */
static void test_a_wrong_guess_is_noticed(void **state)
{
    static const char decoy[] = ",\n{\n" POD "\"metadata\":{\"name\":\"n";
    struct buf text = {0};
    buf_puts(&text, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[");
    for (size_t i = 0; i < MANY; i++) {
        buf_printf(&text, "%s%zu\"},\"a\":[1", i ? decoy : decoy + 1, i);
        for (size_t n = 0; i > MANY / 2 && n < 3; n++) buf_printf(&text, "%sx\"}}", decoy);
        buf_puts(&text, "]}");
    }
    buf_puts(&text, "]}");
    pieces_read = pieces_refused = 0;
    assert_same(*state, buf_slice(&text));
    assert_true(pieces_read > 0);
    assert_true(pieces_refused > 0);
    buf_clear(&text);
}

static void test_a_small_or_limited_input_is_not_shared(void **state)
{
    struct inputs *in = *state;
    struct input_total total = {.max = 1 << 20};
    struct buf text = text_of(&forms[0]);
    pieces_read = pieces_refused = 0;
    free(read_it(in, (struct str){text.data, LEAST - 1}, true));
    in->options.total = &total;
    free(read_it(in, buf_slice(&text), true));
    in->options.total = NULL;
    assert_int_equal(pieces_read + pieces_refused, 0);
    buf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_form_says_the_same, inputs_setup, inputs_teardown),
        cmocka_unit_test_setup_teardown(test_damaged_text_says_the_same, inputs_setup, inputs_teardown),
        cmocka_unit_test_setup_teardown(test_a_wrong_guess_is_noticed, inputs_setup, inputs_teardown),
        cmocka_unit_test_setup_teardown(test_a_small_or_limited_input_is_not_shared, inputs_setup,
                                        inputs_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* core/script/vm/bundle.c: texts that are read once, and whether files still say the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/script/support/fixture.h"
#include "script/vm/bundle.h"

static char *path_of(const struct fixture *f, const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return path;
}

static void assert_text(struct bundle *bundle, const char *path, const char *expected)
{
    struct str text;
    struct err err;
    if (!bundle_text(bundle, path, &text, &err)) fail_msg("%s", err.text);
    assert_true(str_is(text, expected));
}

static void test_a_text_is_read_once(void **state)
{
    struct fixture *f = *state;
    struct bundle *bundle = bundle_new();
    fixture_write(f, "a.lua", "one");
    assert_text(bundle, path_of(f, "a.lua"), "one");
    assert_true(bundle_is_current(bundle, NULL));
    fixture_write(f, "a.lua", "two");
    assert_text(bundle, path_of(f, "a.lua"), "one");
    const char *changed;
    assert_false(bundle_is_current(bundle, &changed));
    assert_string_equal(changed, path_of(f, "a.lua"));
    fixture_write(f, "a.lua", "one");
    assert_true(bundle_is_current(bundle, NULL));
    unlink(path_of(f, "a.lua"));
    assert_false(bundle_is_current(bundle, NULL));
    assert_text(bundle, path_of(f, "a.lua"), "one");
    bundle_unref(bundle);
}

static void test_a_file_that_is_missing_may_come(void **state)
{
    struct fixture *f = *state;
    struct bundle *bundle = bundle_new();
    struct str text;
    struct err err;
    assert_false(bundle_text(bundle, path_of(f, "late.lua"), &text, &err));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_int_equal(bundle_count(bundle), 1);
    assert_true(bundle_is_current(bundle, NULL));
    fixture_write(f, "late.lua", "x");
    assert_false(bundle_is_current(bundle, NULL));
    assert_text(bundle, path_of(f, "late.lua"), "x");
    assert_true(bundle_is_current(bundle, NULL));
    bundle_unref(bundle);
}

static void test_a_bundle_is_known_by_the_hash_of_its_first_file(void **state)
{
    struct fixture *f = *state;
    struct bundle *a = bundle_new(), *b = bundle_new();
    char hash[BUNDLE_HASH_LEN + 1];
    fixture_write(f, "a.lua", "");
    fixture_write(f, "b.lua", "b");
    assert_text(a, path_of(f, "a.lua"), "");
    assert_text(a, path_of(f, "b.lua"), "b");
    assert_text(b, path_of(f, "b.lua"), "b");
    bundle_hash(a, hash);
    assert_string_equal(hash, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    bundle_unref(a);
    a = bundle_ref(b);
    bundle_unref(b);
    bundle_unref(a);
}

static void test_sources_are_equal_wherever_they_lie(void **state)
{
    struct fixture *f = *state;
    char here[BUNDLE_HASH_LEN + 1], there[BUNDLE_HASH_LEN + 1];
    struct bundle *a = bundle_new(), *b = bundle_new();
    struct str text;
    struct err err;
    fixture_write(f, "a.lua", "one");
    fixture_write(f, "b.lua", "one");
    assert_text(a, path_of(f, "a.lua"), "one");
    assert_text(b, path_of(f, "b.lua"), "one");
    assert_false(bundle_text(b, path_of(f, "none.lua"), &text, &err));
    bundle_sources_hash(a, here);
    bundle_sources_hash(b, there);
    assert_string_equal(here, there);
    fixture_write(f, "module.lua", "two");
    assert_text(b, path_of(f, "module.lua"), "two");
    bundle_sources_hash(b, there);
    assert_string_not_equal(here, there);
    bundle_unref(a);
    bundle_unref(b);
}

static void test_only_so_many_that_are_missing_are_remembered(void **state)
{
    struct fixture *f = *state;
    struct bundle *bundle = bundle_new();
    struct str text;
    struct err err;
    char name[32];
    for (int i = 0; i < 600; i++) {
        snprintf(name, sizeof name, "missing%d.lua", i);
        assert_false(bundle_text(bundle, path_of(f, name), &text, &err));
        assert_int_equal(err.code, ERR_NOT_FOUND);
    }
    assert_int_equal(bundle_count(bundle), 500);
    fixture_write(f, "missing0.lua", "a");
    fixture_write(f, "missing599.lua", "b");
    assert_text(bundle, path_of(f, "missing0.lua"), "a");
    assert_text(bundle, path_of(f, "missing599.lua"), "b");
    assert_false(bundle_text(bundle, path_of(f, "one-more.lua"), &text, &err));
    assert_int_equal(bundle_count(bundle), 502);
    bundle_unref(bundle);
}

static void test_a_script_keeps_its_file_and_its_modules(void **state)
{
    struct fixture *f = *state;
    struct err err;
    fixture_write(f, "main.lua", "lib = require 'lib' x = lib.x");
    fixture_write(f, "lib.lua", "return { x = 1 }");
    struct script_source source = {.path = path_of(f, "main.lua"), .name = "main", .generation = 7};
    struct script *script = script_prepare(&f->host, &source, &err);
    assert_non_null(script);
    assert_int_equal(script_generation(script), 7);
    source.bundle = bundle_ref(script_bundle(script));
    assert_int_equal(bundle_count(source.bundle), 2);
    script_free(script);
    fixture_write(f, "lib.lua", "error 'another'");
    unlink(path_of(f, "main.lua"));
    script = script_prepare(&f->host, &source, &err);
    if (!script) fail_msg("%s", err.text);
    assert_true(script_start(script, &err));
    script_free(script);
    bundle_unref(source.bundle);
}

static void test_a_text_that_was_given_needs_no_file(void **state)
{
    struct bundle *bundle = bundle_new();
    char text[] = "return 1";
    const char *changed;
    assert_false(bundle_is_given("https://host/a.lua"));
    assert_null(bundle_given_path("https://host/a.lua"));
    bundle_give_text("https://host/a.lua", STR(text));
    memset(text, 'x', sizeof text - 1);
    assert_true(bundle_is_given("https://host/a.lua"));
    assert_string_equal(bundle_given_path("https://host/a.lua"), "https://host/a.lua");
    assert_text(bundle, "https://host/a.lua", "return 1");
    assert_true(bundle_is_current(bundle, &changed));
    bundle_unref(bundle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_text_is_read_once, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_file_that_is_missing_may_come, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_bundle_is_known_by_the_hash_of_its_first_file, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_sources_are_equal_wherever_they_lie, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_only_so_many_that_are_missing_are_remembered, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_script_keeps_its_file_and_its_modules, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test(test_a_text_that_was_given_needs_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* core/engine/reload/script_files.c: one name for a script, however it was typed, and one script for a name.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "engine/reload/script_files.h"
#include "script/vm/bundle.h"

static char folder[] = "/tmp/kubelua-unit-XXXXXX";
static const char *const all[] = {"scripts/a.lua", "scripts/b.lua", "link.lua", "scripts/b"};

/* Scripts are found from inside the folder, so that paths are relative. */
static int setup(void **state)
{
    if (!mkdtemp(folder) || chdir(folder) != 0 || mkdir("scripts", 0700) != 0) return -1;
    close(open("scripts/a.lua", O_CREAT | O_WRONLY, 0600));
    close(open("scripts/b.lua", O_CREAT | O_WRONLY, 0600));
    close(open("scripts/b", O_CREAT | O_WRONLY, 0600));
    return symlink("scripts/a.lua", "link.lua");
}

static int teardown(void **state)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) unlink(all[i]);
    rmdir("scripts");
    return chdir("/") || rmdir(folder);
}

/* The names, joined by blanks, or the error; `arguments` ends with NULL. */
static const char *find_as(bool recursive, const char *const *arguments)
{
    static struct buf text;
    size_t count = 0;
    struct script_files files;
    struct err err;
    text.len = 0;
    while (arguments[count]) count++;
    const struct script_search search = {arguments, count, recursive, NULL};
    if (!script_files_find(&search, &files, &err)) {
        buf_printf(&text, "error: %s", err.text);
        return buf_text(&text);
    }
    for (size_t i = 0; i < files.count; i++) {
        size_t n = strlen(files.names[i]);
        assert_int_equal(strncmp(files.paths[i], files.names[i], n), 0);
        buf_printf(&text, "%s%s", i ? " " : "", files.names[i]);
    }
    script_files_clear(&files);
    return buf_text(&text);
}

#define assert_found(expected, ...) \
    assert_string_equal(find_as(false, (const char *const[]){__VA_ARGS__, NULL}), expected)
#define assert_found_below(expected, ...) \
    assert_string_equal(find_as(true, (const char *const[]){__VA_ARGS__, NULL}), expected)

static void test_a_name_does_not_depend_on_how_the_path_was_typed(void **state)
{
    static const char *const same[] = {"scripts/a.lua", "./scripts/a.lua", "scripts//a.lua",
                                       ".//./scripts/./a.lua"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) assert_found("scripts/a", same[i]);
    struct buf absolute = {0}, name = {0};
    buf_printf(&absolute, "/%s/.//scripts/a.lua", folder);
    buf_printf(&name, "%s/scripts/a", folder);
    assert_found(buf_text(&name), buf_text(&absolute));
    buf_clear(&absolute);
    buf_clear(&name);
}

static void test_scripts_of_a_directory_are_named_alike_however_it_was_typed(void **state)
{
    static const char *const same[] = {"scripts", "./scripts", "scripts/", "scripts//", "./scripts/."};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) assert_found("scripts/a scripts/b", same[i]);
    assert_found("link", ".");
}

static void test_a_script_that_is_named_twice_is_one(void **state)
{
    assert_found("scripts/a", "scripts/a.lua", "./scripts//a.lua");
    assert_found("scripts/b scripts/a", "scripts/b.lua", "scripts");
}

static void test_two_names_for_a_file_are_refused(void **state)
{
    assert_found("error: scripts/a.lua and link.lua are the same file", "scripts", "link.lua");
    assert_found("error: scripts/a.lua and scripts/../scripts/a.lua are the same file", "scripts/a.lua",
                 "scripts/../scripts/a.lua");
}

static void test_two_files_with_one_name_are_refused(void **state)
{
    assert_found("error: scripts/b.lua and scripts/b would have the same name, \"scripts/b\"",
                 "scripts/b.lua", "scripts/b");
}

static void test_the_error_for_a_project_names_its_scripts(void **state)
{
    assert_int_equal(mkdir("project", 0700), 0);
    assert_found("error: project/: no scripts (*.lua) in this directory", "project/");
    assert_int_equal(rename("scripts", "project/scripts"), 0);
    assert_found("error: project/: no scripts (*.lua) in this directory; there are some in project/scripts",
                 "project/");
    assert_int_equal(chdir("project"), 0);
    assert_found("error: .: no scripts (*.lua) in this directory; there are some in scripts", ".");
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(rename("project/scripts", "scripts"), 0);
    assert_int_equal(rmdir("project"), 0);
}

static void test_directories_below_are_searched_only_when_asked(void **state)
{
    assert_int_equal(mkdir("team", 0700), 0);
    assert_found("error: team: no scripts (*.lua) in this directory", "team");
    assert_found_below("error: team: no scripts (*.lua) in this directory or below", "team");
    assert_int_equal(rename("scripts", "team/checks"), 0);
    assert_found(
        "error: team: no scripts (*.lua) in this directory; with -R, those of the directories below are "
        "taken",
        "team");
    assert_found_below("team/checks/a team/checks/b", "./team//");
    assert_found_below("team/checks/b team/checks/a", "team/checks/b.lua", "team");
    assert_int_equal(symlink("checks", "team/same"), 0);
    assert_found_below("error: team/checks/a.lua and team/same/a.lua are the same file", "team");
    assert_int_equal(unlink("team/same"), 0);
    assert_int_equal(rename("team/checks", "scripts"), 0);
    assert_int_equal(rmdir("team"), 0);
}

static void test_a_text_that_was_given_is_a_script(void **state)
{
    struct script_files files;
    struct err err;
    const char *argument = "https://host//a.lua";
    bundle_give_text(argument, STR("x"));
    const struct script_search search = {&argument, 1, true, NULL};
    assert_true(script_files_find(&search, &files, &err));
    assert_int_equal(files.count, 1);
    assert_string_equal(files.paths[0], argument);
    assert_string_equal(files.names[0], "https://host//a");
    script_files_clear(&files);
    assert_true(script_files_rescan(&search, &files, &err));
    assert_int_equal(files.count, 1);
    script_files_clear(&files);
    assert_false(script_files_is_folder(argument));
}

static void test_rules_that_ship_are_named_by_the_word_for_them(void **state)
{
    static const char *const paths[] = {"/rules/pod_security.lua", "/rules/meta.lua", "/rules/own/meta.lua",
                                        "/rules.lua", "/rulesets/meta.lua"},
                             *const names[] = {"builtin:pod-security", "builtin:meta", "/rules/own/meta",
                                               "/rules", "/rulesets/meta"};
    struct script_files files;
    struct err err;
    const struct script_search search = {paths, ARRAY_LEN(paths), false, "/rules"};
    assert_true(script_files_rescan(&search, &files, &err));
    assert_int_equal(files.count, ARRAY_LEN(paths));
    for (size_t i = 0; i < files.count; i++) {
        assert_string_equal(files.paths[i], paths[i]);
        assert_string_equal(files.names[i], names[i]);
    }
    script_files_clear(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_text_that_was_given_is_a_script),
        cmocka_unit_test(test_rules_that_ship_are_named_by_the_word_for_them),
        cmocka_unit_test(test_a_name_does_not_depend_on_how_the_path_was_typed),
        cmocka_unit_test(test_scripts_of_a_directory_are_named_alike_however_it_was_typed),
        cmocka_unit_test(test_a_script_that_is_named_twice_is_one),
        cmocka_unit_test(test_two_names_for_a_file_are_refused),
        cmocka_unit_test(test_two_files_with_one_name_are_refused),
        cmocka_unit_test(test_directories_below_are_searched_only_when_asked),
        cmocka_unit_test(test_the_error_for_a_project_names_its_scripts),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

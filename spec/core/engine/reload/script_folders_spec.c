/* core/engine/reload/script_folders.c: which files are found, in which order, and what ends a walk. */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
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
#include "engine/reload/script_folders.h"

static char folder[32];

static int setup(void **state)
{
    strcpy(folder, "/tmp/kubelua-unit-XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 && mkdir("d", 0700) == 0 ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    return remove(path);
}

static int teardown(void **state)
{
    return chdir("/") || nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Makes an empty file and the directories on the way. */
static void make(const char *path)
{
    char part[256];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        mkdir(part, 0700);
    }
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void note_folder(void *ctx, const char *path)
{
    buf_printf(ctx, "[%s] ", path);
}

static bool note_script(void *ctx, const char *path, struct err *err)
{
    buf_printf(ctx, "%s ", path);
    return true;
}

/* The paths, and directories in brackets; or the error behind them. */
static const char *walk(const char *root, bool recursive)
{
    static struct buf text;
    struct err err;
    text.len = 0;
    const struct script_folders_visitor visitor = {
        .folder = note_folder, .script = note_script, .ctx = &text};
    if (!script_folders_walk(root, recursive, &visitor, &err)) buf_printf(&text, "error: %s", err.text);
    return buf_text(&text);
}

static void test_scripts_come_in_the_order_of_their_paths(void **state)
{
    make("d/a/x.lua");
    make("d/a.lua");
    make("d/a-b.lua");
    make("d/b/c/y.lua");
    make("d/b/a.lua");
    assert_string_equal(walk("d", false), "[d] d/a-b.lua d/a.lua ");
    assert_string_equal(walk("d", true),
                        "[d] d/a-b.lua d/a.lua [d/a] d/a/x.lua [d/b] d/b/a.lua [d/b/c] d/b/c/y.lua ");
    assert_string_equal(walk("d/b/", true), "[d/b/] d/b/a.lua [d/b/c] d/b/c/y.lua ");
    assert_true(script_folders_have_any("d/b", false));
}

static void test_specs_modules_and_hidden_entries_are_passed_over(void **state)
{
    make("d/sub/a_spec.lua");
    make("d/sub/_m.lua");
    make("d/sub/.a.lua");
    make("d/sub/a.txt");
    make("d/_lib/a.lua");
    make("d/.git/a.lua");
    assert_string_equal(walk("d", true), "[d] [d/sub] ");
    assert_false(script_folders_have_any("d", true));
    make("d/sub/e/a.lua");
    assert_false(script_folders_have_any("d", false));
    assert_true(script_folders_have_any("d", true));
}

static void test_a_directory_named_like_a_script_is_one_below(void **state)
{
    make("d/x.lua/a.lua");
    assert_string_equal(walk("d", true), "[d] [d/x.lua] d/x.lua/a.lua ");
    assert_string_equal(walk("d", false), "[d] d/x.lua ");
}

static void test_a_mounted_config_map_is_found_behind_its_links_once(void **state)
{
    make("d/..2026_1/team/a.lua");
    assert_int_equal(symlink("..2026_1", "d/..data"), 0);
    assert_int_equal(symlink("..data/team", "d/team"), 0);
    assert_int_equal(symlink("..data/gone", "d/gone"), 0);
    assert_string_equal(walk("d", true), "[d] [d/team] d/team/a.lua ");
    assert_string_equal(walk("d", false), "[d] ");
}

static void test_links_that_lead_back_are_not_followed(void **state)
{
    make("d/a/b/x.lua");
    assert_int_equal(symlink("../..", "d/a/b/up"), 0);
    assert_int_equal(symlink(".", "d/self"), 0);
    assert_int_equal(symlink("b", "d/a/c"), 0);
    assert_string_equal(walk("d", true), "[d] [d/a] [d/a/b] d/a/b/x.lua [d/a/c] d/a/c/x.lua ");
}

static void test_a_directory_that_cannot_be_read_is_an_error(void **state)
{
    make("d/a/x.lua");
    assert_string_equal(walk("missing", true), "error: missing: No such file or directory");
    assert_string_equal(walk("d/a/x.lua", true), "[d/a/x.lua] error: d/a/x.lua: Not a directory");
    if (geteuid() == 0) return; /* may read everything */
    assert_int_equal(chmod("d/a", 0), 0);
    assert_string_equal(walk("d", true), "[d] [d/a] error: d/a: Permission denied");
    assert_int_equal(chmod("d/a", 0700), 0);
}

/* Removes what it is told of, as another process may. */
static void remove_folder(void *ctx, const char *path)
{
    if (strcmp(path, "d/a") == 0) assert_int_equal(rename("d/b", "elsewhere"), 0);
}

static void test_a_directory_below_that_vanishes_is_none(void **state)
{
    struct buf text = {0};
    struct err err;
    make("d/a/x.lua");
    make("d/b/y.lua");
    const struct script_folders_visitor visitor = {
        .folder = remove_folder, .script = note_script, .ctx = &text};
    assert_true(script_folders_walk("d", true, &visitor, &err));
    assert_string_equal(buf_text(&text), "d/a/x.lua ");
    buf_clear(&text);
}

static bool refuse(void *ctx, const char *path, struct err *err)
{
    ++*(int *)ctx;
    return err_set(err, ERR_INVALID, "not %s", path);
}

static void test_the_visitor_ends_the_walk(void **state)
{
    int calls = 0;
    struct err err;
    make("d/a/x.lua");
    make("d/b.lua");
    const struct script_folders_visitor visitor = {.script = refuse, .ctx = &calls};
    assert_false(script_folders_walk("d", true, &visitor, &err));
    assert_string_equal(err.text, "not d/a/x.lua");
    assert_int_equal(calls, 1);
}

static bool is_text(const char *name)
{
    return strstr(name, ".txt") != NULL;
}

static void test_the_visitor_may_take_other_files(void **state)
{
    struct buf text = {0};
    struct err err;
    make("d/a/x.lua");
    make("d/a/x.txt");
    const struct script_folders_visitor visitor = {.takes = is_text, .script = note_script, .ctx = &text};
    assert_true(script_folders_walk("d", true, &visitor, &err));
    assert_string_equal(buf_text(&text), "d/a/x.txt ");
    buf_clear(&text);
}

/* --- bounds */

static void make_levels(int count)
{
    char path[256] = "d";
    for (int i = 0; i < count; i++) strcat(path, "/s");
    strcat(path, "/x.lua");
    make(path);
}

static void test_depth_is_bounded_and_the_error_names_the_place(void **state)
{
    static const struct script_folders_visitor visitor;
    struct err err;
    make_levels(SCRIPT_FOLDERS_DEPTH_MAX);
    assert_true(script_folders_walk("d", true, &visitor, &err));
    make_levels(SCRIPT_FOLDERS_DEPTH_MAX + 1);
    assert_false(script_folders_walk("d", true, &visitor, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_string_equal(err.text, "d/s/s/s/s/s/s/s/s/s/s/s/s/s/s/s/s/s: more than 16 levels below d");
}

static void test_the_number_of_directories_is_bounded(void **state)
{
    static const struct script_folders_visitor visitor;
    char path[32];
    struct err err;
    for (int i = 0; i <= SCRIPT_FOLDERS_MAX; i++) {
        if (i == SCRIPT_FOLDERS_MAX) assert_true(script_folders_walk("d", true, &visitor, &err));
        snprintf(path, sizeof path, "d/%d", i);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    assert_false(script_folders_walk("d", true, &visitor, &err));
    assert_string_equal(err.text, "d: more than 1000 directories below it");
    assert_true(script_folders_walk("d", false, &visitor, &err));
}

static void test_the_number_of_files_is_bounded(void **state)
{
    static const struct script_folders_visitor visitor;
    char path[32];
    struct err err;
    for (int i = 0; i <= SCRIPT_FOLDERS_FILES_MAX; i++) {
        if (i == SCRIPT_FOLDERS_FILES_MAX) assert_true(script_folders_walk("d", true, &visitor, &err));
        snprintf(path, sizeof path, "d/a/%d.lua", i);
        make(path);
    }
    assert_false(script_folders_walk("d", true, &visitor, &err));
    assert_string_equal(err.text, "d: more than 2000 Lua files below it");
    assert_true(script_folders_walk("d/a", false, &visitor, &err));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_scripts_come_in_the_order_of_their_paths),
        TEST(test_specs_modules_and_hidden_entries_are_passed_over),
        TEST(test_a_directory_named_like_a_script_is_one_below),
        TEST(test_a_mounted_config_map_is_found_behind_its_links_once),
        TEST(test_links_that_lead_back_are_not_followed),
        TEST(test_a_directory_that_cannot_be_read_is_an_error),
        TEST(test_a_directory_below_that_vanishes_is_none),
        TEST(test_the_visitor_ends_the_walk),
        TEST(test_the_visitor_may_take_other_files),
        TEST(test_depth_is_bounded_and_the_error_names_the_place),
        TEST(test_the_number_of_directories_is_bounded),
        TEST(test_the_number_of_files_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

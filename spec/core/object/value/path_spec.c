/* core/object/path: the grammar and what it finds. */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/value/path.h"

static const char pod[] =
    "{\"metadata\":{\"labels\":{\"app.kubernetes.io/"
    "name\":\"web\",\"it's\":\"quoted\",\"a\\\\b\":\"backslash\"},\"annotations\":{\"\":\"empty\"}},"
    "\"spec\":{\"nodeName\":\"n1\",\"none\":null,\"containers\":[{\"name\":\"web\",\"image\":\"web:1\","
    "\"ports\":[{\"p\":80},{\"p\":81}]},"
    "{\"name\":\"proxy\",\"image\":\"proxy:2\",\"ports\":[{\"p\":90}]}]},"
    "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},{\"type\":\"Scheduled\",\"status\":"
    "\"False\"},{\"type\":\"Ready\",\"status\":\"Twice\"}]}}";

struct collected {
    struct buf text;
    size_t stop_after;
};

static bool collect(void *ctx, struct value v)
{
    struct collected *c = ctx;
    if (c->text.len > 0) buf_putc(&c->text, ' ');
    json_write(&c->text, v);
    return --c->stop_after > 0;
}

static struct path *compile(const char *text)
{
    struct err err;
    struct path *path = path_compile(str_of(text), &err);
    if (!path) fail_msg("%s", err.text);
    return path;
}

static void test_what_paths_find(void **state)
{
    static const struct {
        const char *path, *all;
        bool multi;
    } cases[] = {
        {"spec.nodeName", "\"n1\"", false},
        {"spec['nodeName']", "\"n1\"", false},
        {"['spec'].nodeName", "\"n1\"", false},
        {"['spec']['nodeName']", "\"n1\"", false},
        {"metadata.labels['app.kubernetes.io/name']", "\"web\"", false},
        {"metadata.labels['it\\'s']", "\"quoted\"", false},
        {"metadata.labels['a\\\\b']", "\"backslash\"", false},
        {"metadata.annotations['']", "\"empty\"", false},
        {"spec.containers[0].name", "\"web\"", false},
        {"spec.containers[1].image", "\"proxy:2\"", false},
        {"spec.containers[2].image", "", false},
        {"spec.containers[4294967294]", "", false},
        {"spec.containers[*].image", "\"web:1\" \"proxy:2\"", true},
        {"spec.containers[*].ports[*].p", "80 81 90", true},
        {"spec.containers[*].ports[1].p", "81", true},
        {"status.conditions[?type=='Ready'].status", "\"True\" \"Twice\"", true},
        {"status.conditions[?type=='Scheduled']", "{\"type\":\"Scheduled\",\"status\":\"False\"}", true},
        {"status.conditions[?type=='None'].status", "", true},
        {"status.conditions[?type=='']", "", true},
        {"spec.containers[?name=='proxy'].ports[*].p", "90", true},
        {"metadata.labels[*]", "\"web\" \"quoted\" \"backslash\"", true},
        {"spec.none", "null", false},
        {"spec.none.more", "", false},
        {"spec.nodeName.more", "", false},
        {"spec.nodeName[0]", "", false},
        {"spec.nodeName[*]", "", true},
        {"spec[0]", "", false},
        {"no.such.thing", "", false},
        {"spec.never-seen-as-a-key", "", false},
    };
    struct fixture *f = *state;
    struct value it;
    struct root *root = pack_it(f->packer, pod, &it);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct path *path = compile(cases[i].path);
        struct collected c = {.stop_after = 100};
        size_t calls = path_each(path, it, collect, &c);
        assert_string_equal(buf_text(&c.text), cases[i].all);
        assert_int_equal(calls, 100 - c.stop_after);
        assert_int_equal(path_is_multi(path), cases[i].multi);
        assert_true(str_is(path_text(path), cases[i].path));
        struct value first = path_get(path, it);
        assert_int_equal(value_type(first) == VALUE_ABSENT, cases[i].all[0] == '\0');
        if (value_type(first) != VALUE_ABSENT)
            assert_memory_equal(json_of(first), cases[i].all, strlen(json_of(first)));
        buf_clear(&c.text);
        path_free(path);
    }
    root_unref(root);
}

static void test_a_search_can_be_stopped(void **state)
{
    struct fixture *f = *state;
    struct value it;
    struct root *root = pack_it(f->packer, pod, &it);
    struct path *path = compile("spec.containers[*].ports[*].p");
    struct collected c = {.stop_after = 2};
    assert_int_equal(path_each(path, it, collect, &c), 2);
    assert_string_equal(buf_text(&c.text), "80 81");
    buf_clear(&c.text);
    path_free(path);
    root_unref(root);
}

/* Compiled before any object brought the key into the dictionary. */
static void test_a_path_may_be_older_than_its_keys(void **state)
{
    struct fixture *f = *state;
    struct path *path = compile("it.olderThanTheObject[?alsoOlder=='yes'].answer");
    struct root *root = pack_ok(f->packer, "{\"metadata\":{\"name\":\"x\"},\"it\":{\"olderThanTheObject\":[{"
                                           "\"alsoOlder\":\"yes\",\"answer\":42}]}}");
    assert_int_equal(value_int(path_get(path, root_value(root))), 42);
    path_free(path);
    root_unref(root);
}

static void test_errors_name_the_place(void **state)
{
    static const char *const cases[][2] = {
        {"", "path \"\": empty"},
        {"a..b", "path \"a..b\": empty name at 3"},
        {".a", "path \".a\": empty name at 1"},
        {"a.", "path \"a.\": empty name at 3"},
        {"a.[0]", "path \"a.[0]\": empty name at 3"},
        {"a b", "path \"a b\": expected . or [ at 2"},
        {"a.b c", "path \"a.b c\": expected . or [ at 4"},
        {"a.*", "path \"a.*\": unexpected character at 3"},
        {"a[", "path \"a[\": expected a number, '*', a quoted key or '?' at 3"},
        {"a[]", "path \"a[]\": expected a number, '*', a quoted key or '?' at 3"},
        {"a[-1]", "path \"a[-1]\": expected a number, '*', a quoted key or '?' at 3"},
        {"a[\"b\"]", "path \"a[\"b\"]\": expected a number, '*', a quoted key or '?' at 3"},
        {"a[1", "path \"a[1\": missing ] at 4"},
        {"a[1x]", "path \"a[1x]\": missing ] at 4"},
        {"a[4294967295]", "path \"a[4294967295]\": index too large at 3"},
        {"a[99999999999999999999]", "path \"a[99999999999999999999]\": index too large at 3"},
        {"a['b", "path \"a['b\": missing ' at 5"},
        {"a['b]", "path \"a['b]\": missing ' at 6"},
        {"a['b'", "path \"a['b'\": missing ] at 6"},
        {"a['b\\n']", "path \"a['b\\n']\": \\ before neither ' nor \\ at 6"},
        {"a['b\\", "path \"a['b\\\": \\ before neither ' nor \\ at 6"},
        {"a[?]", "path \"a[?]\": unexpected character at 4"},
        {"a[?b]", "path \"a[?b]\": expected =='text' at 5"},
        {"a[?b=='c]", "path \"a[?b=='c]\": missing ' at 10"},
        {"a[?b==c]", "path \"a[?b==c]\": expected =='text' at 5"},
        {"a['b']c", "path \"a['b']c\": expected . or [ at 7"},
        {"a]", "path \"a]\": expected . or [ at 2"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err;
        assert_null(path_compile(str_of(cases[i][0]), &err));
        assert_string_equal(err.text, cases[i][1]);
        assert_int_equal(err.code, ERR_INVALID);
    }
}

static void test_paths_have_limits(void **state)
{
    char text[PATH_LENGTH_MAX + 2];
    struct err err;
    memset(text, 'a', sizeof text);
    assert_null(path_compile((struct str){text, PATH_LENGTH_MAX + 1}, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    path_free(path_compile((struct str){text, PATH_LENGTH_MAX}, &err));
    for (size_t i = 1; i < sizeof text; i += 2) text[i] = '.';
    assert_null(path_compile((struct str){text, 2 * PATH_STEPS_MAX + 1}, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_non_null(strstr(err.text, "more than 32 steps"));
    path_free(path_compile((struct str){text, 2 * PATH_STEPS_MAX - 1}, &err));
    path_free(NULL);
}

static void test_plain_names(void **state)
{
    assert_true(path_name_is_plain(STR("nodeName")));
    assert_true(path_name_is_plain(STR("tls-cert_1/x:y")));
    assert_false(path_name_is_plain(STR("")));
    assert_false(path_name_is_plain(STR("tls.crt")));
    assert_false(path_name_is_plain(STR("a b")));
    assert_false(path_name_is_plain(STR("a'b")));
    assert_false(path_name_is_plain((struct str){"a\0b", 3}));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_what_paths_find),
        TEST(test_a_search_can_be_stopped),
        TEST(test_a_path_may_be_older_than_its_keys),
        TEST(test_errors_name_the_place),
        TEST(test_paths_have_limits),
        TEST(test_plain_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

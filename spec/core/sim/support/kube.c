/* Helpers of the specs of the simulator's rules. */
#include "core/sim/support/kube.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/kinds/kinds.h"
#include "sim/text/tree.h"

json_t *js(const char *text)
{
    char *copy = xstrdup(text);
    json_error_t error;
    for (char *p = copy; *p; p++)
        if (*p == '\'') *p = '"';
    json_t *value = json_loads(copy, JSON_DECODE_ANY, &error);
    if (!value) fail_msg("%s in %s", error.text, copy);
    free(copy);
    return value;
}

static void compare(const json_t *actual, const char *expected)
{
    json_t *wanted = js(expected);
    bool equal = actual && json_equal((json_t *)actual, wanted);
    if (!equal) {
        char *is =
            actual ? json_dumps(actual, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS) : xstrdup("nothing");
        char *should = json_dumps(wanted, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
        print_error("is     %s\nshould %s\n", is, should);
        free(is);
        free(should);
    }
    json_decref(wanted);
    assert_true(equal);
}

void assert_json(json_t *actual, const char *expected)
{
    compare(actual, expected);
    json_decref(actual);
}

void assert_json_text(json_t *actual, const char *expected)
{
    json_t *wanted = js(expected);
    char *is = actual ? json_dumps(actual, JSON_COMPACT | JSON_ENCODE_ANY) : xstrdup("nothing");
    char *should = json_dumps(wanted, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_string_equal(is, should);
    free(is);
    free(should);
    json_decref(wanted);
    json_decref(actual);
}

void assert_json_at(const json_t *actual, const char *path, const char *expected)
{
    compare(sim_at(actual, path), expected);
}

void assert_text_at(const json_t *actual, const char *path, const char *expected)
{
    assert_string_equal(sim_text_at(actual, path), expected);
}

const struct sim_kind *kind_named(const char *plural)
{
    const struct sim_kind *kind = sim_builtin_kind(plural);
    if (!kind) fail_msg("no kind %s", plural);
    return kind;
}

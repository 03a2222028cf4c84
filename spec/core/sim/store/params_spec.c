/* Options of lists and watches: what is read, and what contradicts itself. */
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/object/status.h"
#include "sim/store/params.h"
#include "sim/text/tree.h"

enum { PARAMS_MAX = 8 };

/* The Status of a query such as "a=b&c=d", NULL when it is fine; the options are the caller's. */
static json_t *read_options(const char *query, struct sim_list_options *options)
{
    struct sim_param params[PARAMS_MAX];
    struct sim_request request = {.query = params};
    char *copy = xstrdup(query), *rest = copy, *one;
    while (*query && (one = strsep(&rest, "&"))) {
        char *value = strchr(one, '=');
        if (value) *value++ = '\0';
        params[request.query_count++] = (struct sim_param){one, value ? value : ""};
    }
    json_t *refusal = NULL;
    bool ok = sim_list_options_read(&request, kind_named("pods"), SIM_SHARDS_OFF, options, &refusal);
    assert_int_equal(ok, refusal == NULL);
    options->continue_ = options->continue_ ? "given" : NULL; /* what it pointed to goes */
    options->include_object = NULL;
    free(copy);
    return refusal;
}

static void test_no_parameters_mean_no_requirements(void **state)
{
    struct sim_list_options options;
    assert_null(read_options("", &options));
    assert_false(options.watch || options.bookmarks || options.send_initial || options.has_version);
    assert_int_equal(options.match, SIM_MATCH_UNSET);
    assert_int_equal(options.limit, 0);
    assert_null(options.continue_);
    assert_null(options.labels);
    assert_null(options.fields);
}

static void test_what_is_given_is_read(void **state)
{
    struct sim_list_options options;
    assert_null(
        read_options("watch&allowWatchBookmarks=1&sendInitialEvents=yes&resourceVersionMatch=NotOlderThan&"
                     "resourceVersion=0&timeoutSeconds=7",
                     &options));
    assert_true(options.watch && options.bookmarks && options.send_initial && options.has_version);
    assert_int_equal(options.match, SIM_MATCH_NOT_OLDER);
    assert_int_equal(options.version, 0);
    assert_int_equal(options.timeout_s, 7);
    assert_null(read_options(
        "watch=False&limit=500&continue=x&labelSelector=a&fieldSelector=status.phase!=Running", &options));
    assert_false(options.watch);
    assert_int_equal(options.limit, 500);
    assert_non_null(options.continue_);
    assert_non_null(options.labels);
    assert_non_null(options.fields);
    sim_list_options_clear(&options);
}

static void test_what_contradicts_itself_is_refused(void **state)
{
    static const struct {
        const char *query;
        int code;
        size_t causes;
    } cases[] = {
        {"resourceVersionMatch=Exact", 422, 1},
        {"resourceVersionMatch=Exact&resourceVersion=0", 422, 1},
        {"resourceVersionMatch=Exact&resourceVersion=5&continue=x", 422, 1},
        {"resourceVersionMatch=Latest&resourceVersion=5", 422, 1},
        {"sendInitialEvents=false", 422, 1},
        {"watch=1&sendInitialEvents=true", 422, 1},
        {"watch=1&resourceVersionMatch=NotOlderThan", 422, 1},
        {"watch=1&resourceVersionMatch=Exact&sendInitialEvents=true", 422, 2},
        {"watch=1&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&continue=x", 422, 1},
        {"continue=x&resourceVersion=5", 400, 0},
        {"resourceVersion=x", 400, 0},
        {"watch=1&resourceVersion=x", 500, 0},
        {"limit=99999999999999999999", 400, 0},
        {"limit=-", 400, 0},
        {"timeoutSeconds=soon", 400, 0},
        {"labelSelector=a=b=c", 400, 0},
        {"fieldSelector=spec.colour=red", 400, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sim_list_options options;
        json_t *status = read_options(cases[i].query, &options);
        if (!status) print_error("%s\n", cases[i].query);
        assert_non_null(status);
        assert_int_equal(sim_status_code(status), cases[i].code);
        assert_int_equal(json_array_size(sim_at(status, "details.causes")), cases[i].causes);
        json_decref(status);
        sim_list_options_clear(&options);
    }
}

/* The handler checks numbers, the text of selectors, what contradicts itself, and fields, in this order; the
 * storage reads the version. */
static void test_the_first_mistake_counts(void **state)
{
    static const struct {
        const char *query, *message;
    } cases[] = {
        {"limit=9223372036854775808&labelSelector=a,,b",
         "strconv.ParseInt: parsing \"9223372036854775808\": value out of range"},
        {"labelSelector=a,,b&sendInitialEvents=1", "found ',', expected: identifier after ','"},
        {"watch=1&resourceVersion=abc&labelSelector=a,,b", "found ',', expected: identifier after ','"},
        {"fieldSelector=odd&resourceVersionMatch=Odd&resourceVersion=0",
         "invalid selector: 'odd'; can't understand 'odd'"},
        {"fieldSelector=spec.colour=red&sendInitialEvents=1",
         "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is "
         "forbidden for list"},
        {"fieldSelector=spec.colour=red&resourceVersion=abc", "field label not supported: spec.colour"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sim_list_options options;
        json_t *status = read_options(cases[i].query, &options);
        assert_non_null(status);
        assert_string_equal(sim_text_at(status, "message"), cases[i].message);
        json_decref(status);
        sim_list_options_clear(&options);
    }
}

static void test_numbers_may_be_negative(void **state)
{
    struct sim_list_options options;
    assert_null(read_options("limit=-1&timeoutSeconds=-9223372036854775808", &options));
    assert_int_equal(options.limit, 0);
    assert_true(options.timeout_s < 0 && options.timeout_s * 1000 < 0);
    assert_null(read_options("limit=+5&timeoutSeconds=9223372036854775807", &options));
    assert_int_equal(options.limit, 5);
    assert_true(options.timeout_s > 0 && options.timeout_s * 1000 > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_parameters_mean_no_requirements),
        cmocka_unit_test(test_what_is_given_is_read),
        cmocka_unit_test(test_what_contradicts_itself_is_refused),
        cmocka_unit_test(test_the_first_mistake_counts),
        cmocka_unit_test(test_numbers_may_be_negative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

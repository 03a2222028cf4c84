/* core/kube/config/exec_config.c and yaml_json.c: exec plugins as kubeconfig files have them (T-1, T-12,
 * T-14, C-4).
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/kube/support/kubeconfig_bench.h"

#define V1      "apiVersion: client.authentication.k8s.io/v1"
#define V1BETA1 "apiVersion: client.authentication.k8s.io/v1beta1"

static void use_exec(struct bench *bench, const char *exec)
{
    char *text = xasprintf(CLUSTER("") USER("    exec: {%s}\n") CONTEXT, exec);
    bench_use(bench, text);
    free(text);
}

static void test_t12_all_fields_are_read(void **state)
{
    struct bench *bench = *state;
    bench_use(bench, CLUSTER("    extensions:\n"
                             "    - {name: other, extension: {a: 1}}\n"
                             "    - name: client.authentication.k8s.io/exec\n"
                             "      extension: {audience: \"a\\\"b\", n: -1.5e3, s: '1', v: 010, t: true, "
                             "z: ~, list: [1, x]}\n") USER("    exec:\n"
                                                           "      " V1 "\n"
                                                           "      command: aws\n"
                                                           "      args: [eks, get-token, '']\n"
                                                           "      env: [{name: A, value: b=c}, {name: D}]\n"
                                                           "      installHint: get it\n"
                                                           "      provideClusterInfo: true\n"
                                                           "      interactiveMode: Never\n") CONTEXT);
    bench_good(bench);
    const struct exec_config *exec = bench->config.exec;
    assert_string_equal(exec->api_version, EXEC_V1);
    assert_string_equal(exec->command, "aws");
    assert_string_equal(exec->args[0], "eks");
    assert_string_equal(exec->args[2], "");
    assert_null(exec->args[3]);
    assert_string_equal(exec->env[0], "A=b=c");
    assert_string_equal(exec->env[1], "D=");
    assert_null(exec->env[2]);
    assert_string_equal(exec->install_hint, "get it");
    assert_true(exec->provide_cluster_info);
    assert_int_equal(exec->interactive, EXEC_NEVER);
    assert_string_equal(exec->cluster_config,
                        "{\"audience\":\"a\\\"b\",\"n\":-1.5e3,\"s\":\"1\",\"v\":\"010\","
                        "\"t\":true,\"z\":null,\"list\":[1,\"x\"]}");
}

static void test_t14_v1beta1_is_interactive_when_possible(void **state)
{
    struct bench *bench = *state;
    use_exec(bench, V1BETA1 ", command: aws");
    bench_good(bench);
    assert_int_equal(bench->config.exec->interactive, EXEC_IF_AVAILABLE);
    assert_null(bench->config.exec->args[0]);
    assert_false(bench->config.exec->provide_cluster_info);
    use_exec(bench, V1BETA1 ", command: aws, interactiveMode: Always");
    bench_good(bench);
    assert_int_equal(bench->config.exec->interactive, EXEC_ALWAYS);
}

static void test_c4_a_command_with_a_separator_begins_at_its_file(void **state)
{
    struct bench *bench = *state;
    char *expected = xasprintf("%s/bin/login", bench->dir);
    use_exec(bench, V1BETA1 ", command: bin/login");
    bench_good(bench);
    assert_string_equal(bench->config.exec->command, expected);
    use_exec(bench, V1BETA1 ", command: ./bin/login");
    bench_good(bench);
    assert_string_equal(bench->config.exec->command, expected);
    char before[PATH_MAX];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(bench->dir), 0); /* what is told of a plugin says where it is */
    bench->flags.kubeconfig = "config";
    bench_good(bench);
    assert_string_equal(bench->config.exec->command, expected);
    assert_int_equal(chdir(before), 0);
    use_exec(bench, V1BETA1 ", command: /bin/login");
    bench_good(bench);
    assert_string_equal(bench->config.exec->command, "/bin/login");
    free(expected);
}

static void test_t1_what_is_wrong_is_found_while_loading(void **state)
{
    struct bench *bench = *state;
    static const struct {
        const char *exec, *text;
    } cases[] = {
        {V1 ", interactiveMode: Never", "command is missing"},
        {"command: aws", "apiVersion is missing"},
        {"command: aws, apiVersion: client.authentication.k8s.io/v1alpha1",
         "apiVersion: \"client.authentication.k8s.io/v1alpha1\" is neither client.authentication.k8s.io/v1 "
         "nor "
         "client.authentication.k8s.io/v1beta1"},
        {V1 ", command: aws",
         "interactiveMode: needed with client.authentication.k8s.io/v1: Never, IfAvailable or Always"},
        {V1 ", command: aws, interactiveMode: never",
         "interactiveMode must be Never, IfAvailable or Always, not \"never\""},
        {V1 ", command: aws, interactiveMode: Never, env: [{value: secret}]",
         "env: an entry without a usable name"},
        {V1 ", command: aws, interactiveMode: Never, env: {A: secret}", "env: not a list"},
        {V1 ", command: aws, interactiveMode: Never, env: [A]", "env: an entry is not a mapping"},
        {V1 ", command: aws, interactiveMode: Never, env: [{name: A, value: [secret]}]",
         "env[A].value: not a string"},
        {V1 ", command: aws, interactiveMode: Never, env: [{name: A, value: 5}]",
         "env[A].value: must be a string, not a number; quote it"},
        {V1 ", command: aws, interactiveMode: Never, args: get-token --x", "args: not a list"},
        {V1 ", command: aws, interactiveMode: Never, args: [1]", "args: not a list of strings"},
        {V1 ", command: [aws], interactiveMode: Never", "command: not a string"},
        {V1 ", command: aws, interactiveMode: false",
         "interactiveMode: must be a string, not true or false; quote it"},
        {V1 ", command: aws, interactiveMode: Never, installHint: {a: b}", "installHint: not a string"},
        {V1 ", command: aws, interactiveMode: Never, provideClusterInfo: perhaps",
         "provideClusterInfo: must be true or false"},
        {V1 ", command: aws, interactiveMode: Never, provideClusterInfo: 'true'",
         "provideClusterInfo: must be true or false"},
        {V1 ", command: aws, interactiveMode: Never, args: [{a: secret}]", "args: not a list of strings"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = xasprintf("DIR/config: users[u].exec.%s", cases[i].text);
        use_exec(bench, cases[i].exec);
        bench_bad(bench, ERR_INVALID, text);
        free(text);
    }
}

/* T-1: as kubectl has it, a null is nothing at all. */
static void test_what_is_null_is_not_there(void **state)
{
    struct bench *bench = *state;
    use_exec(bench, V1BETA1 ", command: aws, args: [a, ~], env: [{name: A, value: ~}], provideClusterInfo: "
                            "~, installHint: ~, interactiveMode: ~");
    bench_good(bench);
    assert_string_equal(bench->config.exec->args[1], "");
    assert_string_equal(bench->config.exec->env[0], "A=");
    use_exec(bench, V1BETA1 ", command: aws, args: ~, env: ~");
    bench_good(bench);
    bench_use(bench, CLUSTER("") USER("    exec: aws\n") CONTEXT);
    bench_bad(bench, ERR_INVALID, "DIR/config: users[u].exec: not a mapping");
}

static void test_an_alias_inside_of_itself_ends(void **state)
{
    struct bench *bench = *state;
    bench_use(
        bench,
        CLUSTER("    extensions:\n    - name: client.authentication.k8s.io/exec\n"
                "      extension: {a: &a [x, x, x, x, x, x, x, x], b: &b [*a, *a, *a, *a, *a, *a, *a, *a], "
                "c: &c [*b, *b, *b, *b, *b, *b, *b, *b], d: &d [*c, *c, *c, *c, *c, *c, *c, *c], "
                "e: &e [*d, *d, *d, *d, *d, *d, *d, *d], f: &f [*e, *e, *e, *e, *e, *e, *e, *e], "
                "g: &g [*f, *f, *f, *f, *f, *f, *f, *f], h: [*g, *g, *g, *g, *g, *g, *g, *g]}\n")
            USER("    exec: {" V1BETA1 ", command: aws}\n") CONTEXT);
    bench_good(bench);
    assert_in_range(strlen(bench->config.exec->cluster_config), 1 << 20, 2 << 20);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, kubeconfig_bench_setup, kubeconfig_bench_teardown)
    const struct CMUnitTest tests[] = {
        T(test_t12_all_fields_are_read),
        T(test_t14_v1beta1_is_interactive_when_possible),
        T(test_c4_a_command_with_a_separator_begins_at_its_file),
        T(test_t1_what_is_wrong_is_found_while_loading),
        T(test_what_is_null_is_not_there),
        T(test_an_alias_inside_of_itself_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

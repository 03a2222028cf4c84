/* core/kube/kubeconfig*.c and in_cluster.c: several files, flags over them, and pods (C-1, C-2, C-4, C-6,
 * C-10, C-12, T-9..T-11). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/kube/support/kubeconfig_bench.h"

#define NOT_A_POD(why)                                                        \
    "no cluster is configured: KUBERNETES_SERVICE_HOST is set, but " why "; " \
    "use --kubeconfig or --server, set KUBECONFIG, or create ~/.kube/config"

/* C-1, C-2 */
static void test_kubeconfig_lists_are_merged_entry_by_entry(void **state)
{
    struct bench *bench = *state;
    const char *one = bench_put(bench, "one/config",
                                "clusters:\n- name: c\n  cluster: {server: 'https://one'}\n"
                                "users:\n- name: u\n  user: {tokenFile: token}\n");
    bench_put(bench, "one/token", " first \n");
    const char *two = bench_put(bench, "two/config",
                                CLUSTER("    tls-server-name: t\n") USER("    token: second\n") CONTEXT);
    const char *three = bench_put(bench, "three", "current-context: other\n");
    char *list = xasprintf("/nonexistent::%s:%s:%s:%s", one, two, one, three);
    setenv("KUBECONFIG", list, 1);
    bench_good(bench);
    assert_string_equal(bench->config.server, "https://one");
    assert_null(bench->config.tls_server_name);
    assert_null(bench->config.token);
    char *token = xasprintf("%s/one/token", bench->dir);
    assert_string_equal(bench->config.token_file, token);
    assert_string_equal(bench->config.namespace_, "shop");
    free(list);
    free(token);
}

/* C-1: the good ones are read all the same, and everything that is wrong is told at once. */
static void test_c1_all_broken_files_of_a_list_are_named(void **state)
{
    struct bench *bench = *state;
    const char *one = bench_put(bench, "one", "}");
    const char *good = bench_put(bench, "good", CLUSTER("") USER("    token: x\n") CONTEXT);
    const char *two = bench_put(bench, "two", "clusters: 5\n");
    char *list = xasprintf("%s:%s:%s", one, good, two);
    setenv("KUBECONFIG", list, 1);
    free(list);
    assert_false(bench_load(bench));
    assert_int_equal(bench->err.code, ERR_PARSE);
    assert_non_null(strstr(bench->err.text, "/one:1: "));
    char *second = xasprintf("; %s/two: clusters: not a list", bench->dir);
    assert_non_null(strstr(bench->err.text, second));
    free(second);
}

/* C-1: without any of its files, KUBECONFIG is as if nothing were configured. */
static void test_c1_files_of_a_list_may_all_be_missing(void **state)
{
    struct bench *bench = *state;
    bench_put(bench, ".kube/config", CLUSTER("") USER("    token: x\n") CONTEXT);
    setenv("KUBECONFIG", "/nonexistent/a:/nonexistent/b", 1);
    bench_bad(
        bench, ERR_NOT_FOUND,
        "no cluster is configured: use --kubeconfig or --server, set KUBECONFIG, or create ~/.kube/config");
    bench->flags.context = "dev";
    bench_bad(bench, ERR_NOT_FOUND, "no kubeconfig file was found: context \"dev\" does not exist");
}

/* C-2: the first file that says which context is current decides, the first that names an entry owns it. */
static void test_c2_c9_requested_entries_are_searched_in_all_files(void **state)
{
    struct bench *bench = *state;
    const char *one = bench_put(bench, "one", "current-context: ''\n" CLUSTER(""));
    const char *two = bench_put(bench, "two", USER("    token: x\n") CONTEXT);
    char *list = xasprintf("%s:/nonexistent:%s", one, two);
    setenv("KUBECONFIG", list, 1);
    free(list);
    bench_good(bench);
    assert_string_equal(bench->config.token, "x");
    bench->flags.context = "prod";
    bench_bad(bench, ERR_NOT_FOUND, "DIR/one, DIR/two: context \"prod\" does not exist");
    bench->flags.context = NULL;
    bench->flags.user = "nope";
    bench_bad(bench, ERR_NOT_FOUND, "DIR/one, DIR/two: user \"nope\" does not exist");
}

/* C-3: in the second file too, whose entry would not count. */
static void test_c3_a_name_twice_is_an_error_in_each_file(void **state)
{
    struct bench *bench = *state;
    const char *one = bench_put(bench, "one", CLUSTER("") USER("    token: x\n") CONTEXT);
    const char *two = bench_put(bench, "two", "users:\n- name: u\n- name: v\n- name: u\n");
    char *list = xasprintf("%s:%s", one, two);
    setenv("KUBECONFIG", list, 1);
    free(list);
    bench_bad(bench, ERR_INVALID, "DIR/two: users: two entries are named \"u\"");
}

static void test_the_home_file_is_the_default(void **state)
{
    struct bench *bench = *state;
    bench_put(bench, ".kube/config", CLUSTER("") USER("    token: x\n") CONTEXT);
    bench_good(bench);
    assert_string_equal(bench->config.token, "x");
    bench_put(bench, ".kube/config", "");
    bench_bad(
        bench, ERR_NOT_FOUND,
        "no cluster is configured: use --kubeconfig or --server, set KUBECONFIG, or create ~/.kube/config");
}

/* C-6 */
static void test_flags_beat_the_file(void **state)
{
    struct bench *bench = *state;
    bench_put(bench, "ca.pem", bench->ca.cert_pem);
    bench_put(bench, "client.pem", bench->client.cert_pem);
    bench_put(bench, "client.key", bench->client.key_pem);
    struct cluster_flags plain;
    bench_use(bench, CLUSTER("    certificate-authority: ca.pem\n    tls-server-name: t\n")
                         USER("    tokenFile: ca.pem\n") CONTEXT);
    plain = bench->flags;
    bench->flags.insecure_skip_tls_verify = true; /* clears the CA */
    bench->flags.token = "flag";                  /* and the token file */
    bench->flags.namespace_ = "other";
    bench_good(bench);
    assert_true(bench->config.insecure_skip_tls_verify);
    assert_null(bench->config.ca_pem);
    assert_string_equal(bench->config.token, "flag");
    assert_null(bench->config.token_file);
    assert_string_equal(bench->config.namespace_, "other");
    assert_string_equal(bench->config.tls_server_name, "t");
    bench->flags = plain;
    bench->flags.server = "https://elsewhere:1/base/?q#f"; /* clears the file's tls-server-name */
    bench_good(bench);
    assert_string_equal(bench->config.server, "https://elsewhere:1/base");
    assert_null(bench->config.tls_server_name);
    assert_non_null(bench->config.ca_pem);
    bench->flags.tls_server_name = "mine";
    bench_good(bench);
    assert_string_equal(bench->config.tls_server_name, "mine");
    bench_use(bench, CLUSTER("    insecure-skip-tls-verify: true\n")
                         USER("    client-certificate-data: aaaa\n    client-key-data: aaaa\n") CONTEXT);
    bench->flags.certificate_authority = bench_put(bench, "ca.pem", bench->ca.cert_pem); /* clears insecure */
    bench->flags.client_certificate = bench_put(bench, "client.pem", bench->client.cert_pem);
    bench->flags.client_key = bench_put(bench, "client.key", bench->client.key_pem);
    bench_good(bench);
    assert_false(bench->config.insecure_skip_tls_verify);
    assert_string_equal(bench->config.client_key_pem, bench->client.key_pem);
    bench->flags.client_key = "/nonexistent/key";
    bench_bad(bench, ERR_NOT_FOUND, "--client-key: /nonexistent/key: No such file or directory");
    bench->flags.client_key = bench_put(bench, "a.yaml", "a: b\n");
    bench_bad(bench, ERR_TLS, "--client-key: DIR/a.yaml: no private key in PEM form");
    bench->flags.client_certificate = bench->flags.certificate_authority = bench->flags.client_key;
    bench_bad(bench, ERR_TLS, "--certificate-authority: DIR/a.yaml: no certificate in PEM form");
    bench->flags.certificate_authority = NULL;
    bench_bad(bench, ERR_TLS, "--client-certificate: DIR/a.yaml: no certificate in PEM form");
}

static void test_a_server_flag_needs_no_file(void **state)
{
    struct bench *bench = *state;
    bench->flags.server = "http://127.0.0.1:8080";
    bench_good(bench);
    assert_string_equal(bench->config.server, "http://127.0.0.1:8080");
    assert_string_equal(bench->config.source, "the flag --server");
    assert_string_equal(bench->config.namespace_, "default");
    bench->flags.server = "localhost:8080"; /* as client-go: plain, unless something of TLS is given */
    bench_good(bench);
    assert_string_equal(bench->config.server, "http://localhost:8080");
    bench->flags.insecure_skip_tls_verify = true;
    bench_good(bench);
    assert_string_equal(bench->config.server, "https://localhost:8080");
    bench->flags.server = "ftp://h";
    bench_bad(bench, ERR_INVALID, "--server: scheme \"ftp\" is neither https nor http");
    bench->flags.server = "https://u:p@h";
    bench_bad(bench, ERR_INVALID, "--server: user names in the address are not supported");
    bench->flags.server = "https://[";
    assert_false(bench_load(bench));
    assert_memory_equal(bench->err.text, "--server: bad address: ", 23);
}

static void test_a_pod_finds_its_cluster(void **state)
{
    struct bench *bench = *state;
    setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    bench_bad(bench, ERR_NOT_FOUND, NOT_A_POD("KUBERNETES_SERVICE_PORT is not"));
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    bench_bad(bench, ERR_NOT_FOUND, NOT_A_POD("DIR/token: No such file or directory"));
    bench_put(bench, "token/x", "");
    bench_bad(bench, ERR_NOT_FOUND, NOT_A_POD("DIR/token: Is a directory"));
    bench_take(bench, "token/x");
    bench_take(bench, "token");
    bench_put(bench, "token", "abc\n");
    char *path = xasprintf("%s/namespace", bench->dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fwrite("\0mine", 1, 5, file); /* no namespace can be called so; as "" it would be all of them */
    fclose(file);
    free(path);
    bench_good(bench);
    assert_string_equal(bench->config.namespace_, "default");
    bench_put(bench, "namespace", " mine \n");
    bench_good(bench); /* without ca.crt: the system's roots */
    assert_string_equal(bench->config.server, "https://[fd00::1]:443");
    assert_null(bench->config.ca_pem);
    assert_string_equal(bench->config.namespace_, "mine");
    assert_string_equal(bench->config.source, "in-cluster");
    bench_put(bench, "ca.crt", bench->ca.cert_pem);
    setenv("POD_NAMESPACE", "from-env", 1);
    bench->flags.token = "flag";
    bench_good(bench);
    assert_string_equal(bench->config.ca_pem, bench->ca.cert_pem);
    assert_string_equal(bench->config.namespace_, "from-env");
    assert_string_equal(bench->config.token, "flag");
    assert_null(bench->config.token_file);
    bench->flags.token = NULL;
    bench_good(bench);
    char *token = xasprintf("%s/token", bench->dir);
    assert_string_equal(bench->config.token_file, token);
    free(token);
    bench_use(bench, CLUSTER("") "contexts:\n- name: dev\n  context: {cluster: c}\ncurrent-context: dev\n");
    bench_good(bench); /* a configured cluster wins; only the namespace comes from the pod */
    assert_string_equal(bench->config.server, "https://h:6443");
    assert_string_equal(bench->config.namespace_, "from-env");
}

/* C-6: --token beats a password of the file, --certificate-authority and --insecure-skip-tls-verify together
 * are a mistake (T-1). */
static void test_c6_a_flag_overrides_the_file_in_another_form(void **state)
{
    struct bench *bench = *state;
    bench_use(bench, CLUSTER("") USER("    username: u\n    password: p\n") CONTEXT);
    bench->flags.token = "flag";
    bench_good(bench);
    assert_string_equal(bench->config.token, "flag");
    assert_null(bench->config.username);
    assert_null(bench->config.password);
    bench->flags.insecure_skip_tls_verify = true;
    bench->flags.certificate_authority = bench_put(bench, "ca.pem", bench->ca.cert_pem);
    bench_bad(bench, ERR_INVALID, "--certificate-authority: insecure-skip-tls-verify is set too");
}

static void test_c10_flags_count_in_a_pod_too(void **state)
{
    struct bench *bench = *state;
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    bench_put(bench, "token", "abc\n");
    bench_put(bench, "ca.crt", bench->ca.cert_pem);
    bench->flags.certificate_authority = bench_put(bench, "other.crt", bench->other.cert_pem);
    bench->flags.as = "jane";
    bench_good(bench);
    assert_string_equal(bench->config.source, "in-cluster");
    assert_string_equal(bench->config.ca_pem, bench->other.cert_pem);
    assert_non_null(bench->config.token_file);
    assert_int_equal(bench->config.impersonate_count, 1);
    bench->flags.certificate_authority = NULL;
    bench->flags.insecure_skip_tls_verify = true;
    bench_good(bench);
    assert_null(bench->config.ca_pem);
    assert_null(bench->config.ca_file);
    bench->flags.token_file = bench_put(bench, "mine", "mine");
    bench_good(bench);
    assert_string_equal(bench->config.token_file, bench->flags.token_file);
    bench->flags.server = "https://elsewhere"; /* is another server: a pod's token is not for it */
    bench->flags.token_file = NULL;
    bench_good(bench);
    assert_string_equal(bench->config.source, "the flag --server");
    assert_null(bench->config.token_file);
}

static void test_c10_in_a_pod_too_a_broken_file_is_an_error(void **state)
{
    struct bench *bench = *state;
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    bench_put(bench, "token", "abc\n");
    bench_use(bench, "current-context: gone\n");
    bench_bad(bench, ERR_NOT_FOUND, "DIR/config: current-context \"gone\" does not exist");
    bench_use(bench, "preferences: {}\n"); /* empty */
    bench_good(bench);
    assert_string_equal(bench->config.source, "in-cluster");
}

static void test_c12_where_the_namespace_comes_from(void **state)
{
    struct bench *bench = *state;
    bench_use(bench, CLUSTER("") "contexts:\n- name: dev\n  context: {cluster: c}\n- name: said\n"
                                 "  context: {cluster: c, namespace: default}\ncurrent-context: dev\n");
    bench_good(bench);
    assert_string_equal(bench->config.namespace_, "default");
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    setenv("POD_NAMESPACE", "pod", 1);
    bench_put(bench, "token", "abc\n");
    bench_good(bench);
    assert_string_equal(bench->config.namespace_, "pod");
    bench->flags.context = "said"; /* explicitly the default one */
    bench_good(bench);
    assert_string_equal(bench->config.namespace_, "default");
    bench->flags.namespace_ = "flag";
    bench_good(bench);
    assert_string_equal(bench->config.namespace_, "flag");
}

static void expect_impersonation(struct bench *bench, const char *expected)
{
    struct buf all = {0};
    bench_good(bench);
    for (size_t i = 0; i < bench->config.impersonate_count; i++)
        buf_printf(&all, "%s=%s ", bench->config.impersonate[i].name + strlen("Impersonate-"),
                   bench->config.impersonate[i].value);
    assert_string_equal(buf_text(&all), expected);
    buf_clear(&all);
}

static void test_c6_t9_flags_of_impersonation_beat_the_file_one_by_one(void **state)
{
    static const char *const groups[] = {"g1", "g2"};
    struct bench *bench = *state;
    bench->flags.server = "https://h";
    bench->flags.as_groups = groups;
    bench->flags.as_group_count = 2;
    bench_bad(bench, ERR_INVALID, "--as-uid and --as-group need --as");
    bench->flags.as = "joe";
    expect_impersonation(bench, "User=joe Group=g1 Group=g2 ");
    bench->flags = (struct cluster_flags){.service_account_dir = bench->dir, .as = "joe"};
    bench_use(bench, CLUSTER("") USER("    as: jane\n    as-uid: '7'\n    as-groups: [a]\n"
                                      "    as-user-extra: {k: [v]}\n") CONTEXT);
    expect_impersonation(bench, "User=joe Uid=7 Group=a Extra-k=v ");
    bench->flags.as_groups = groups;
    bench->flags.as_group_count = 1;
    bench->flags.as_uid = "8";
    expect_impersonation(bench, "User=joe Uid=8 Group=g1 Extra-k=v ");
}

static void test_impersonation_becomes_headers(void **state)
{
    struct bench *bench = *state;
    bench_use(bench, CLUSTER("") USER("    token: x\n    as: jane\n    as-uid: '7'\n    as-groups: [a, b]\n"
                                      "    as-user-extra: {'Acme.com/Project%': [p1, p2]}\n") CONTEXT);
    bench_good(bench);
    static const char *const expected[][2] = {{"Impersonate-User", "jane"},
                                              {"Impersonate-Uid", "7"},
                                              {"Impersonate-Group", "a"},
                                              {"Impersonate-Group", "b"},
                                              {"Impersonate-Extra-acme.com%2Fproject%25", "p1"},
                                              {"Impersonate-Extra-acme.com%2Fproject%25", "p2"}};
    assert_int_equal(bench->config.impersonate_count, ARRAY_LEN(expected));
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        assert_string_equal(bench->config.impersonate[i].name, expected[i][0]);
        assert_string_equal(bench->config.impersonate[i].value, expected[i][1]);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, kubeconfig_bench_setup, kubeconfig_bench_teardown)
    const struct CMUnitTest tests[] = {
        T(test_kubeconfig_lists_are_merged_entry_by_entry),
        T(test_c1_all_broken_files_of_a_list_are_named),
        T(test_c1_files_of_a_list_may_all_be_missing),
        T(test_c2_c9_requested_entries_are_searched_in_all_files),
        T(test_c3_a_name_twice_is_an_error_in_each_file),
        T(test_the_home_file_is_the_default),
        T(test_flags_beat_the_file),
        T(test_a_server_flag_needs_no_file),
        T(test_a_pod_finds_its_cluster),
        T(test_impersonation_becomes_headers),
        T(test_c6_a_flag_overrides_the_file_in_another_form),
        T(test_c10_flags_count_in_a_pod_too),
        T(test_c10_in_a_pod_too_a_broken_file_is_an_error),
        T(test_c12_where_the_namespace_comes_from),
        T(test_c6_t9_flags_of_impersonation_beat_the_file_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

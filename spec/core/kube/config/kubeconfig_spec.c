/* core/kube/kubeconfig*.c: one file, its entries, and what is wrong with them (C-3..C-5, C-8, C-9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/text/base64.h"
#include "core/kube/support/kubeconfig_bench.h"

static void test_a_plain_file_returns_server_user_and_namespace(void **state)
{
    struct bench *bench = *state;
    bench_use(bench, "apiVersion: v1\nkind: Config\n" CLUSTER(
                         "    disable-compression: true\n    tls-server-name: t\n")
                         USER("    token: secret\n    unknown-field: {a: [1]}\n") CONTEXT);
    bench_good(bench);
    assert_string_equal(bench->config.server, "https://h:6443");
    assert_string_equal(bench->config.token, "secret");
    assert_string_equal(bench->config.namespace_, "shop");
    assert_string_equal(bench->config.tls_server_name, "t");
    assert_true(bench->config.disable_compression);
    assert_null(bench->config.ca_pem);
    char *source = xasprintf("%s/config, context dev", bench->dir);
    assert_string_equal(bench->config.source, source);
    free(source);
}

static void test_the_source_names_what_flags_replace_of_a_context(void **state)
{
    struct bench *bench = *state;
    bench_use(bench, CLUSTER("") USER("    token: secret\n") CONTEXT);
    bench->flags.token = "hidden";
    bench->flags.as = "jane";
    bench_good(bench);
    char *source = xasprintf("%s/config, context dev, --token, --as jane", bench->dir);
    assert_string_equal(bench->config.source, source);
    free(source);
    bench->flags.server = "https://other";
    bench->flags.token = NULL;
    bench_good(bench);
    source = xasprintf("%s/config, context dev, --server, --as jane", bench->dir);
    assert_string_equal(bench->config.source, source);
    free(source);
}

static void test_certificates_come_from_files_beside_the_config_or_from_data(void **state)
{
    struct bench *bench = *state;
    struct buf data = {0};
    bench_put(bench, "pki/ca.pem", bench->ca.cert_pem);
    bench_put(bench, "pki/client.pem", bench->client.cert_pem);
    bench_put(bench, "pki/client.key", bench->client.key_pem);
    bench_use(bench, CLUSTER("    certificate-authority: pki/ca.pem\n") USER(
                         "    client-certificate: pki/client.pem\n    client-key: pki/client.key\n") CONTEXT);
    bench_good(bench);
    assert_string_equal(bench->config.ca_pem, bench->ca.cert_pem);
    assert_string_equal(bench->config.client_cert_pem, bench->client.cert_pem);
    assert_string_equal(bench->config.client_key_pem, bench->client.key_pem);
    buf_puts(&data, CLUSTER("    certificate-authority-data: "));
    base64_encode(str_of(bench->ca.cert_pem), &data);
    buf_puts(&data, "\n" USER("    client-certificate-data: "));
    base64_encode(str_of(bench->client.cert_pem), &data);
    buf_puts(&data, "\n    client-key-data: ");
    base64_encode(str_of(bench->client.key_pem), &data);
    buf_puts(&data, "\n" CONTEXT);
    bench_use(bench, buf_text(&data));
    bench_good(bench);
    assert_string_equal(bench->config.ca_pem, bench->ca.cert_pem);
    assert_string_equal(bench->config.client_key_pem, bench->client.key_pem);
    buf_clear(&data);
}

/* T-8 too */
static void test_what_is_broken_is_named_with_file_and_field(void **state)
{
    struct bench *bench = *state;
    bench_put(bench, "ca.pem", bench->ca.cert_pem);
    bench_put(bench, "client.pem", bench->client.cert_pem);
    bench_put(bench, "client.key", bench->client.key_pem);
    bench_put(bench, "other.key", bench->other.key_pem);
    bench_put(bench, "junk", "junk");
    bench_put(bench, "empty", ""); /* T-1: no wish to trust the system's roots */
    static const struct {
        const char *cluster, *user;
        enum err_code code;
        const char *text;
    } cases[] = {
        {"    certificate-authority: gone.pem\n", "    token: x\n", ERR_NOT_FOUND,
         "DIR/config: clusters[c].certificate-authority: DIR/gone.pem: No such file or directory"},
        {"    certificate-authority: junk\n", "    token: x\n", ERR_TLS,
         "DIR/config: clusters[c].certificate-authority: DIR/junk: no certificate in PEM form"},
        {"    certificate-authority: empty\n", "    token: x\n", ERR_TLS,
         "DIR/config: clusters[c].certificate-authority: DIR/empty: no certificate in PEM form"},
        {"    certificate-authority-data: '!!'\n", "    token: x\n", ERR_INVALID,
         "DIR/config: clusters[c].certificate-authority-data: not Base64"},
        {"    certificate-authority-data: aaaa\n", "    token: x\n", ERR_TLS,
         "DIR/config: clusters[c].certificate-authority-data: no certificate in PEM form"},
        {"    certificate-authority: ca.pem\n    certificate-authority-data: aaaa\n", "    token: x\n",
         ERR_INVALID, "DIR/config: clusters[c].certificate-authority: certificate-authority-data is set too"},
        {"    certificate-authority: ca.pem\n    insecure-skip-tls-verify: true\n", "    token: x\n",
         ERR_INVALID, "DIR/config: clusters[c].certificate-authority: insecure-skip-tls-verify is set too"},
        {"    insecure-skip-tls-verify: perhaps\n", "    token: x\n", ERR_INVALID,
         "DIR/config: clusters[c].insecure-skip-tls-verify: must be true or false"},
        {"    proxy-url: ftp://user:secret@proxy\n", "    token: x\n", ERR_INVALID,
         "DIR/config: clusters[c].proxy-url: ftp://proxy: scheme must be http, https or socks5"},
        {"    tls-server-name: [a]\n", "    token: x\n", ERR_INVALID,
         "DIR/config: clusters[c].tls-server-name: not a string"},
        {"    disable-compression: 7\n", "    token: x\n", ERR_INVALID,
         "DIR/config: clusters[c].disable-compression: must be true or false"},
        {"    disable-compression: 'true'\n", "    token: x\n", ERR_INVALID,
         "DIR/config: clusters[c].disable-compression: must be true or false"},
        {"", "    token: 123\n", ERR_INVALID,
         "DIR/config: users[u].token: must be a string, not a number; quote it"},
        {"", "    username: true\n", ERR_INVALID,
         "DIR/config: users[u].username: must be a string, not true or false; quote it"},
        {"", "    as: x\n    as-groups: y\n", ERR_INVALID, "DIR/config: users[u].as-groups: not a list"},
        {"", "    as: x\n    as-groups: [a, [b]]\n", ERR_INVALID,
         "DIR/config: users[u].as-groups: not a list of strings"},
        {"", "    as: x\n    as-user-extra: [a]\n", ERR_INVALID,
         "DIR/config: users[u].as-user-extra: not a mapping"},
        {"", "    as: x\n    as-user-extra: {k: v}\n", ERR_INVALID,
         "DIR/config: users[u].as-user-extra: not a list"},
        {"", "    as: x\n    as-user-extra: {k: [5]}\n", ERR_INVALID,
         "DIR/config: users[u].as-user-extra: not a list of strings"},
        {"", "    client-certificate: client.pem\n", ERR_INVALID,
         "DIR/config: users[u].client-certificate: missing client-key"},
        {"", "    client-key: client.key\n", ERR_INVALID,
         "DIR/config: users[u].client-key: missing client-certificate"},
        {"", "    client-certificate: client.pem\n    client-key: other.key\n", ERR_TLS,
         "DIR/config: users[u].client-key: DIR/other.key: the client key does not match the client "
         "certificate"},
        {"", "    client-certificate: client.pem\n    client-key: client.key\n    client-key-data: aaaa\n",
         ERR_INVALID, "DIR/config: users[u].client-key: client-key-data is set too"},
        {"", "    client-certificate: junk\n    client-key: client.key\n", ERR_TLS,
         "DIR/config: users[u].client-certificate: DIR/junk: no certificate in PEM form"},
        {"", "    client-certificate: client.pem\n    client-key: junk\n", ERR_TLS,
         "DIR/config: users[u].client-key: DIR/junk: no private key in PEM form"},
        {"", "    tokenFile: gone\n", ERR_NOT_FOUND,
         "DIR/config: users[u].tokenFile: DIR/gone: No such file or directory"},
        {"", "    tokenFile: .\n", ERR_IO, "DIR/config: users[u].tokenFile: DIR/.: Is a directory"},
        {"", "    token: x\n    username: y\n", ERR_INVALID,
         "DIR/config: users[u]: a token and a user name are both set"},
        {"", "    auth-provider: {name: oidc}\n", ERR_INVALID,
         "DIR/config: users[u].auth-provider: auth providers are not supported"},
        {"    certificate-authority-data: AAAA\n", "    token: x\n", ERR_INVALID,
         "DIR/config: clusters[c].certificate-authority-data: must not contain a NUL byte"},
        {"    tls-server-name: \"a\\0b\"\n", "    token: x\n", ERR_INVALID,
         "DIR/config: clusters[c].tls-server-name: must not contain a NUL byte"},
        {"", "    token: \"a\\0b\"\n", ERR_INVALID,
         "DIR/config: users[u].token: must not contain a NUL byte"},
        {"", "    as: x\n    as-groups: [a, \"b\\0\"]\n", ERR_INVALID,
         "DIR/config: users[u].as-groups: a string must not contain a NUL byte"},
        {"", "    as: x\n    as-user-extra: {\"k\\0\": [v]}\n", ERR_INVALID,
         "DIR/config: users[u].as-user-extra: a key must not contain a NUL byte"},
        {"",
         "    exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: "
         "\"a\\0\"}\n",
         ERR_INVALID, "DIR/config: users[u].exec.command: must not contain a NUL byte"},
        {"", "    as-uid: x\n", ERR_INVALID,
         "DIR/config: users[u]: as-uid, as-groups and as-user-extra need as"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = xasprintf(CLUSTER("%s") USER("%s") CONTEXT, cases[i].cluster, cases[i].user);
        bench_use(bench, text);
        bench_bad(bench, cases[i].code, cases[i].text);
        free(text);
    }
}

static void test_a_broken_key_is_named_without_its_content(void **state)
{
    struct bench *bench = *state;
    bench_put(bench, "client.pem", bench->client.cert_pem);
    bench_put(bench, "client.key", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n");
    bench_use(bench,
              CLUSTER("") USER("    client-certificate: client.pem\n    client-key: client.key\n") CONTEXT);
    assert_false(bench_load(bench));
    assert_int_equal(bench->err.code, ERR_TLS);
    assert_non_null(strstr(bench->err.text, "/client.key: the private key cannot be used: "));
    assert_null(strstr(bench->err.text, "c2VjcmV0"));
    bench_put(bench, "client.key",
              "-----BEGIN ENCRYPTED PRIVATE KEY-----\nc2VjcmV0\n-----END ENCRYPTED PRIVATE KEY-----\n");
    bench_bad(
        bench, ERR_TLS,
        "DIR/config: users[u].client-key: DIR/client.key: the private key has a passphrase, which is not "
        "supported");
}

static void test_broken_files_are_named(void **state)
{
    struct bench *bench = *state;
    bench->flags.kubeconfig = "/nonexistent/config";
    bench_bad(bench, ERR_NOT_FOUND, "/nonexistent/config: No such file or directory");
    bench_use(bench, "clusters: [\n");
    assert_false(bench_load(bench));
    assert_int_equal(bench->err.code, ERR_PARSE);
    assert_non_null(strstr(bench->err.text, "/config:2: "));
    bench_use(bench, "just a text");
    bench_bad(bench, ERR_INVALID, "DIR/config: not a kubeconfig file");
    bench_use(bench, "kind: Pod\napiVersion: v1\n");
    bench_bad(bench, ERR_INVALID, "DIR/config: kind \"Pod\" is not Config");
    bench_use(bench, "clusters: 5\n");
    bench_bad(bench, ERR_INVALID, "DIR/config: clusters: not a list");
    bench_use(bench, "current-context: 5\n");
    bench_bad(bench, ERR_INVALID, "DIR/config: current-context: must be a string, not a number; quote it");
    bench_use(bench, "contexts:\n- name: dev\n  context: {cluster: c, namespace: 5}\n");
    bench_bad(bench, ERR_INVALID,
              "DIR/config: contexts[dev].namespace: must be a string, not a number; quote it");
    bench_use(bench, "users:\n- name: 5\n  user: {}\n");
    bench_bad(bench, ERR_INVALID, "DIR/config: users: a name: must be a string, not a number; quote it");
    bench_use(bench, "users:\n- user: {}\n");
    bench_bad(bench, ERR_INVALID, "DIR/config: users: an entry without a name");
    bench_use(bench, CLUSTER("- name: c\n  cluster: {}\n"));
    bench_bad(bench, ERR_INVALID, "DIR/config: clusters: two entries are named \"c\"");
}

/* `count` times `each`, behind `before`: what costs libyaml a square of it is refused before it does. */
static void assert_too_much(struct bench *bench, const char *before, const char *each, int count,
                            const char *expected)
{
    struct buf text = {0};
    buf_puts(&text, before);
    for (int i = 0; i < count; i++) buf_puts(&text, each);
    bench_use(bench, buf_text(&text));
    bench_bad(bench, ERR_LIMIT, expected);
    buf_clear(&text);
}

static void test_files_that_would_take_minutes_are_refused(void **state)
{
    struct bench *bench = *state;
    assert_too_much(bench, "clusters: ", "[", 80000, "DIR/config:1: nested deeper than 100");
    assert_too_much(bench, "clusters:\n", "- ", 80000, "DIR/config:2: nested deeper than 100");
    assert_too_much(bench, "users: ", "{a: [\n", 40000, "DIR/config:50: nested deeper than 100");
    assert_too_much(bench, "users:\n", "- &a b\n", 20000,
                    "DIR/config:10002: more than 10000 anchors and aliases");
    assert_too_much(bench, "users:\n- &a b\n", "- *a\n", 20000,
                    "DIR/config:10002: more than 10000 anchors and aliases");
    struct buf text = {0};
    for (int i = 0; i < 4000; i++) buf_printf(&text, "%%TAG !t%d! tag:a\n", i);
    assert_too_much(bench, buf_text(&text), "--- {}", 1, "DIR/config: more than 100 %TAG directives");
    buf_clear(&text);
}

static void test_contexts_clusters_and_users_that_are_requested_must_exist(void **state)
{
    struct bench *bench = *state;
    bench_use(bench, CLUSTER("") USER("    token: x\n") CONTEXT "preferences: {}\n");
    bench->flags.context = "nope";
    bench_bad(bench, ERR_NOT_FOUND, "DIR/config: context \"nope\" does not exist");
    bench->flags.context = NULL;
    bench->flags.cluster = "nope";
    bench_bad(bench, ERR_NOT_FOUND, "DIR/config: cluster \"nope\" does not exist");
    bench->flags.cluster = NULL;
    bench->flags.user = "nope";
    bench_bad(bench, ERR_NOT_FOUND, "DIR/config: user \"nope\" does not exist");
    bench->flags.user = NULL;
    bench_use(bench, CLUSTER("") "current-context: gone\n");
    bench_bad(bench, ERR_NOT_FOUND, "DIR/config: current-context \"gone\" does not exist");
    bench_use(bench, "contexts:\n- name: dev\n  context: {cluster: gone}\ncurrent-context: dev\n");
    bench_bad(bench, ERR_NOT_FOUND, "DIR/config: contexts[dev]: cluster \"gone\" does not exist");
    bench_use(bench, CLUSTER("") CONTEXT); /* no user: used without credentials */
    bench_good(bench);
    assert_null(bench->config.token);
}

static void test_without_a_context_the_choice_is_offered(void **state)
{
    struct bench *bench = *state;
    bench_use(
        bench,
        CLUSTER("") "contexts:\n- name: a\n  context: {cluster: c}\n- name: b\n  context: {cluster: c}\n");
    bench_bad(bench, ERR_INVALID, "DIR/config: current-context is not set; use --context with one of: a, b");
    bench->flags.context = "b";
    bench_good(bench);
    bench->flags.context = NULL;
    bench->flags.cluster = "c";
    bench_good(bench);
    char *source = xasprintf("%s/config, cluster c", bench->dir);
    assert_string_equal(bench->config.source, source);
    free(source);
    bench_use(bench, "clusters:\n- name: c\n  cluster: {}\n");
    bench_bad(bench, ERR_INVALID, "DIR/config: clusters[c]: no server");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, kubeconfig_bench_setup, kubeconfig_bench_teardown)
    const struct CMUnitTest tests[] = {
        T(test_a_plain_file_returns_server_user_and_namespace),
        T(test_the_source_names_what_flags_replace_of_a_context),
        T(test_certificates_come_from_files_beside_the_config_or_from_data),
        T(test_what_is_broken_is_named_with_file_and_field),
        T(test_a_broken_key_is_named_without_its_content),
        T(test_broken_files_are_named),
        T(test_files_that_would_take_minutes_are_refused),
        T(test_contexts_clusters_and_users_that_are_requested_must_exist),
        T(test_without_a_context_the_choice_is_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

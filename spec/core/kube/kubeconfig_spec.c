/* core/kube/kubeconfig*.c: which files, which entries, which overrides, and what is wrong with them (C, T-10,
 * T-11). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/mem.h"
#include "kube/kubeconfig.h"
#include "support/tls_files.h"

struct bench {
    char dir[64];
    struct tls_pair ca, client, other;
    struct cluster_flags flags;
    struct cluster_config config;
    struct err err;
};

/* Everything of the machine that would shine through. */
static void clear_environment(struct bench *bench)
{
    unsetenv("KUBECONFIG");
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
    unsetenv("POD_NAMESPACE");
    setenv("HOME", bench->dir, 1);
}

static int setup(void **state)
{
    struct bench *bench = NEW(struct bench);
    strcpy(bench->dir, "/tmp/kubeconfig_spec.XXXXXX");
    assert_non_null(mkdtemp(bench->dir));
    bench->ca = tls_new_ca("unit CA");
    bench->client = tls_new_leaf(&bench->ca, "client", NULL);
    bench->other = tls_new_leaf(&bench->ca, "other", NULL);
    clear_environment(bench);
    bench->flags.service_account_dir = bench->dir;
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    char *command = xasprintf("rm -r %s", bench->dir);
    assert_int_equal(system(command), 0);
    free(command);
    cluster_config_clear(&bench->config);
    tls_pair_clear(&bench->ca);
    tls_pair_clear(&bench->client);
    tls_pair_clear(&bench->other);
    free(bench);
    return 0;
}

/* Writes DIR/name; gives its path, good until the next call but seven. */
static const char *put(struct bench *bench, const char *name, const char *text)
{
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", bench->dir, name);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static bool load(struct bench *bench)
{
    cluster_config_clear(&bench->config);
    err_clear(&bench->err);
    return cluster_config_load(&bench->flags, &bench->config, &bench->err);
}

static void good(struct bench *bench)
{
    if (!load(bench)) fail_msg("%s", bench->err.text);
}

/* The text is `expected` with DIR for the folder. */
static void bad(struct bench *bench, enum err_code code, const char *expected)
{
    struct buf text = {0};
    assert_false(load(bench));
    for (const char *p = expected; *p; p++) {
        if (strncmp(p, "DIR", 3) == 0) {
            buf_puts(&text, bench->dir);
            p += 2;
        } else
            buf_putc(&text, *p);
    }
    assert_string_equal(bench->err.text, buf_text(&text));
    assert_int_equal(bench->err.code, code);
    assert_null(bench->config.server);
    buf_clear(&text);
}

#define CLUSTER(more) "clusters:\n- name: c\n  cluster:\n    server: https://h:6443/\n" more
#define USER(more)    "users:\n- name: u\n  user:\n" more
#define CONTEXT \
    "contexts:\n- name: dev\n  context: {cluster: c, user: u, namespace: shop}\ncurrent-context: dev\n"

static void use(struct bench *bench, const char *text)
{
    bench->flags.kubeconfig = put(bench, "config", text);
}

static void test_a_plain_file_gives_server_user_and_namespace(void **state)
{
    struct bench *bench = *state;
    use(bench,
        "apiVersion: v1\nkind: Config\n" CLUSTER("    disable-compression: true\n    tls-server-name: t\n")
            USER("    token: secret\n    unknown-field: {a: [1]}\n") CONTEXT);
    good(bench);
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

static void test_certificates_come_from_files_beside_the_config_or_from_data(void **state)
{
    struct bench *bench = *state;
    struct buf data = {0};
    put(bench, "pki/ca.pem", bench->ca.cert_pem);
    put(bench, "pki/client.pem", bench->client.cert_pem);
    put(bench, "pki/client.key", bench->client.key_pem);
    use(bench, CLUSTER("    certificate-authority: pki/ca.pem\n")
                   USER("    client-certificate: pki/client.pem\n    client-key: pki/client.key\n") CONTEXT);
    good(bench);
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
    use(bench, buf_text(&data));
    good(bench);
    assert_string_equal(bench->config.ca_pem, bench->ca.cert_pem);
    assert_string_equal(bench->config.client_key_pem, bench->client.key_pem);
    buf_clear(&data);
}

static void test_what_is_broken_is_named_with_file_and_field(void **state)
{
    struct bench *bench = *state;
    put(bench, "ca.pem", bench->ca.cert_pem);
    put(bench, "client.pem", bench->client.cert_pem);
    put(bench, "client.key", bench->client.key_pem);
    put(bench, "other.key", bench->other.key_pem);
    put(bench, "junk", "junk");
    static const struct {
        const char *cluster, *user;
        enum err_code code;
        const char *text;
    } cases[] = {
        {"    certificate-authority: gone.pem\n", "    token: x\n", ERR_NOT_FOUND,
         "DIR/config: clusters[c].certificate-authority: DIR/gone.pem: No such file or directory"},
        {"    certificate-authority: junk\n", "    token: x\n", ERR_TLS,
         "DIR/config: clusters[c].certificate-authority: no certificate in PEM form"},
        {"    certificate-authority-data: '!!'\n", "    token: x\n", ERR_INVALID,
         "DIR/config: clusters[c].certificate-authority-data: not Base64"},
        {"    certificate-authority-data: aaaa\n", "    token: x\n", ERR_TLS,
         "DIR/config: clusters[c].certificate-authority-data: no certificate in PEM form"},
        {"    certificate-authority: ca.pem\n    certificate-authority-data: aaaa\n", "    token: x\n",
         ERR_INVALID, "DIR/config: clusters[c].certificate-authority: certificate-authority-data is set too"},
        {"    certificate-authority: ca.pem\n    insecure-skip-tls-verify: true\n", "    token: x\n",
         ERR_INVALID, "DIR/config: clusters[c].certificate-authority: insecure-skip-tls-verify is set too"},
        {"    insecure-skip-tls-verify: perhaps\n", "    token: x\n", ERR_INVALID,
         "DIR/config: clusters[c].insecure-skip-tls-verify: neither true nor false"},
        {"    proxy-url: http://proxy\n", "    token: x\n", ERR_INVALID,
         "DIR/config: clusters[c].proxy-url: proxies are not supported"},
        {"    tls-server-name: [a]\n", "    token: x\n", ERR_INVALID,
         "DIR/config: clusters[c].tls-server-name: not a text"},
        {"", "    client-certificate: client.pem\n", ERR_INVALID,
         "DIR/config: users[u].client-certificate: there is no client-key for it"},
        {"", "    client-key: client.key\n", ERR_INVALID,
         "DIR/config: users[u].client-key: there is no client-certificate for it"},
        {"", "    client-certificate: client.pem\n    client-key: other.key\n", ERR_TLS,
         "DIR/config: users[u].client-key: the client key does not belong to the client certificate"},
        {"", "    client-certificate: client.pem\n    client-key: client.key\n    client-key-data: aaaa\n",
         ERR_INVALID, "DIR/config: users[u].client-key: client-key-data is set too"},
        {"", "    client-certificate: junk\n    client-key: client.key\n", ERR_TLS,
         "DIR/config: users[u].client-certificate: no certificate in PEM form"},
        {"", "    tokenFile: gone\n", ERR_NOT_FOUND,
         "DIR/config: users[u].tokenFile: DIR/gone: No such file or directory"},
        {"", "    tokenFile: .\n", ERR_IO, "DIR/config: users[u].tokenFile: DIR/.: Is a directory"},
        {"", "    token: x\n    username: y\n", ERR_INVALID,
         "DIR/config: users[u]: a token and a user name are both set"},
        {"", "    exec: {command: aws}\n", ERR_INVALID,
         "DIR/config: users[u].exec: exec plugins are not supported"},
        {"", "    auth-provider: {name: oidc}\n", ERR_INVALID,
         "DIR/config: users[u].auth-provider: auth providers are not supported"},
        {"", "    as-uid: x\n", ERR_INVALID,
         "DIR/config: users[u]: as-uid, as-groups and as-user-extra need as"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = xasprintf(CLUSTER("%s") USER("%s") CONTEXT, cases[i].cluster, cases[i].user);
        use(bench, text);
        bad(bench, cases[i].code, cases[i].text);
        free(text);
    }
}

static void test_a_broken_key_is_named_without_its_content(void **state)
{
    struct bench *bench = *state;
    put(bench, "client.pem", bench->client.cert_pem);
    put(bench, "client.key", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n");
    use(bench, CLUSTER("") USER("    client-certificate: client.pem\n    client-key: client.key\n") CONTEXT);
    assert_false(load(bench));
    assert_int_equal(bench->err.code, ERR_TLS);
    assert_non_null(strstr(bench->err.text, "users[u].client-key: no usable private key"));
    assert_null(strstr(bench->err.text, "c2VjcmV0"));
}

static void test_broken_files_are_named(void **state)
{
    struct bench *bench = *state;
    bench->flags.kubeconfig = "/nonexistent/config";
    bad(bench, ERR_NOT_FOUND, "/nonexistent/config: No such file or directory");
    use(bench, "clusters: [\n");
    assert_false(load(bench));
    assert_int_equal(bench->err.code, ERR_PARSE);
    assert_non_null(strstr(bench->err.text, "/config: line 2: "));
    use(bench, "just a text");
    bad(bench, ERR_INVALID, "DIR/config: not a kubeconfig file");
    use(bench, "kind: Pod\napiVersion: v1\n");
    bad(bench, ERR_INVALID, "DIR/config: kind \"Pod\" is not Config");
    use(bench, "clusters: 5\n");
    bad(bench, ERR_INVALID, "DIR/config: clusters: not a list");
    use(bench, "users:\n- user: {}\n");
    bad(bench, ERR_INVALID, "DIR/config: users: an entry without a name");
    use(bench, CLUSTER("- name: c\n  cluster: {}\n"));
    bad(bench, ERR_INVALID, "DIR/config: clusters: two entries are named \"c\"");
}

static void test_contexts_clusters_and_users_that_are_asked_for_must_exist(void **state)
{
    struct bench *bench = *state;
    use(bench, CLUSTER("") USER("    token: x\n") CONTEXT "preferences: {}\n");
    bench->flags.context = "nope";
    bad(bench, ERR_NOT_FOUND, "DIR/config: context \"nope\" does not exist");
    bench->flags.context = NULL;
    bench->flags.cluster = "nope";
    bad(bench, ERR_NOT_FOUND, "DIR/config: cluster \"nope\" does not exist");
    bench->flags.cluster = NULL;
    bench->flags.user = "nope";
    bad(bench, ERR_NOT_FOUND, "DIR/config: user \"nope\" does not exist");
    bench->flags.user = NULL;
    use(bench, CLUSTER("") "current-context: gone\n");
    bad(bench, ERR_NOT_FOUND, "DIR/config: current-context \"gone\" does not exist");
    use(bench, "contexts:\n- name: dev\n  context: {cluster: gone}\ncurrent-context: dev\n");
    bad(bench, ERR_NOT_FOUND, "DIR/config: contexts[dev]: cluster \"gone\" does not exist");
    use(bench, CLUSTER("") CONTEXT); /* no user: used without credentials */
    good(bench);
    assert_null(bench->config.token);
}

static void test_without_a_context_the_choice_is_offered(void **state)
{
    struct bench *bench = *state;
    use(bench,
        CLUSTER("") "contexts:\n- name: a\n  context: {cluster: c}\n- name: b\n  context: {cluster: c}\n");
    bad(bench, ERR_INVALID, "DIR/config: current-context is not set; choose one by --context: a, b");
    bench->flags.context = "b";
    good(bench);
    bench->flags.context = NULL;
    bench->flags.cluster = "c";
    good(bench);
    char *source = xasprintf("%s/config, cluster c", bench->dir);
    assert_string_equal(bench->config.source, source);
    free(source);
    use(bench, "clusters:\n- name: c\n  cluster: {}\n");
    bad(bench, ERR_INVALID, "DIR/config: clusters[c]: no server");
}

static void test_kubeconfig_lists_are_merged_entry_by_entry(void **state)
{
    struct bench *bench = *state;
    const char *one = put(bench, "one/config",
                          "clusters:\n- name: c\n  cluster: {server: 'https://one'}\n"
                          "users:\n- name: u\n  user: {tokenFile: token}\n");
    put(bench, "one/token", " first \n");
    const char *two =
        put(bench, "two/config", CLUSTER("    tls-server-name: t\n") USER("    token: second\n") CONTEXT);
    const char *three = put(bench, "three", "current-context: other\n");
    char *list = xasprintf("/nonexistent::%s:%s:%s:%s", one, two, one, three);
    setenv("KUBECONFIG", list, 1);
    good(bench);
    assert_string_equal(bench->config.server, "https://one");
    assert_null(bench->config.tls_server_name);
    assert_null(bench->config.token);
    char *token = xasprintf("%s/one/token", bench->dir);
    assert_string_equal(bench->config.token_file, token);
    assert_string_equal(bench->config.namespace_, "shop");
    free(list);
    free(token);
    put(bench, "three", "}");
    assert_false(load(bench));
    assert_non_null(strstr(bench->err.text, "/three: line 1: "));
}

static void test_the_home_file_is_the_default(void **state)
{
    struct bench *bench = *state;
    put(bench, ".kube/config", CLUSTER("") USER("    token: x\n") CONTEXT);
    good(bench);
    assert_string_equal(bench->config.token, "x");
    put(bench, ".kube/config", "");
    bad(bench, ERR_NOT_FOUND,
        "no cluster is configured: give --kubeconfig or --server, set KUBECONFIG, or write ~/.kube/config");
}

static void test_flags_beat_the_file(void **state)
{
    struct bench *bench = *state;
    put(bench, "ca.pem", bench->ca.cert_pem);
    put(bench, "client.pem", bench->client.cert_pem);
    put(bench, "client.key", bench->client.key_pem);
    struct cluster_flags plain = bench->flags;
    use(bench, CLUSTER("    certificate-authority: ca.pem\n    tls-server-name: t\n")
                   USER("    tokenFile: ca.pem\n") CONTEXT);
    plain = bench->flags;
    bench->flags.insecure_skip_tls_verify = true; /* clears the CA */
    bench->flags.token = "flag";                  /* and the token file */
    bench->flags.namespace_ = "other";
    good(bench);
    assert_true(bench->config.insecure_skip_tls_verify);
    assert_null(bench->config.ca_pem);
    assert_string_equal(bench->config.token, "flag");
    assert_null(bench->config.token_file);
    assert_string_equal(bench->config.namespace_, "other");
    assert_string_equal(bench->config.tls_server_name, "t");
    bench->flags = plain;
    bench->flags.server = "https://elsewhere:1/base/?q#f"; /* clears the file's tls-server-name */
    good(bench);
    assert_string_equal(bench->config.server, "https://elsewhere:1/base");
    assert_null(bench->config.tls_server_name);
    assert_non_null(bench->config.ca_pem);
    bench->flags.tls_server_name = "mine";
    good(bench);
    assert_string_equal(bench->config.tls_server_name, "mine");
    use(bench, CLUSTER("    insecure-skip-tls-verify: true\n")
                   USER("    client-certificate-data: aaaa\n    client-key-data: aaaa\n") CONTEXT);
    bench->flags.certificate_authority = put(bench, "ca.pem", bench->ca.cert_pem); /* clears insecure */
    bench->flags.client_certificate = put(bench, "client.pem", bench->client.cert_pem);
    bench->flags.client_key = put(bench, "client.key", bench->client.key_pem);
    good(bench);
    assert_false(bench->config.insecure_skip_tls_verify);
    assert_string_equal(bench->config.client_key_pem, bench->client.key_pem);
    bench->flags.client_key = "/nonexistent/key";
    bad(bench, ERR_NOT_FOUND, "--client-key: /nonexistent/key: No such file or directory");
}

static void test_a_server_flag_needs_no_file(void **state)
{
    struct bench *bench = *state;
    bench->flags.server = "http://127.0.0.1:8080";
    good(bench);
    assert_string_equal(bench->config.server, "http://127.0.0.1:8080");
    assert_string_equal(bench->config.source, "--server");
    assert_string_equal(bench->config.namespace_, "default");
    bench->flags.server = "localhost:8080"; /* as client-go: plain, unless something of TLS is given */
    good(bench);
    assert_string_equal(bench->config.server, "http://localhost:8080");
    bench->flags.insecure_skip_tls_verify = true;
    good(bench);
    assert_string_equal(bench->config.server, "https://localhost:8080");
    bench->flags.server = "ftp://h";
    bad(bench, ERR_INVALID, "--server: scheme \"ftp\" is neither https nor http");
    bench->flags.server = "https://u:p@h";
    bad(bench, ERR_INVALID, "--server: user names in the address are not supported");
    bench->flags.server = "https://[";
    assert_false(load(bench));
    assert_memory_equal(bench->err.text, "--server: bad address: ", 23);
}

static void test_a_pod_finds_its_cluster(void **state)
{
    struct bench *bench = *state;
    setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    assert_false(load(bench)); /* no token */
    put(bench, "token", "abc\n");
    put(bench, "namespace", " mine \n");
    good(bench); /* without ca.crt: the system's roots */
    assert_string_equal(bench->config.server, "https://[fd00::1]:443");
    assert_null(bench->config.ca_pem);
    assert_string_equal(bench->config.namespace_, "mine");
    assert_string_equal(bench->config.source, "in-cluster");
    put(bench, "ca.crt", bench->ca.cert_pem);
    setenv("POD_NAMESPACE", "from-env", 1);
    bench->flags.token = "flag";
    good(bench);
    assert_string_equal(bench->config.ca_pem, bench->ca.cert_pem);
    assert_string_equal(bench->config.namespace_, "from-env");
    assert_string_equal(bench->config.token, "flag");
    assert_null(bench->config.token_file);
    bench->flags.token = NULL;
    good(bench);
    char *token = xasprintf("%s/token", bench->dir);
    assert_string_equal(bench->config.token_file, token);
    free(token);
    use(bench, CLUSTER("") "contexts:\n- name: dev\n  context: {cluster: c}\ncurrent-context: dev\n");
    good(bench); /* a configured cluster wins; only the namespace comes from the pod */
    assert_string_equal(bench->config.server, "https://h:6443");
    assert_string_equal(bench->config.namespace_, "from-env");
}

static void test_impersonation_becomes_headers(void **state)
{
    struct bench *bench = *state;
    use(bench, CLUSTER("") USER("    token: x\n    as: jane\n    as-uid: '7'\n    as-groups: [a, b]\n"
                                "    as-user-extra: {'Acme.com/Project%': [p1, p2]}\n") CONTEXT);
    good(bench);
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
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_a_plain_file_gives_server_user_and_namespace),
        T(test_certificates_come_from_files_beside_the_config_or_from_data),
        T(test_what_is_broken_is_named_with_file_and_field),
        T(test_a_broken_key_is_named_without_its_content),
        T(test_broken_files_are_named),
        T(test_contexts_clusters_and_users_that_are_asked_for_must_exist),
        T(test_without_a_context_the_choice_is_offered),
        T(test_kubeconfig_lists_are_merged_entry_by_entry),
        T(test_the_home_file_is_the_default),
        T(test_flags_beat_the_file),
        T(test_a_server_flag_needs_no_file),
        T(test_a_pod_finds_its_cluster),
        T(test_impersonation_becomes_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

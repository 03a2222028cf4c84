/* core/kube/config/exec_plugin.c: plugins that are shell scripts, before a server with TLS.
 * The clock runs, and is put forward. */
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/series/series.h"
#include "base/text/base64.h"
#include "core/kube/support/kube_bench.h"
#include "kube/api/kube_call.h"

#define HEAD(version) \
    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/" version "\""
#define TOKEN(token) HEAD("v1") ",\"status\":{\"token\":\"" token "\"}}"

/* What the plugin does: notes that it ran and what it was told, and gives what stands in the file. */
static char script[] = "echo >>$DIR/runs; printf %s \"$KUBERNETES_EXEC_INFO\" >$DIR/info; cat $DIR/answer";

static char dir[64];
static int64_t put_forward_ms;
static int status; /* of the server's answers */

static int64_t forward_now_ms(struct clock *clock)
{
    return clock_now_ms(clock_real()) + put_forward_ms;
}

static int64_t forward_wall_us(struct clock *clock)
{
    return clock_wall_us(clock_real()) + put_forward_ms * 1000;
}

static char *path_of(const char *name)
{
    return xasprintf("%s/%s", dir, name);
}

/* The page of metrics has the line. */
static void expect_metric(const char *line)
{
    struct buf page = {0};
    series_render(&page);
    if (!strstr(buf_text(&page), line)) fail_msg("%s is not in\n%s", line, buf_text(&page));
    buf_clear(&page);
}

/* What is due by then is done in the loop's next turn, not when the loop would have woken. */
static void put_forward(struct bench *bench, int64_t ms)
{
    struct clock *clock = loop_clock(bench->loop);
    put_forward_ms = ms;
    clock->rearm(clock);
}

static void put(const char *name, const char *text)
{
    char *path = path_of(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

static void expect_file(const char *name, const char *expected)
{
    char text[4096] = "", *path = path_of(name);
    FILE *file = fopen(path, "r");
    if (file) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    assert_string_equal(text, expected);
    free(path);
}

static void expect_runs(size_t runs)
{
    char lines[20] = "";
    memset(lines, '\n', runs);
    expect_file("runs", lines);
}

static void answer(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, status, "Content-Type: application/json\r\n", "{}");
    if (tiny_peer_name(conn)[0]) buf_printf(&bench->log, "%s\n", tiny_peer_name(conn));
}

static struct exec_config *make_exec(const char *shell)
{
    const char *args[] = {"-c", shell, NULL};
    char *env = xasprintf("DIR=%s", dir), *vars[] = {env, NULL};
    const struct exec_config exec = {.api_version = (char *)EXEC_V1,
                                     .command = (char *)"sh",
                                     .args = (char **)args,
                                     .env = vars,
                                     .cluster_config = (char *)"{\"audience\":\"x\"}",
                                     .interactive = EXEC_IF_AVAILABLE};
    struct exec_config *copy = exec_config_copy(&exec);
    free(env);
    return copy;
}

static int setup(void **state)
{
    strcpy(dir, "/tmp/exec_plugin_spec.XXXXXX");
    assert_non_null(mkdtemp(dir));
    assert_int_equal(kube_bench_setup(state), 0);
    struct bench *bench = *state;
    struct clock *clock = loop_clock(bench->loop);
    timer_cancel(&bench->guard);
    alarm(30); /* instead of the guard, whose clock is put forward */
    put_forward_ms = 0;
    status = 200;
    clock->now_ms = forward_now_ms;
    clock->wall_us = forward_wall_us;
    bench->answer = answer;
    bench->config.exec = make_exec(script);
    put("answer", TOKEN("one"));
    return 0;
}

static int teardown(void **state)
{
    static const char *const files[] = {"runs", "info", "answer"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        char *path = path_of(files[i]);
        unlink(path);
        free(path);
    }
    rmdir(dir);
    kube_bench_teardown(state);
    return waitpid(-1, NULL, WNOHANG) == -1 ? 0 : -1; /* no child is left behind */
}

static void on_got(void *ctx, const struct kube_response *got, const struct err *err)
{
    bench_note_end(ctx, err);
}

static struct kube_call *start(struct bench *bench)
{
    const struct kube_request request = {.path = "/x", .limit = 100, .once = true};
    return kube_call_start(bench->client, &request, on_got, bench);
}

static void get(struct bench *bench)
{
    start(bench);
    bench_until_done(bench);
}

static void get_as(struct bench *bench, const char *token)
{
    char *header = xasprintf("\r\nAuthorization: Bearer %s\r\n", token);
    get(bench);
    if (bench->err.code != ERR_NONE) fail_msg("%s", bench->err.text);
    assert_true(bench_head_has(bench, header));
    free(header);
}

static void test_t12_the_plugin_is_passed_the_cluster(void **state)
{
    struct bench *bench = *state;
    bench->config.tls_server_name = xstrdup("127.0.0.1");
    bench->config.disable_compression = true;
    bench_new_client(bench, true);
    get_as(bench, "one");
    expect_file("info", HEAD("v1") ",\"spec\":{\"interactive\":false}}");
    kube_client_free(bench->client);
    bench->config.exec->provide_cluster_info = true;
    bench->client = kube_client_new(bench->loop, bench->pool,
                                    &(struct kube_client_options){.config = &bench->config}, &bench->err);
    get_as(bench, "one");
    struct buf expected = {0};
    buf_printf(&expected,
               HEAD("v1") ",\"spec\":{\"cluster\":{\"server\":\"%s\",\"tls-server-name\":\"127.0.0.1\","
                          "\"certificate-authority-data\":\"",
               bench->config.server);
    base64_encode(str_of(bench->config.ca_pem), &expected);
    buf_puts(&expected, "\",\"disable-compression\":true,\"config\":{\"audience\":\"x\"}},"
                        "\"interactive\":false}}");
    expect_file("info", buf_text(&expected));
    buf_clear(&expected);
}

static void test_t13_one_run_serves_all_until_it_expires(void **state)
{
    struct bench *bench = *state;
    put("answer",
        HEAD("v1") ",\"status\":{\"token\":\"one\",\"expirationTimestamp\":\"2100-01-01T00:00:00Z\"}}");
    bench_new_client(bench, true);
    start(bench);
    start(bench);
    start(bench);
    while (bench->dones < 3) loop_once(bench->loop, true);
    assert_true(bench_head_has(bench, "Bearer one"));
    put_forward(bench, 3600000);
    get_as(bench, "one");
    expect_runs(1);
    put("answer", TOKEN("two"));
    put_forward(bench, 80LL * 365 * 86400 * 1000); /* beyond the end of the first one */
    get_as(bench, "two");
    get_as(bench, "two");
    expect_runs(2);
}

static void test_t13_what_has_expired_when_it_comes_is_used_for_what_waits(void **state)
{
    struct bench *bench = *state;
    put("answer",
        HEAD(
            "v1") ",\"status\":{\"token\":\"one\",\"expirationTimestamp\":\"2001-01-01T02:00:00.5+02:00\"}}");
    bench_new_client(bench, true);
    get_as(bench, "one");
    expect_runs(1);
    put_forward(bench, 2000);
    get_as(bench, "one");
    expect_runs(2);
}

static void test_t13_a_401_is_given_and_the_next_request_has_a_new_token(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, true);
    get_as(bench, "one");
    put_forward(bench, 2000);
    put("answer", TOKEN("two"));
    status = 401;
    start(bench);
    start(bench); /* it goes with the old token too, and asks for no other run */
    while (bench->dones < 3) loop_once(bench->loop, true);
    assert_int_equal(bench->err.http_status, 401);
    status = 200;
    get_as(bench, "two");
    expect_runs(2);
}

static struct tiny_conn *held[2];
static int held_count;

static void hold(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    held[held_count++] = conn;
}

static void test_t13_a_late_401_for_an_older_token_starts_no_run(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, true);
    get_as(bench, "one");
    put("answer", TOKEN("two"));
    put_forward(bench, 2000);
    bench->answer = hold;
    held_count = 0;
    start(bench);
    start(bench);
    while (held_count < 2) loop_once(bench->loop, true);
    bench->answer = answer;
    tiny_answer(held[0], 401, "", "{}");
    while (bench->dones < 2) loop_once(bench->loop, true);
    get_as(bench, "two");
    put("answer", TOKEN("three"));
    put_forward(bench, 4000);
    int before = bench->dones;
    tiny_answer(held[1], 401, "", "{}");
    while (bench->dones == before) loop_once(bench->loop, true);
    assert_int_equal(bench->err.http_status, 401);
    get_as(bench, "two");
    expect_runs(2);
}

static void test_t13_a_plugin_that_fails_after_a_401_leaves_the_old_token(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, true);
    get_as(bench, "one");
    put_forward(bench, 2000);
    put("answer", "nonsense");
    status = 401;
    get(bench);
    status = 200;
    get_as(bench, "one");
}

static void pair_answer(struct buf *out, const struct tls_pair *pair)
{
    buf_puts(out, HEAD("v1") ",\"status\":{\"expirationTimestamp\":\"2050-01-01T00:00:00Z\","
                             "\"clientCertificateData\":");
    buf_json_string(out, str_of(pair->cert_pem));
    buf_puts(out, ",\"clientKeyData\":");
    buf_json_string(out, str_of(pair->key_pem));
    buf_puts(out, "}}");
}

/* H-16 too */
static void test_t13_a_new_certificate_closes_all_connections(void **state)
{
    struct bench *bench = *state;
    struct tls_pair one = tls_new_leaf(&bench->ca, "one", NULL), two = tls_new_leaf(&bench->ca, "two", NULL);
    struct buf first = {0}, second = {0};
    pair_answer(&first, &one);
    pair_answer(&second, &two);
    put("answer", buf_text(&first));
    bench->config.tls_server_name = xstrdup("127.0.0.1");
    bench_new_client(bench, true);
    tls_want_client(bench->tls, &bench->ca);
    get(bench);
    assert_string_equal(buf_text(&bench->log), "one\n");
    expect_metric("\nrest_client_exec_plugin_ttl_seconds 86"); /* about a day */
    expect_metric("\nrest_client_exec_plugin_certificate_rotation_age_count 0\n");
    assert_false(bench_head_has(bench, "Authorization"));
    put("answer", buf_text(&second));
    put_forward(bench, 40LL * 365 * 86400 * 1000);
    get(bench);
    assert_string_equal(buf_text(&bench->log), "one\ntwo\n");
    expect_metric("\nrest_client_exec_plugin_ttl_seconds -126"); /* forty years ago */
    expect_metric("\nrest_client_exec_plugin_certificate_rotation_age_count 1\n");
    expect_metric("\nrest_client_exec_plugin_call_total{code=\"0\",call_status=\"no_error\"} 2\n");
    bench_settle(bench);
    assert_int_equal(tiny_server_open(bench->server), 1);
    buf_clear(&first);
    buf_clear(&second);
    tls_pair_clear(&one);
    tls_pair_clear(&two);
}

static void test_t13_other_credentials_win(void **state)
{
    struct bench *bench = *state;
    bench->config.token = xstrdup("own");
    bench_new_client(bench, true);
    get_as(bench, "own");
    expect_runs(0);
}

static void test_c7_no_plugin_runs_for_a_plain_server(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    get(bench);
    assert_int_equal(bench->err.code, ERR_NONE);
    expect_runs(0);
}

static void expect_failure(struct bench *bench, const char *shell, const char *text)
{
    exec_config_free(bench->config.exec);
    bench->config.exec = make_exec(shell);
    bench_new_client(bench, true);
    get(bench);
    assert_int_equal(bench->err.code, ERR_IO);
    assert_string_equal(bench->err.text, text);
}

static void test_t12_a_plugin_that_fails_fails_what_waits(void **state)
{
    struct bench *bench = *state;
    expect_failure(bench, "echo >>$DIR/runs; echo a secret; exit 3", "exec plugin sh: exit code 3");
    get(bench); /* the failure stands for a second */
    expect_runs(1);
    put_forward(bench, 2000);
    get(bench);
    expect_runs(2);
    expect_metric("{code=\"3\",call_status=\"plugin_execution_error\"} 2\n");
}

static void test_t14_always_needs_a_terminal(void **state)
{
    struct bench *bench = *state;
    bench->config.exec->interactive = EXEC_ALWAYS;
    bench_new_client(bench, true);
    get(bench);
    assert_string_equal(bench->err.text,
                        "exec plugin sh: interactiveMode is Always, but stdin is not a terminal");
    expect_runs(0);
}

static void test_t14_a_plugin_has_the_terminal_that_there_is(void **state)
{
    struct bench *bench = *state;
    exec_config_free(bench->config.exec);
    bench->config.exec = make_exec("printf %s \"$KUBERNETES_EXEC_INFO\" >$DIR/info; stty -echo; read token; "
                                   "sed \"s/one/$token/\" <$DIR/answer");
    bench->config.exec->interactive = EXEC_ALWAYS;
    int master, slave, before = dup(STDIN_FILENO);
    assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
    dup2(slave, STDIN_FILENO);
    bench_new_client(bench, true);
    start(bench);
    assert_int_equal(write(master, "typed\n", 6), 6);
    bench_until_done(bench);
    assert_true(bench_head_has(bench, "Bearer typed"));
    expect_file("info", HEAD("v1") ",\"spec\":{\"interactive\":true}}");
    dup2(before, STDIN_FILENO);
    close(before);
    close(master);
    close(slave);
}

static void test_a_plugin_that_runs_is_killed_at_the_end(void **state)
{
    struct bench *bench = *state;
    exec_config_free(bench->config.exec);
    bench->config.exec = make_exec("echo >>$DIR/runs; sleep 1000");
    bench_new_client(bench, true);
    struct kube_call *call = start(bench);
    char *runs = path_of("runs");
    while (access(runs, F_OK) != 0) loop_once(bench->loop, false);
    free(runs);
    assert_int_equal(tiny_server_accepted(bench->server), 0);
    kube_call_cancel(call); /* teardown sees that no child is left */
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_t12_the_plugin_is_passed_the_cluster),
        T(test_t13_one_run_serves_all_until_it_expires),
        T(test_t13_what_has_expired_when_it_comes_is_used_for_what_waits),
        T(test_t13_a_401_is_given_and_the_next_request_has_a_new_token),
        T(test_t13_a_late_401_for_an_older_token_starts_no_run),
        T(test_t13_a_plugin_that_fails_after_a_401_leaves_the_old_token),
        T(test_t13_a_new_certificate_closes_all_connections),
        T(test_t13_other_credentials_win),
        T(test_c7_no_plugin_runs_for_a_plain_server),
        T(test_t12_a_plugin_that_fails_fails_what_waits),
        T(test_t14_always_needs_a_terminal),
        T(test_t14_a_plugin_has_the_terminal_that_there_is),
        T(test_a_plugin_that_runs_is_killed_at_the_end),
    };
    assert_non_null(freopen("/dev/null", "r", stdin)); /* no terminal, wherever this runs */
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* core/net/url/proxy.c, no_proxy.c, and the transport through them (T-4) (E-8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/transport.h"
#include "net/url/no_proxy.h"
#include "net/url/proxy.h"
#include "support/tiny_proxy.h"
#include "support/tls_bench.h"

static void test_t4_no_proxy_is_read_as_go_reads_it(void **state)
{
    static const struct {
        const char *list, *host;
        int port;
        bool has;
    } cases[] = {
        {"*", "any.example", 443, true},
        {"", "any.example", 443, false},
        {" , ,a.example", "a.example", 443, true},
        {"example.com", "example.com", 443, true},
        {"example.com", "api.Example.COM", 443, true},
        {"example.com", "api.example.com.", 443, true},
        {"example.com", "badexample.com", 443, false},
        {".example.com", "example.com", 443, false},
        {".example.com", "api.example.com", 443, true},
        {"*.example.com", "api.example.com", 443, true},
        {"*.example.com", "example.com", 443, false},
        {"example.com:6443", "example.com", 6443, true},
        {"example.com:6443", "example.com", 443, false},
        {"example.com:none", "example.com", 443, false},
        {"10.0.0.0/8", "10.1.2.3", 443, true},
        {"10.0.0.0/8", "11.1.2.3", 443, false},
        {"10.0.0.0/8", "::ffff:a00:1", 443, true},
        {"10.128.0.0/9", "10.127.0.1", 443, false},
        {"10.128.0.0/9", "10.200.0.1", 443, true},
        {"0.0.0.0/0", "192.0.2.1", 443, true},
        {"0.0.0.0/0", "a.example", 443, false},
        {"fd00::/8", "fd12::1", 443, true},
        {"fd00::/8", "fe12::1", 443, false},
        {"10.0.0.0/33", "10.0.0.0", 443, false},
        {"192.0.2.7", "192.0.2.7", 443, true},
        {"192.0.2.7:443", "192.0.2.7", 443, true},
        {"192.0.2.7:80", "192.0.2.7", 443, false},
        {"2001:db8::1", "2001:DB8:0::1", 443, true},
        {"[2001:db8::1]:443", "2001:db8::1", 443, true},
        {"[2001:db8::1]:80", "2001:db8::1", 443, false},
        {"[2001:db8::1]", "2001:db8::1", 443, true},
        {"2.7", "192.0.2.7", 443, true}, /* a suffix of names; Go has it so too */
        {":443", "a.example", 443, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (no_proxy_has(cases[i].list, cases[i].host, cases[i].port) != cases[i].has)
            fail_msg("\"%s\" and %s:%d", cases[i].list, cases[i].host, cases[i].port);
    assert_true(no_proxy_is_local("LocalHost"));
    assert_true(no_proxy_is_local("127.9.9.9"));
    assert_true(no_proxy_is_local("::1"));
    assert_false(no_proxy_is_local("localhost.example"));
}

static void test_t4_addresses_of_proxies(void **state)
{
    static const struct {
        const char *url, *text; /* NULL: it can be used */
    } cases[] = {
        {"http://p.example", NULL},
        {"https://user:pass@p.example:3128", NULL},
        {"socks5://[::1]:1080", NULL},
        {"SOCKS5H://p", NULL},
        {"ftp://user:secret@p.example", "ftp://p.example: scheme must be http, https or socks5"},
        {"ftp://user:se/cr?et@secret@p.example:1/secret?secret#secret", "ftp://p.example:1: bad address: "},
        {"p.example:3128", "p.example:3128: bad address: "},
        {"http://user:secret@p.example:port", "http://p.example:port: bad address: "},
        {"http://", "http://: bad address: "},
        {"", "bad address: "},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err;
        bool good = proxy_check(cases[i].url, &err);
        if (good != !cases[i].text) fail_msg("%s", cases[i].url);
        if (good) continue;
        assert_int_equal(err.code, ERR_INVALID);
        if (strncmp(err.text, cases[i].text, strlen(cases[i].text)) != 0) fail_msg("%s", err.text);
        assert_null(strstr(err.text, "secret"));
    }
}

static void expect_proxy(const char *scheme, const char *host, int port, const char *expected)
{
    struct err err;
    struct proxies *proxies = proxies_new(NULL, &err);
    assert_non_null(proxies);
    const struct proxy *proxy = proxies_find(proxies, scheme, host, port);
    assert_string_equal(proxy ? proxy->url : "", expected);
    proxies_free(proxies);
}

static void test_t4_the_environment_s_proxies(void **state)
{
    struct err err;
    setenv("HTTPS_PROXY", "https://user:p%40ss@secure:3128", 1);
    setenv("https_proxy", "http://lower", 1);
    setenv("http_proxy", "plain:3128", 1);
    setenv("NO_PROXY", "direct,10.0.0.0/8,port:6443", 1);
    expect_proxy("https", "a.example", 443, "https://secure:3128");
    expect_proxy("http", "a.example", 80, "http://plain:3128");
    expect_proxy("https", "direct", 443, "");
    expect_proxy("https", "10.1.1.1", 443, "");
    expect_proxy("https", "port", 6443, "");
    expect_proxy("https", "port", 443, "https://secure:3128");
    expect_proxy("https", "localhost", 443, "");
    expect_proxy("https", "127.0.0.1", 443, "");
    expect_proxy("https", "::1", 443, "");
    struct proxies *proxies = proxies_new("socks5://own", &err); /* it wins, everywhere */
    assert_string_equal(proxies_find(proxies, "https", "localhost", 443)->url, "socks5h://own:1080");
    proxies_free(proxies);
    proxies = proxies_new(NULL, &err);
    const struct proxy *secure = proxies_find(proxies, "https", "a.example", 443);
    assert_string_equal(secure->user, "user");
    assert_string_equal(secure->password, "p@ss");
    assert_string_equal(secure->where, "secure:3128");
    proxies_free(proxies);
    setenv("HTTPS_PROXY", "ftp://user:secret@x", 1);
    assert_null(proxies_new(NULL, &err));
    assert_string_equal(err.text,
                        "the environment's HTTPS_PROXY: ftp://x: scheme must be http, https or socks5");
    unsetenv("HTTPS_PROXY");
    expect_proxy("https", "a.example", 443, "http://lower:80");
    unsetenv("https_proxy");
    unsetenv("http_proxy");
    unsetenv("NO_PROXY");
    expect_proxy("https", "a.example", 443, "");
}

/* --- through them */

static int setup(void **state)
{
    struct tls_bench *bench = NEW(struct tls_bench);
    tls_bench_init(bench, "DNS:api.unit.example,IP:127.0.0.1");
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    tls_bench_clear(*state);
    free(*state);
    return 0;
}

/* One GET of `url`, of the server's port for %d, through `proxy`, of its port for %d. */
static void get(struct tls_bench *bench, const char *url, const char *proxy, int proxy_port,
                const char *server_name)
{
    const struct http_header headers[] = {{"Authorization", "Bearer secret"}, {0}};
    struct buf at = {0}, through = {0};
    buf_printf(&at, "%s:%d/x", url, tiny_server_port(bench->server));
    buf_printf(&through, "%s:%d", proxy, proxy_port);
    const struct transport_options options = {.tls.ca_pem = str_of(bench->ca.cert_pem),
                                              .proxy_url = buf_text(&through),
                                              .tls_server_name = server_name};
    tls_bench_get(bench, &options, &(struct http_request){.url = buf_text(&at), .headers = headers});
    buf_clear(&at);
    buf_clear(&through);
}

static void expect_seen(struct tiny_proxy *proxy, const char *how, const char *host, int port)
{
    char *expected = xasprintf("%s %s:%d\n", how, host, port);
    assert_string_equal(tiny_proxy_seen(proxy), expected);
    free(expected);
}

static void test_t4_tls_goes_through_a_tunnel(void **state)
{
    struct tls_bench *bench = *state;
    struct tiny_proxy *proxy = tiny_proxy_new("user:p@ss");
    tls_bench_serve(bench, bench->tls, NULL);
    get(bench, "https://api.unit.example", "http://user:p%40ss@127.0.0.1", tiny_proxy_port(proxy), NULL);
    if (bench->err.code != ERR_NONE) fail_msg("%s", bench->err.text);
    assert_int_equal(bench->status, 200); /* not the proxy's, whose head comes first */
    expect_seen(proxy, "connect", "api.unit.example", tiny_server_port(bench->server));
    assert_non_null(strstr(buf_text(&bench->request), "Bearer secret"));
    assert_null(strstr(buf_text(&bench->request), "Proxy-Authorization"));
    tiny_proxy_free(proxy);
}

static void test_t4_a_server_name_goes_with_a_tunnel(void **state)
{
    struct tls_bench *bench = *state;
    struct tiny_proxy *proxy = tiny_proxy_new(NULL);
    tls_bench_serve(bench, bench->tls, NULL);
    get(bench, "https://somewhere.else", "http://127.0.0.1", tiny_proxy_port(proxy), "api.unit.example");
    if (bench->err.code != ERR_NONE) fail_msg("%s", bench->err.text);
    expect_seen(proxy, "connect", "somewhere.else", tiny_server_port(bench->server));
    tiny_proxy_free(proxy);
}

static void test_t4_socks5_resolves_names(void **state)
{
    struct tls_bench *bench = *state;
    struct tiny_proxy *proxy = tiny_proxy_new("user:pass");
    tls_bench_serve(bench, bench->tls, NULL);
    get(bench, "https://api.unit.example", "socks5://user:pass@127.0.0.1", tiny_proxy_port(proxy), NULL);
    if (bench->err.code != ERR_NONE) fail_msg("%s", bench->err.text);
    expect_seen(proxy, "socks5", "api.unit.example", tiny_server_port(bench->server));
    tiny_proxy_free(proxy);
}

static void test_t4_a_plain_request_is_given_to_the_proxy(void **state)
{
    struct tls_bench *bench = *state;
    tls_bench_serve(bench, NULL, NULL);
    get(bench, "http://some.where", "http://127.0.0.1", tiny_server_port(bench->server), NULL);
    assert_int_equal(bench->status, 200);
    assert_memory_equal(buf_text(&bench->request), "GET http://some.where:", 22);
}

static void test_t4_a_proxy_may_speak_tls(void **state)
{
    struct tls_bench *bench = *state;
    tls_bench_serve(bench, bench->tls, NULL);
    get(bench, "http://some.where", "https://127.0.0.1", tiny_server_port(bench->server), NULL);
    if (bench->err.code != ERR_NONE) fail_msg("%s", bench->err.text);
    assert_memory_equal(buf_text(&bench->request), "GET http://some.where:", 22);
    struct tls_pair other = tls_new_ca("another CA");
    tls_pair_clear(&bench->ca);
    bench->ca = other;
    get(bench, "http://some.where", "https://127.0.0.1", tiny_server_port(bench->server), NULL);
    assert_int_equal(bench->err.code, ERR_TLS);
}

static void expect_error(struct tls_bench *bench, enum err_code code, const char *format, int port)
{
    char *proxy = xasprintf("127.0.0.1:%d", port);
    char *expected = xasprintf("connect to api.unit.example:%d through the proxy %s: %s",
                               tiny_server_port(bench->server), proxy, format);
    assert_int_equal(bench->err.code, code);
    assert_string_equal(bench->err.text, expected);
    assert_null(strstr(bench->err.text, "secret"));
    free(expected);
    free(proxy);
}

static void test_t4_errors_name_the_proxy_and_no_password(void **state)
{
    struct tls_bench *bench = *state;
    struct tiny_proxy *proxy = tiny_proxy_new("user:pass");
    int port = tiny_proxy_port(proxy);
    tls_bench_serve(bench, bench->tls, NULL);
    get(bench, "https://api.unit.example", "http://user:secret@127.0.0.1", port, NULL);
    expect_error(bench, ERR_CONNECT, "the proxy responded with 407", port);
    get(bench, "https://api.unit.example", "socks5://user:secret@127.0.0.1", port, NULL);
    assert_int_equal(bench->err.code, ERR_CONNECT);
    assert_null(strstr(bench->err.text, "secret"));
    assert_string_equal(tiny_proxy_seen(proxy), "refused\nrefused\n");
    tiny_proxy_free(proxy);
    get(bench, "https://api.unit.example", "http://user:secret@127.0.0.1", port, NULL);
    expect_error(bench, ERR_CONNECT, "Connection refused", port);
    assert_string_equal(bench->err.reason, HTTP_REASON_REFUSED);
    get(bench, "https://api.unit.example", "http://user:secret@no-such-host.invalid", 1, NULL);
    assert_int_equal(bench->err.code, ERR_CONNECT);
    assert_non_null(
        strstr(bench->err.text, "through the proxy no-such-host.invalid:1: cannot resolve its name"));
}

static void test_t4_a_proxy_that_does_not_end_delays_nothing(void **state)
{
    static const char *const responses[] = {
        "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 9999999999\r\n\r\n",
        "HTTP/1.1 407 Proxy Authentication Required\r\nTransfer-Encoding: "
        "chunked\r\n\r\nfffffff\r\n",
    };
    struct tls_bench *bench = *state;
    tls_bench_serve(bench, bench->tls, NULL);
    for (size_t i = 0; i < ARRAY_LEN(responses); i++) {
        struct tiny_proxy *proxy = tiny_proxy_endless(responses[i]);
        int port = tiny_proxy_port(proxy);
        get(bench, "https://api.unit.example", "http://user:secret@127.0.0.1", port, NULL);
        expect_error(bench, ERR_CONNECT, "the proxy's response does not end", port);
        tiny_proxy_free(proxy);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t4_no_proxy_is_read_as_go_reads_it),
        cmocka_unit_test(test_t4_addresses_of_proxies),
        cmocka_unit_test(test_t4_the_environment_s_proxies),
        T(test_t4_tls_goes_through_a_tunnel),
        T(test_t4_a_server_name_goes_with_a_tunnel),
        T(test_t4_socks5_resolves_names),
        T(test_t4_a_plain_request_is_given_to_the_proxy),
        T(test_t4_a_proxy_may_speak_tls),
        T(test_t4_errors_name_the_proxy_and_no_password),
        T(test_t4_a_proxy_that_does_not_end_delays_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

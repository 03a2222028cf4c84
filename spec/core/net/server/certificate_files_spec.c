/* core/net/server/certificate_files.c: files of certificates that change, also in the middle of a change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/server/certificate_files.h"
#include "net/server/self_signed.h"

static char folder[] = "/tmp/certificate_files_spec.XXXXXX";
static char cert_file[64], key_file[64];
static struct self_signed first, second;
static struct certificate_files files;
static struct err err;

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
    assert_non_null(mkdtemp(folder));
    snprintf(cert_file, sizeof cert_file, "%s/tls.crt", folder);
    snprintf(key_file, sizeof key_file, "%s/tls.key", folder);
    self_signed_make(&first, "first", NULL, "127.0.0.1");
    self_signed_make(&second, "second", "DNS:second.example.com", "127.0.0.1");
    return 0;
}

static int teardown(void **state)
{
    unlink(cert_file);
    unlink(key_file);
    self_signed_clear(&first);
    self_signed_clear(&second);
    return rmdir(folder);
}

static int begin(void **state)
{
    put(cert_file, first.server);
    put(key_file, first.key);
    files = (struct certificate_files){.cert_file = cert_file, .key_file = key_file};
    return 0;
}

static int end(void **state)
{
    certificate_files_clear(&files);
    return 0;
}

static void assert_in_use(const struct self_signed *certificate)
{
    struct web_certificate now = certificate_files_in_use(&files);
    assert_string_equal(now.certificates, certificate->server);
    assert_string_equal(now.key, certificate->key);
}

static void test_a_change_is_news_once(void **state)
{
    assert_true(certificate_files_load(&files, "x", "127.0.0.1:0", &err));
    assert_in_use(&first);
    assert_int_equal(certificate_files_look(&files, &err), CERTIFICATE_SAME);
    put(cert_file, second.server);
    put(key_file, second.key);
    assert_int_equal(certificate_files_look(&files, &err), CERTIFICATE_NEW);
    assert_in_use(&second);
    assert_int_equal(certificate_files_look(&files, &err), CERTIFICATE_SAME);
}

static void test_half_a_change_is_waited_for(void **state)
{
    assert_true(certificate_files_load(&files, "x", "127.0.0.1:0", &err));
    put(cert_file, second.server);
    assert_int_equal(certificate_files_look(&files, &err), CERTIFICATE_SAME);
    assert_in_use(&first);
    put(key_file, second.key);
    assert_int_equal(certificate_files_look(&files, &err), CERTIFICATE_NEW);
    assert_in_use(&second);
}

static void test_what_cannot_be_used_is_told_once(void **state)
{
    static const char *const bad[] = {"", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n"};
    assert_true(certificate_files_load(&files, "x", "127.0.0.1:0", &err));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(cert_file, bad[i]);
        assert_int_equal(certificate_files_look(&files, &err), CERTIFICATE_SAME);
        assert_int_equal(certificate_files_look(&files, &err), CERTIFICATE_WRONG);
        assert_non_null(strstr(err.text, cert_file));
        assert_int_equal(certificate_files_look(&files, &err), CERTIFICATE_SAME);
        assert_in_use(&first);
        put(cert_file, first.server);
        assert_int_equal(certificate_files_look(&files, &err), CERTIFICATE_SAME);
    }
    put(key_file, second.key);
    certificate_files_look(&files, &err);
    assert_int_equal(certificate_files_look(&files, &err), CERTIFICATE_WRONG);
    assert_non_null(strstr(err.text, "the key is not that of the certificate"));
    unlink(key_file);
    assert_int_equal(certificate_files_look(&files, &err), CERTIFICATE_SAME); /* told already */
    assert_in_use(&first);
}

static void test_a_load_names_the_file_that_is_wrong(void **state)
{
    unlink(cert_file);
    assert_false(certificate_files_load(&files, "x", "127.0.0.1:0", &err));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    put(cert_file, first.server);
    put(key_file, first.server);
    assert_false(certificate_files_load(&files, "x", "127.0.0.1:0", &err));
    assert_non_null(strstr(err.text, key_file));
    assert_null(strstr(err.text, "BEGIN"));
}

static void test_without_files_one_is_made_and_stays(void **state)
{
    files = (struct certificate_files){.cert_file = NULL};
    assert_true(certificate_files_load(&files, "x", "127.0.0.1:0", &err));
    assert_non_null(strstr(certificate_files_in_use(&files).certificates, "-----BEGIN CERTIFICATE-----"));
    assert_int_equal(certificate_files_look(&files, &err), CERTIFICATE_SAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_change_is_news_once, begin, end),
        cmocka_unit_test_setup_teardown(test_half_a_change_is_waited_for, begin, end),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_used_is_told_once, begin, end),
        cmocka_unit_test_setup_teardown(test_a_load_names_the_file_that_is_wrong, begin, end),
        cmocka_unit_test_setup_teardown(test_without_files_one_is_made_and_stays, begin, end),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

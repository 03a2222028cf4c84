/* net/late/late.c: functions of libraries that are opened at first use. */
#include "net/late/late.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <curl/curl.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <cmocka.h>

enum { EXIT_OF_LOADER = 127, KEY_BITS = 1024 };

/* Asks for the function in a process of its own; returns its exit code, and what it wrote to stderr. */
static int ask(const char *library, const char *name, char *said, size_t room)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        _exit(late_find(library, name) ? 0 : 1);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], said, room - 1);
    said[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_a_missing_library_ends_the_process_as_the_loader_does(void **state)
{
    char said[512];
    assert_int_equal(ask("libnone-such.so.4", "any", said, sizeof said), EXIT_OF_LOADER);
    assert_non_null(strstr(said, "kubelua: error while loading shared libraries: libnone-such.so.4: "));
}

static void test_a_missing_function_is_named(void **state)
{
    char said[512];
    assert_int_equal(ask("libc.so.6", "none_such", said, sizeof said), EXIT_OF_LOADER);
    assert_non_null(strstr(said, "none_such"));
}

static void test_a_found_function_is_kept(void **state)
{
    void *_Atomic found = NULL;
    void *function = late_function(&found, "libc.so.6", "getpid");
    assert_ptr_equal(function, late_find("libc.so.6", "getpid"));
    /* The library is not asked again. */
    assert_ptr_equal(late_function(&found, "libnone-such.so.4", "any"), function);
}

/* A long and a pointer go through functions with any argument. */
static void test_arguments_of_any_type_arrive(void **state)
{
    int here = 7;
    void *there = NULL;
    long code = -1;
    CURL *easy = curl_easy_init();
    assert_non_null(easy);
    assert_int_equal(curl_easy_setopt(easy, CURLOPT_PRIVATE, &here), CURLE_OK);
    assert_int_equal(curl_easy_getinfo(easy, CURLINFO_PRIVATE, &there), CURLE_OK);
    assert_ptr_equal(there, &here);
    assert_int_equal(curl_easy_setopt(easy, CURLOPT_PORT, 70000L), CURLE_BAD_FUNCTION_ARGUMENT);
    assert_int_equal(curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code), CURLE_OK);
    assert_int_equal(code, 0);
    curl_easy_cleanup(easy);
}

static void test_keys_of_any_kind_are_made(void **state)
{
    EVP_PKEY *of_curve = EVP_EC_gen("prime256v1"), *of_size = EVP_RSA_gen(KEY_BITS);
    assert_int_equal(EVP_PKEY_get_bits(of_curve), 256);
    assert_int_equal(EVP_PKEY_get_bits(of_size), KEY_BITS);
    EVP_PKEY_free(of_curve);
    EVP_PKEY_free(of_size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_missing_library_ends_the_process_as_the_loader_does),
        cmocka_unit_test(test_a_missing_function_is_named),
        cmocka_unit_test(test_a_found_function_is_kept),
        cmocka_unit_test(test_arguments_of_any_type_arrive),
        cmocka_unit_test(test_keys_of_any_kind_are_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* core/kube/config/exec_credential.c: what a plugin may answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/config/exec_credential.h"

#define HEAD(version) \
    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/" version "\""

static void test_t12_malformed_responses(void **state)
{
    static const struct {
        const char *answer, *text;
    } cases[] = {
        {"secret nonsense", "its output: invalid JSON: "},
        {"{\"kind\":\"Pod\",\"secret\":1}", "output is not an ExecCredential"},
        {HEAD("v1beta1") ",\"status\":{\"token\":\"secret\"}}",
         "output does not have the configured apiVersion client.authentication.k8s.io/v1"},
        {HEAD("v1") "}", "its output has no status"},
        {HEAD("v1") ",\"status\":{}}", "output has neither a token nor a certificate"},
        {HEAD("v1") ",\"status\":{\"clientKeyData\":\"secret\"}}", "output has a key without a certificate"},
        {HEAD("v1") ",\"status\":{\"clientCertificateData\":\"x\"}}",
         "output has a certificate without a key"},
        {HEAD("v1") ",\"status\":{\"clientCertificateData\":\"x\",\"clientKeyData\":\"secret\"}}",
         "client certificate: no certificate in PEM form"},
        {HEAD("v1") ",\"status\":{\"token\":\"secret\",\"expirationTimestamp\":\"tomorrow\"}}",
         "invalid expirationTimestamp"},
        {HEAD("v1") ",\"status\":{\"token\":\"secret\",\"expirationTimestamp\":"
                    "\"2026-11-21T19:00:00Z\\u0000secret\"}}",
         "invalid expirationTimestamp"},
        {HEAD("v1") ",\"status\":{\"token\":\"secret\\u0000more\"}}",
         "its token must not contain a NUL byte"},
        {HEAD("v1") ",\"status\":{\"clientCertificateData\":\"\\u0000\",\"clientKeyData\":\"secret\"}}",
         "its clientCertificateData must not contain a NUL byte"},
        {HEAD("v1") ",\"status\":{\"token\":\"secret\",\"clientKeyData\":\"secret\\u0000\"}}",
         "its clientKeyData must not contain a NUL byte"},
    };
    const struct exec_config exec = {.api_version = (char *)EXEC_V1};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct exec_credential credential;
        struct err err;
        assert_false(exec_credential_read(&exec, str_of(cases[i].answer), &credential, &err));
        if (strncmp(err.text, cases[i].text, strlen(cases[i].text)) != 0)
            fail_msg("\"%s\" is not \"%s\"", err.text, cases[i].text);
        assert_null(strstr(err.text, "secret"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t12_malformed_responses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

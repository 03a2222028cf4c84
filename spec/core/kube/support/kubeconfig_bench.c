/* See kubeconfig_bench.h. */
#include "core/kube/support/kubeconfig_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

/* Everything of the machine that would shine through. */
static void clear_environment(struct bench *bench)
{
    unsetenv("KUBECONFIG");
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
    unsetenv("POD_NAMESPACE");
    setenv("HOME", bench->dir, 1);
}

int kubeconfig_bench_setup(void **state)
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

int kubeconfig_bench_teardown(void **state)
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

const char *bench_put(struct bench *bench, const char *name, const char *text)
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

void bench_take(struct bench *bench, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", bench->dir, name);
    assert_int_equal(remove(path), 0);
}

bool bench_load(struct bench *bench)
{
    cluster_config_clear(&bench->config);
    err_clear(&bench->err);
    return cluster_config_load(&bench->flags, &bench->config, &bench->err);
}

void bench_good(struct bench *bench)
{
    if (!bench_load(bench)) fail_msg("%s", bench->err.text);
}

void bench_bad(struct bench *bench, enum err_code code, const char *expected)
{
    struct buf text = {0};
    assert_false(bench_load(bench));
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

void bench_use(struct bench *bench, const char *text)
{
    bench->flags.kubeconfig = bench_put(bench, "config", text);
}

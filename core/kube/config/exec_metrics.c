/* Series of exec plugins; see exec_metrics.h. */
#include "kube/config/exec_metrics.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/series/series.h"
#include "net/pem.h"

static const struct buckets ages =
    BUCKETS(600, 1800, 3600, 14400, 86400, 604800, 2592000, 7776000, 15552000, 31104000, 124416000);
FAMILY(family_exec_calls, 600, COUNTER, "rest_client_exec_plugin_call_total", "code,call_status", NULL,
       "Number of exec plugin calls.");
FAMILY(family_exec_ttl, 601, GAUGE, "rest_client_exec_plugin_ttl_seconds", "", NULL,
       "Remaining lifetime of the client certificate of the exec plugin.");
FAMILY(family_exec_age, 602, HISTOGRAM, "rest_client_exec_plugin_certificate_rotation_age", "", &ages,
       "Age of exec plugin client certificates when they are rotated.");

enum { CALLS_MAX = 16 }; /* exit codes with a series each; further ones are rare, and not counted */

enum { US_PER_S = 1000000 };

struct exec_metrics {
    struct {
        int code;
        const char *status;
        struct series *series;
    } calls[CALLS_MAX];
    size_t count;
    struct series *ttl, *age; /* NULL until there is a certificate */
    int64_t from_s, until_s;  /* validity of the certificate */
};

struct exec_metrics *exec_metrics_new(void)
{
    return NEW(struct exec_metrics);
}

void exec_metrics_free(struct exec_metrics *metrics)
{
    if (!metrics) return;
    for (size_t i = 0; i < metrics->count; i++) series_free(metrics->calls[i].series);
    series_free(metrics->ttl);
    series_free(metrics->age);
    free(metrics);
}

static void count_call(struct exec_metrics *metrics, int code, const char *status)
{
    size_t i = 0;
    while (i < metrics->count && (metrics->calls[i].code != code || metrics->calls[i].status != status)) i++;
    if (i == CALLS_MAX) return;
    if (i == metrics->count) {
        char text[16];
        snprintf(text, sizeof text, "%d", code);
        metrics->calls[i].code = code;
        metrics->calls[i].status = status;
        metrics->calls[i].series = SERIES(&family_exec_calls, text, status);
        metrics->count++;
    }
    series_inc(metrics->calls[i].series);
}

static const char no_error[] = "no_error", execution[] = "plugin_execution_error",
                  not_found[] = "plugin_not_found_error", internal[] = "client_internal_error";

void exec_metrics_ran(struct exec_metrics *metrics, int exit_code)
{
    count_call(metrics, exit_code, exit_code == 0 ? no_error : execution);
}

void exec_metrics_not_run(struct exec_metrics *metrics, const struct err *err)
{
    count_call(metrics, 1, err->code == ERR_NOT_FOUND ? not_found : internal);
}

void exec_metrics_certificate(struct exec_metrics *metrics, struct str cert_pem, int64_t wall_us)
{
    int64_t from_s, until_s, now_s = wall_us / US_PER_S;
    if (!pem_validity(cert_pem, &from_s, &until_s)) return;
    if (metrics->age) series_observe(metrics->age, (double)(now_s - metrics->from_s));
    if (!metrics->age) metrics->age = series_new(&family_exec_age, NULL);
    if (!metrics->ttl) metrics->ttl = series_new(&family_exec_ttl, NULL);
    metrics->from_s = from_s;
    metrics->until_s = until_s;
    exec_metrics_tick(metrics, wall_us);
}

void exec_metrics_tick(struct exec_metrics *metrics, int64_t wall_us)
{
    int64_t now_s = wall_us / US_PER_S;
    if (metrics->ttl) series_set(metrics->ttl, (double)(metrics->until_s - now_s));
}

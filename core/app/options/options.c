/* Shared flags and their defaults; see options.h. */
#include "app/options/options.h"

#include <string.h>

#include "base/mem.h"

/* --- flags of several tables */

struct flag flag_max_object_size(struct options *o)
{
    o->max_object_size = 8 << 20;
    return (struct flag){"max-object-size",
                         0,
                         FLAG_SIZE,
                         &o->max_object_size,
                         "SIZE",
                         NULL,
                         "larger objects are refused (default 8Mi)"};
}

struct flag flag_kube_api_qps(struct options *o)
{
    return (struct flag){"kube-api-qps",
                         0,
                         FLAG_NUMBER,
                         &o->kube_api_qps,
                         "N",
                         NULL,
                         "requests to the API server in a second (default 0: as many as it takes)"};
}

struct flag flag_kube_api_burst(struct options *o)
{
    return (struct flag){"kube-api-burst",
                         0,
                         FLAG_INT,
                         &o->kube_api_burst,
                         "N",
                         NULL,
                         "requests at once, before --kube-api-qps counts (default 10 with that flag)"};
}

struct flag flag_dry_run(struct options *o, const char *help)
{
    static const char choice[] = "none|client|server";
    o->dry_run = "none";
    return (struct flag){"dry-run", 0, FLAG_CHOICE, &o->dry_run, choice, choice, help};
}

struct flag flag_field_manager(struct options *o, const char *help)
{
    return (struct flag){"field-manager", 0, FLAG_STRING, &o->field_manager, "NAME", NULL, help};
}

struct flag flag_sync_timeout(struct options *o, const char *help)
{
    o->sync_timeout_ms = 60000;
    return (struct flag){"sync-timeout", 0, FLAG_DURATION_MS, &o->sync_timeout_ms, "DURATION", NULL, help};
}

struct flag flag_log_format(struct options *o)
{
    o->log_format = "text";
    return (struct flag){"log-format",
                         0,
                         FLAG_CHOICE,
                         &o->log_format,
                         "text|json",
                         "text|json",
                         "klog text or JSON lines (default text)"};
}

struct flag flag_verbosity(struct options *o)
{
    return (struct flag){"v", 'v', FLAG_INT, &o->verbosity, "N", NULL, "verbosity of the logs (default 0)"};
}

/* --- tables */

const struct flag *connection_flags(struct options *o)
{
    static struct flag table[20];
    struct cluster_flags *c = &o->cluster;
    const struct flag flags[] = {
        {"kubeconfig", 0, FLAG_STRING, &c->kubeconfig, "FILE", NULL, "kubeconfig file"},
        {"context", 0, FLAG_STRING, &c->context, "NAME", NULL, "context of the kubeconfig"},
        {"cluster", 0, FLAG_STRING, &c->cluster, "NAME", NULL, "cluster of the kubeconfig"},
        {"user", 0, FLAG_STRING, &c->user, "NAME", NULL, "user of the kubeconfig"},
        {"server", 's', FLAG_STRING, &c->server, "URL", NULL, "address of the API server"},
        {"token", 0, FLAG_STRING, &c->token, "TOKEN", NULL, "bearer token"},
        {"certificate-authority", 0, FLAG_STRING, &c->certificate_authority, "FILE", NULL,
         "certificate of the server's authority"},
        {"client-certificate", 0, FLAG_STRING, &c->client_certificate, "FILE", NULL, "client certificate"},
        {"client-key", 0, FLAG_STRING, &c->client_key, "FILE", NULL, "key of the client certificate"},
        {"tls-server-name", 0, FLAG_STRING, &c->tls_server_name, "NAME", NULL,
         "name that the server's certificate must have"},
        {"insecure-skip-tls-verify", 0, FLAG_BOOL, &c->insecure_skip_tls_verify, NULL, NULL,
         "do not verify the server (insecure)"},
        {"as", 0, FLAG_STRING, &c->as, "NAME", NULL, "user to act as"},
        {"as-group", 0, FLAG_LIST, &o->as_groups, "NAME", NULL, "group to act as (repeatable)"},
        {"as-uid", 0, FLAG_STRING, &c->as_uid, "UID", NULL, "uid to act as"},
        {"request-timeout", 0, FLAG_DURATION_MS, &o->request_timeout_ms, "DURATION", NULL,
         "for a request's answer; of a list for each wait, of a watch never (default 0: none)"},
        {"namespace", 'n', FLAG_STRING, &c->namespace_, "NAME", NULL,
         "namespace of informers that name none (default: all)"},
        {"all-namespaces", 'A', FLAG_BOOL, &o->all_namespaces, NULL, NULL,
         "all namespaces, whatever --namespace says"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

const struct flag *engine_flags(struct options *o)
{
    static struct flag table[16];
    o->shutdown_timeout_ms = 10000;
    o->informer_grace_ms = 30000;
    o->watch_list = "auto";
    const struct flag flags[] = {
        flag_log_format(o),
        flag_verbosity(o),
        {"shutdown-timeout", 0, FLAG_DURATION_MS, &o->shutdown_timeout_ms, "DURATION", NULL,
         "time for a running call after SIGTERM or SIGINT (default 10s)"},
        flag_max_object_size(o),
        {"chunk-size", 0, FLAG_INT, &o->chunk_size, "N", NULL,
         "objects in a page of a list (default 0: 500, where pages are of use)"},
        {"watch-list", 0, FLAG_CHOICE, &o->watch_list, "auto|on|off", "auto|on|off",
         "first lists as streams: where servers can, always tried, never (default auto)"},
        {"watch-list-deadline", 0, FLAG_DURATION_MS, &o->watch_list_deadline_ms, "DURATION", NULL,
         "for the end of such a list, before a plain one is asked for (default 30s)"},
        flag_kube_api_qps(o),
        flag_kube_api_burst(o),
        {"informer-grace", 0, FLAG_DURATION_MS, &o->informer_grace_ms, "DURATION", NULL,
         "how long a cache that no script uses any more is kept up to date (default 30s)"},
        flag_dry_run(o,
                     "writes of scripts: client only logs them, server has them checked but not kept; both "
                     "without elections (default none)"),
        {"allow-http", 0, FLAG_LIST, &o->allow_http, "HOST", NULL,
         "server that scripts may ask by http.request: host, host:port, *.domain, or one behind https:// "
         "(repeatable; default none)"},
        {"audit-log", 0, FLAG_STRING, &o->audit_log, "FILE", NULL,
         "a line of JSON for each write of a script, never with its content; appended to, opened anew at "
         "SIGHUP"},
        flag_field_manager(o, "whose the fields are that scripts write (default kubelua)"),
        {"resync", 0, FLAG_DURATION_MS, &o->resync_ms, "DURATION", NULL,
         "how often handlers that do not say are told of every object again (default 0: never)"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

const struct flag *run_flags(struct options *o)
{
    static struct flag table[8];
    o->reload_timeout_ms = 60000;
    o->reload_probation_ms = 60000;
    o->metrics_address = "127.0.0.1:8080";
    o->health_address = ":8081";
    const struct flag flags[] = {
        FLAG_SCRIPT_FILES(&o->files),
        {"metrics-bind-address", 0, FLAG_STRING, &o->metrics_address, "ADDR:PORT", NULL,
         "where /metrics is served; 0 switches it off (default 127.0.0.1:8080)"},
        {"health-probe-bind-address", 0, FLAG_STRING, &o->health_address, "ADDR:PORT", NULL,
         "where /healthz, /livez and /readyz are served; 0 switches them off (default :8081)"},
        {"admin-socket", 0, FLAG_STRING, &o->admin_socket, "PATH", NULL,
         "for kubelua status; 0 switches it off (default $XDG_RUNTIME_DIR/kubelua.sock, as root "
         "/run/kubelua.sock)"},
        {"reload-timeout", 0, FLAG_DURATION_MS, &o->reload_timeout_ms, "DURATION", NULL,
         "how long a changed script may wait for its new informers, before the change is refused (default "
         "60s)"},
        {"reload-probation", 0, FLAG_DURATION_MS, &o->reload_probation_ms, "DURATION", NULL,
         "how long a changed script is watched: when it fails more than before, the old one comes back; 0: "
         "not at "
         "all (default 60s)"},
        {"report", 0, FLAG_MODE, &o->report, REPORT_TARGETS, REPORT_TARGETS,
         "ask the rules of the scripts (k8s.rule) about every object, again when something changes; show "
         "what "
         "they say in metrics and by kubelua status, and write it to the cluster as PolicyReports (of "
         "wgpolicyk8s.io, without a value too), as Reports of openreports.io, or not at all (metrics)"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

const struct flag *exec_flags(struct options *o)
{
    static struct flag table[2];
    const struct flag flags[] = {
        flag_sync_timeout(o, "time for all informers to sync (default 60s)"),
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

bool options_admin_is_off(const struct options *options)
{
    const char *path = options->admin_socket;
    return path && (*path == '\0' || strcmp(path, "0") == 0);
}

void options_clear(struct options *options)
{
    flag_list_clear(&options->limits);
    flag_list_clear(&options->trusted);
    flag_list_clear(&options->lua_path);
    flag_list_clear(&options->files);
    flag_list_clear(&options->as_groups);
    flag_list_clear(&options->allow_http);
    flag_list_clear(&options->params);
    flag_list_clear(&options->params_files);
    rule_params_free(options->rule_params);
    options->rule_params = NULL;
}

/* Shared flags and their defaults; see options.h. */
#include "app/options/options.h"

#include <stdlib.h>
#include <string.h>

#include "app/options/given_scripts.h"
#include "app/options/history_options.h"
#include "base/mem.h"
#include "informer/shard/member.h"
#include "net/bind_address.h"

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
                         "Refuse objects larger than this (default 8Mi)"};
}

struct flag flag_kube_api_qps(struct options *o)
{
    return (struct flag){"kube-api-qps",
                         0,
                         FLAG_NUMBER,
                         &o->kube_api_qps,
                         "N",
                         NULL,
                         "Maximum number of requests per second to the API server (default 0: unlimited)"};
}

struct flag flag_kube_api_burst(struct options *o)
{
    return (struct flag){
        "kube-api-burst",
        0,
        FLAG_INT,
        &o->kube_api_burst,
        "N",
        NULL,
        "Number of requests allowed above --kube-api-qps in a burst (default 10 with that flag)"};
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
                         "Log format: klog text or JSON lines (default text)"};
}

struct flag flag_verbosity(struct options *o)
{
    return (struct flag){"v", 'v', FLAG_INT, &o->verbosity, "N", NULL, "Log verbosity (default 0)"};
}

/* --- tables */

static struct flag flag_context(struct options *o)
{
    if (!o->takes_contexts)
        return (struct flag){
            "context", 0, FLAG_STRING, &o->cluster.context, "NAME", NULL, "Kubeconfig context to use"};
    return (struct flag){"context",
                         0,
                         FLAG_LIST,
                         &o->contexts,
                         "NAME",
                         NULL,
                         "Kubeconfig context to use (repeatable: the first is the home cluster, the others "
                         "are for k8s.cluster)"};
}

const struct flag *connection_flags(struct options *o)
{
    static struct flag table[20];
    struct cluster_flags *c = &o->cluster;
    const struct flag flags[] = {
        {"kubeconfig", 0, FLAG_STRING, &c->kubeconfig, "FILE", NULL, "Path to the kubeconfig file"},
        flag_context(o),
        {"cluster", 0, FLAG_STRING, &c->cluster, "NAME", NULL, "Kubeconfig cluster to use"},
        {"user", 0, FLAG_STRING, &c->user, "NAME", NULL, "Kubeconfig user to use"},
        {"server", 's', FLAG_STRING, &c->server, "URL", NULL,
         "Address and port of the Kubernetes API server"},
        {"token", 0, FLAG_STRING, &c->token, "TOKEN", NULL,
         "Bearer token for authentication to the API server"},
        {"certificate-authority", 0, FLAG_STRING, &c->certificate_authority, "FILE", NULL,
         "Path to a certificate file of the certificate authority"},
        {"client-certificate", 0, FLAG_STRING, &c->client_certificate, "FILE", NULL,
         "Path to a client certificate file"},
        {"client-key", 0, FLAG_STRING, &c->client_key, "FILE", NULL, "Path to a client key file"},
        {"tls-server-name", 0, FLAG_STRING, &c->tls_server_name, "NAME", NULL,
         "Server name for certificate validation (default: the host of the server's address)"},
        {"insecure-skip-tls-verify", 0, FLAG_BOOL, &c->insecure_skip_tls_verify, NULL, NULL,
         "Do not verify the server's certificate (insecure)"},
        {"as", 0, FLAG_STRING, &c->as, "NAME", NULL, "Username to impersonate"},
        {"as-group", 0, FLAG_LIST, &o->as_groups, "NAME", NULL, "Group to impersonate (repeatable)"},
        {"as-uid", 0, FLAG_STRING, &c->as_uid, "UID", NULL, "UID to impersonate"},
        {"request-timeout", 0, FLAG_DURATION_MS, &o->request_timeout_ms, "DURATION", NULL,
         "Timeout of a request; for a list, of each read; not used for watches (default 0: none)"},
        {"namespace", 'n', FLAG_STRING, &c->namespace_, "NAME", NULL,
         "Namespace of informers that do not set one (default: all)"},
        {"all-namespaces", 'A', FLAG_BOOL, &o->all_namespaces, NULL, NULL,
         "All namespaces; overrides --namespace"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

const struct flag *engine_flags(struct options *o)
{
    static struct flag table[22];
    o->shutdown_timeout_ms = 10000;
    o->informer_grace_ms = 30000;
    o->watch_list = "auto";
    o->dry_run = "none";
    const struct flag flags[] = {
        {"config", 0, FLAG_STRING, &o->config, "FILE", NULL,
         "YAML file of settings: names of flags and their values; flags and the environment override it"},
        flag_log_format(o),
        flag_verbosity(o),
        {"clusters-from", 0, FLAG_STRING, &o->clusters_from, "NAMESPACE[/SELECTOR]", NULL,
         "Add a cluster for each Secret there with a kubeconfig, while it has these labels (default selector "
         "kubelua.dev/cluster)"},
        {"shutdown-timeout", 0, FLAG_DURATION_MS, &o->shutdown_timeout_ms, "DURATION", NULL,
         "Time for calls in progress to finish after SIGTERM or SIGINT (default 10s)"},
        flag_max_object_size(o),
        {"chunk-size", 0, FLAG_INT, &o->chunk_size, "N", NULL,
         "Page size of lists (default 0: 500 where paging helps)"},
        {"watch-list", 0, FLAG_CHOICE, &o->watch_list, "auto|on|off", "auto|on|off",
         "Use streaming lists (WatchList): auto if the server supports them, on always, off never (default "
         "auto)"},
        {"watch-list-deadline", 0, FLAG_DURATION_MS, &o->watch_list_deadline_ms, "DURATION", NULL,
         "Time for a streaming list to complete before a plain list is used (default 30s)"},
        flag_kube_api_qps(o),
        flag_kube_api_burst(o),
        {"io-threads", 0, FLAG_INT, &o->io_threads, "N", NULL,
         "Threads that receive objects and pack them (default 0: 2 on four cores and more, else 1)"},
        {"informer-grace", 0, FLAG_DURATION_MS, &o->informer_grace_ms, "DURATION", NULL,
         "Time to keep the cache of an informer that no script uses any more (default 30s)"},
        {"dry-run", 0, FLAG_LIST, &o->dry_runs, "[SCRIPT=]MODE", NULL,
         "Writes of all scripts, or of SCRIPT: none, client (only logged) or server (sent without persisting "
         "them); both disable leader election (repeatable; default none)"},
        {"allow-http", 0, FLAG_LIST, &o->allow_http, "HOST", NULL,
         "Server that http.request may connect to: host, host:port, *.domain, or any of these prefixed with "
         "https:// (repeatable; default none)"},
        {"allow-sink", 0, FLAG_LIST, &o->allow_sinks, "URL", NULL,
         "Target that k8s.sink may send to: file:///path, file:///dir/, nats://host:port or "
         "kafka://host:port, or only encrypted tls://host:port or kafka+ssl://host:port "
         "(repeatable; default none); --allow-http allows hosts of HTTP"},
        {"audit-log", 0, FLAG_STRING, &o->audit_log, "FILE", NULL,
         "Append a JSON line, without object content, to FILE for each write of a script; SIGHUP reopens it"},
        flag_field_manager(o, "Name of the field manager of scripts' writes (default kubelua)"),
        {"state-dir", 0, FLAG_STRING, &o->state_dir, "DIR", NULL,
         "Directory for the state tables that scripts keep in files (keep = \"file\" of k8s.state), and for "
         "events of "
         "sinks until they are delivered (k8s.sink)"},
        {"resync", 0, FLAG_DURATION_MS, &o->resync_ms, "DURATION", NULL,
         "Resync period of handlers that do not set one (default 0: no resync)"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

const struct flag *run_flags(struct options *o)
{
    static struct flag table[31];
    o->reload_timeout_ms = 60000;
    o->reload_probation_ms = 60000;
    o->cache_interval_ms = 300000;
    o->shard_lease_ms = shard_times_default.duration_ms;
    o->history_memory = 64 << 20;
    o->history_deleted_ms = 3600000;
    o->metrics_address = "127.0.0.1:8080";
    o->health_address = ":8081";
    o->webhook_address = ":9443";
    const struct flag flags[] = {
        FLAG_SCRIPT_FILES(&o->files),
        FLAG_RECURSIVE(&o->recursive),
        {"metrics-bind-address", 0, FLAG_STRING, &o->metrics_address, "ADDR:PORT", NULL,
         "Address to serve /metrics on; 0 to disable (default 127.0.0.1:8080)"},
        {"metrics-auth", 0, FLAG_CHOICE, &o->metrics_auth, "none|token", "none|token",
         "Authentication of /metrics: token requires a bearer token that the API server reviews (default "
         "token, "
         "or none if the address is a loopback address)"},
        {"health-probe-bind-address", 0, FLAG_STRING, &o->health_address, "ADDR:PORT", NULL,
         "Address to serve /healthz, /livez and /readyz on; 0 to disable (default :8081)"},
        {"ui-bind-address", 0, FLAG_STRING, &o->ui_address, "ADDR:PORT", NULL,
         "Address to serve a read-only page about the engine on, for browsers of this machine (default 0: "
         "disabled)"},
        {"webhook-bind-address", 0, FLAG_STRING, &o->webhook_address, "ADDR:PORT", NULL,
         "Address to serve webhooks of scripts on, by HTTPS, if a script has one; 0 to disable (default "
         ":9443)"},
        {"webhook-tls-cert-file", 0, FLAG_STRING, &o->webhook_cert_file, "FILE", NULL,
         "Certificate of the server for webhooks, with its chain, in PEM; read again when it changes "
         "(default: a "
         "self-signed one, for development)"},
        {"webhook-tls-private-key-file", 0, FLAG_STRING, &o->webhook_key_file, "FILE", NULL,
         "Private key of that certificate, in PEM"},
        {"admin-socket", 0, FLAG_STRING, &o->admin_socket, "PATH", NULL,
         "Unix socket for kubelua status and similar commands; 0 to disable (default "
         "$XDG_RUNTIME_DIR/kubelua.sock; /run/kubelua.sock for root)"},
        {"reload-timeout", 0, FLAG_DURATION_MS, &o->reload_timeout_ms, "DURATION", NULL,
         "Time for new informers of a changed script to sync before the reload is refused (default 60s)"},
        {"reload-probation", 0, FLAG_DURATION_MS, &o->reload_probation_ms, "DURATION", NULL,
         "Time after a reload in which a script that fails more often than before is rolled back; 0 to "
         "disable (default 60s)"},
        {"history", 0, FLAG_LIST, &o->history, "KIND[=N],...", NULL,
         "Keep the last N versions of each object of these kinds, for kubelua history and k8s.history "
         "(default 10 versions; repeatable)"},
        {"history-memory", 0, FLAG_SIZE, &o->history_memory, "SIZE", NULL,
         "Memory limit of the history; the oldest versions go first (default 64Mi)"},
        {"history-deleted", 0, FLAG_DURATION_MS, &o->history_deleted_ms, "DURATION", NULL,
         "Time to keep the history of deleted objects (default 1h)"},
        {"cache-dir", 0, FLAG_STRING, &o->cache_dir, "DIR", NULL,
         "Directory to save caches in, now and then and at the end; the next start continues from them"},
        {"cache-interval", 0, FLAG_DURATION_MS, &o->cache_interval_ms, "DURATION", NULL,
         "Time between two saves of caches (default 5m)"},
        {"cache-secrets", 0, FLAG_BOOL, &o->cache_secrets, NULL, NULL,
         "Save caches of Secrets too, which puts their data on the disk"},
        {"allow-core-dumps", 0, FLAG_BOOL, &o->allow_core_dumps, NULL, NULL,
         "Permit core dumps and debuggers; both show the memory of the engine, with its Secrets"},
        {"shard", 0, FLAG_MODE, &o->shard, "NAME", NULL,
         "Share objects with the other replicas of the group NAME (default kubelua): those of informers with "
         "shard = true and of --shard-kinds"},
        {"shard-kinds", 0, FLAG_LIST, &o->shard_kinds, "KIND[=namespace]", NULL,
         "Kind whose objects the replicas of --shard share, by uid or by namespace, for scripts that do not "
         "say; rules have all of them (repeatable)"},
        {"shard-lease-duration", 0, FLAG_DURATION_MS, &o->shard_lease_ms, "DURATION", NULL,
         "Time that the other replicas wait before they take over what a dead one had (default 15s)"},
        {"report", 0, FLAG_MODE, &o->report, REPORT_TARGETS, REPORT_TARGETS,
         "Evaluate the rules of the scripts (k8s.rule) continuously and write results to the cluster as "
         "PolicyReports (policyreport, the default) or openreports.io Reports (openreports), or expose them "
         "only as metrics and in kubelua status (metrics)"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

const struct flag *exec_flags(struct options *o)
{
    static struct flag table[2];
    const struct flag flags[] = {
        flag_sync_timeout(o, "Time to wait for all informers to sync (default 60s)"),
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

bool options_reviews_tokens(const struct options *options)
{
    const char *address = options->metrics_address;
    if (bind_address_is_off(address)) return false;
    if (options->metrics_auth) return strcmp(options->metrics_auth, "token") == 0;
    return !bind_address_is_loopback(address);
}

bool options_admin_is_off(const struct options *options)
{
    const char *path = options->admin_socket;
    return path && (*path == '\0' || strcmp(path, "0") == 0);
}

struct script_search options_search(const struct options *options)
{
    return (struct script_search){options->files.items, options->files.count, options->recursive,
                                  options->builtin_folder};
}

/* Finds the files of -f, builtin: and texts that were given among them. */
static bool find_files(struct options *o, struct script_files *files, struct err *err)
{
    if (!builtin_rules_resolve(&o->files, &o->builtin, err) || !given_scripts_resolve(&o->files, err))
        return false;
    o->builtin_folder = builtin_rules_folder();
    const struct script_search search = options_search(o);
    return !o->files.count || script_files_find(&search, files, err);
}

bool options_complete(struct options *o, bool needs_files, struct script_files *files, struct err *err)
{
    bool elects = o->leader.duration_ms > 0; /* which its table sets */
    o->cluster.as_groups = o->as_groups.items;
    o->cluster.as_group_count = o->as_groups.count;
    if (!o->webhook_cert_file != !o->webhook_key_file)
        return err_set(err, ERR_INVALID,
                       "--webhook-tls-cert-file and --webhook-tls-private-key-file are required together");
    if (needs_files && !o->files.count)
        return err_set(err, ERR_INVALID, "no script given; use -f FILE or -f DIR");
    return (!elects || leader_flags_check(&o->leader, err)) && options_check_shard(o, err) &&
           options_set_limits(o, err) && find_files(o, files, err) && options_check_trusted(o, files, err) &&
           options_check_dry_runs(o, files, err);
}

void options_clear(struct options *options)
{
    flag_list_clear(&options->files);
    flag_list_clear(&options->shard_kinds);
    options_clear_history(options);
    builtin_paths_clear(&options->builtin);
    free(options->builtin_folder);
    options->builtin_folder = NULL;
    params_free(options->given_params);
    options->given_params = NULL;
}

/* The flags that several commands share, with their defaults.
 * Owner: the command's stack. */
#pragma once
#include <stdbool.h>

#include "app/options/bucket_flags.h"
#include "app/options/builtin_rules.h"
#include "app/options/script_options.h"
#include "base/cli/flags.h"
#include "kube/config/kubeconfig.h"
#include "script/params/params.h"
#include "script/vm/limits.h"

/* Targets of the findings of continuous audits; "" is the first of them. */
#define REPORT_TARGETS "policyreport|openreports|metrics"

/* Limits on accepted findings (suppression_limits.h). */
struct ignore_options {
    bool forbidden;
    const char *max_severity; /* NULL: not given */
    int max_days;             /* 0: unlimited */
};

struct options {
    struct cluster_flags cluster;
    bool takes_contexts;        /* --context may be repeated: set before connection_flags */
    struct flag_list contexts;  /* then: the first is that of `cluster` */
    const char *clusters_from;  /* of run and exec: NAMESPACE[/SELECTOR] of Secrets; NULL: none */
    struct bucket_flags bucket; /* of run and exec: objects come from there */
    const char *shard;          /* of run: group of replicas; NULL: none, "": the default */
    int64_t shard_lease_ms;
    struct flag_list shard_kinds; /* KIND[=namespace] */
    struct leader_flags leader;
    struct flag_list files, as_groups;
    bool recursive;                          /* of files */
    struct builtin_paths builtin;            /* of files */
    char *builtin_folder;                    /* of the rules that ship; NULL: none are there */
    struct flag_list limits;                 /* NAME=VALUE */
    const char *handler_cpu, *script_memory; /* short for two of them; NULL: not given */
    struct flag_list trusted;                /* scripts */
    struct flag_list lua_path;               /* directories */
    struct limits script_limits;             /* what these make: script_options.h */
    struct flag_list params, params_files;   /* of scripts and rules */
    struct params *given_params;             /* what these make; NULL: not read */
    struct ignore_options ignore;
    int64_t request_timeout_ms; /* 0: none */
    double kube_api_qps;        /* 0: no limit, unless there is a burst (H-1) */
    int kube_api_burst;
    bool all_namespaces;
    const char *config;              /* a file of settings, which were read; NULL: none */
    const struct flag *const *flags; /* what the options were set by, for who shows them */
    const struct flags_given *given;
    const char *log_format;
    int verbosity;
    size_t max_object_size;
    int chunk_size; /* 0: as R-9 says */
    int io_threads; /* that pack objects; 0: by the number of cores */
    const char *watch_list;
    const char *dry_run;       /* "none", "client" or "server" */
    struct flag_list dry_runs; /* of run and exec: those, of which the last holds, and SCRIPT=client */
    const char *audit_log;     /* NULL: none */
    const char *state_dir;     /* of states that scripts keep in files; NULL: none */
    struct flag_list allow_http, allow_sinks;
    const char *field_manager; /* NULL: the default */
    int64_t watch_list_deadline_ms;
    int64_t sync_timeout_ms, shutdown_timeout_ms, informer_grace_ms, resync_ms;
    const char *metrics_address, *health_address;     /* of `run`, as the next nine */
    const char *webhook_address;                      /* of the listener for webhooks */
    const char *webhook_cert_file, *webhook_key_file; /* NULL: a certificate is made */
    const char *ui_address;                           /* NULL or "0": off */
    const char *metrics_auth;                         /* "none" or "token"; NULL: by the address */
    int64_t reload_timeout_ms, reload_probation_ms;
    bool allow_core_dumps;
    struct flag_list history;              /* KIND[=N],... */
    struct history_setting *history_kinds; /* what these make */
    size_t history_count, history_memory;
    int64_t history_deleted_ms;
    const char *cache_dir; /* NULL: caches are not stored */
    bool cache_secrets;
    int64_t cache_interval_ms;
    const char *admin_socket; /* NULL: the default path */
    const char *report;       /* destination of continuous audits; NULL: none */
};

/* Tables for flags_parse and flags_print, bound to `options`, whose defaults they set. The tables are static:
 * one command line a process. */
const struct flag *connection_flags(struct options *options);
const struct flag *engine_flags(struct options *options);
const struct flag *run_flags(struct options *options);
const struct flag *exec_flags(struct options *options);
/* A flag of several tables, which sets its default too; `help`: where it means more in one of them. */
struct flag flag_max_object_size(struct options *options);
struct flag flag_kube_api_qps(struct options *options);
struct flag flag_kube_api_burst(struct options *options);
struct flag flag_dry_run(struct options *options, const char *help);
struct flag flag_field_manager(struct options *options, const char *help);
struct flag flag_sync_timeout(struct options *options, const char *help);
struct flag flag_log_format(struct options *options);
struct flag flag_verbosity(struct options *options);
/* Returns whether /metrics wants tokens: as --metrics-auth has it, else unless only this machine reaches it.
 */
bool options_reviews_tokens(const struct options *options);
/* "0" and "" switch the admin socket off. */
bool options_admin_is_off(const struct options *options);
/* Returns what -f and -R name; borrowed. */
struct script_search options_search(const struct options *options);
/* Evaluates the parsed flags of scripts and connections: limits, times of elections, impersonation, and the
 * files of -f, at least one if `needs_files`. ERR_INVALID names the flag. */
bool options_complete(struct options *options, bool needs_files, struct script_files *files, struct err *err);
/* Frees what is of no flag: `files`, where the arguments were put there, and the parameters of rules. */
void options_clear(struct options *options);

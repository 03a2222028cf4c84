/* Settings of an engine as plain values, whether they came from flags or from elsewhere. Owner: the driver;
 * the engine borrows them, and what they point to, for as long as it lives. */
#pragma once
#include "audit/rules/suppression_limits.h"
#include "engine/reload/script_files.h"
#include "informer/shared/shared_factory.h"
#include "script/generation/script.h"

/* Names in messages, as the users of a driver know them: of settings, and of the action that loads changed
 * files again. */
struct setting_names {
    const char *http_hosts, *sinks, *audit_log, *report, *webhook_address, *webhook_cert, *clusters_from;
    const char *state_dir;        /* NULL: scripts may keep states without it */
    const char *dry_run;          /* any write mode but WRITES_SENT */
    const char *recorded, *tried; /* those two modes */
    const char *shutdown_timeout, *reload_timeout;
    const char *reload; /* "kubelua reload" */
};

/* A kind, and the number of versions of each object. */
struct history_setting {
    const char *kind;
    unsigned versions;
};

struct engine_settings {
    const struct setting_names *names; /* NULL: those of a driver without flags */

    /* Requests to the server. */
    size_t max_object_size;
    int64_t request_timeout_ms; /* 0: none */
    double qps;                 /* 0: no limit, unless there is a burst (H-1) */
    int burst;
    unsigned io_threads;           /* that pack objects; below 2: the I/O thread does */
    const char *const *http_hosts; /* that http.request may send to */
    size_t http_host_count;
    const char *const *sinks; /* targets besides HTTP that k8s.sink may send to */
    size_t sink_count;

    /* The listener for webhooks of scripts; NULL or "0": none. Files of its certificate; NULL: one is made.
     */
    const char *webhook_address, *webhook_cert_file, *webhook_key_file;

    /* Informers. */
    enum watch_list_mode watch_list;
    int64_t watch_list_deadline_ms, informer_grace_ms, resync_ms;
    int chunk_size;                        /* 0: as R-9 says */
    const struct history_setting *history; /* kinds whose last versions are kept */
    size_t history_count, history_memory;
    int64_t history_deleted_ms; /* time that deleted objects are kept */

    /* Group of replicas that share objects, in the namespace of `lease`; NULL: none. Kinds that it shares:
     * NAME or NAME=namespace. */
    const char *shard;
    int64_t shard_lease_ms; /* duration of its Leases; 0: the default */
    const char *const *shard_kinds;
    size_t shard_kind_count;

    /* "NAMESPACE[/SELECTOR]" of Secrets with kubeconfigs, each of which is a cluster; NULL: none. */
    const char *clusters_from;

    /* Scripts, and what is given to them. */
    struct script_search search; /* files and directories, scanned again at reloads */
    const struct limits *limits;
    const struct params *params; /* NULL: none */
    bool lacks_params;           /* scripts are only looked at: required parameters need no value */
    const char *const *trusted;  /* as of the host (script.h), as the next */
    size_t trusted_count;
    const char *const *lua_path;
    size_t lua_path_count;
    bool notes_functions; /* as of the host, too, as the next */
    bool knows_missing_kinds;
    const char *default_namespace; /* "": all */
    struct lease_config lease;     /* without a name: the default, in any namespace */
    bool runs_rules;               /* claims of rules stay suspended otherwise */
    bool elects;                   /* scripts that do not call k8s.leader take part in one election */

    /* Writes. */
    enum write_mode write_mode;
    const char *const *dry_runs; /* as of the host (host.h), as the next */
    size_t dry_run_count;
    const char *field_manager;             /* NULL: the default */
    const char *not_sent;                  /* as of the host (script.h) */
    const char *audit_log;                 /* NULL: none */
    const char *state_dir;                 /* of states that are kept in files; NULL: none */
    const char *lacks_state_files;         /* as of the host, where scripts are only loaded */
    const char *report;                    /* destination of continuous audits; NULL: none */
    struct suppression_limits suppression; /* of continuous audits */

    /* Identity in elections, Events and requests to other servers; NULL: the pod, or the host. */
    const char *identity;
    struct script_hooks hooks;

    /* Times. */
    int64_t shutdown_timeout_ms, reload_timeout_ms, reload_probation_ms;
};

/* Address of the server and identity of the client: kubeconfig files, flags and in-cluster files joined to
 * one configuration. Owner: cluster_config_clear frees what it holds. Loading reads files and runs before any
 * loop: not from callbacks. Every error names the file and the entry or field. Errors and logs never contain
 * secrets. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "kube/config/exec_config.h"

/* Settings from the command line; every member may be NULL. Flags override the file (C-6). */
struct kubeconfig;

struct cluster_flags {
    const char *kubeconfig, *context, *cluster, *user, *server, *token, *token_file;
    const char *certificate_authority, *client_certificate, *client_key, *tls_server_name;
    const char *namespace_;
    bool insecure_skip_tls_verify;
    const char *as, *as_uid; /* each overrides that field of the user's entry alone (T-9) */
    const char *const *as_groups;
    size_t as_group_count;
    const char *service_account_dir; /* directory of in-cluster files; NULL: Kubernetes' default */
};

struct cluster_header {
    char *name, *value;
};

struct cluster_config {
    char *server; /* https://host:port/base, without a slash at the end */
    char *ca_pem; /* NULL: system roots */
    char *client_cert_pem, *client_key_pem;
    char *ca_file, *client_cert_file, *client_key_file; /* origin of the above, if files (T-6) */
    char *tls_server_name;
    char *proxy_url; /* may contain a password; NULL: from the environment */
    bool insecure_skip_tls_verify;
    bool disable_compression;
    char *token;      /* secret */
    char *token_file; /* overrides `token` (T-7, C-8) */
    char *username, *password;
    struct exec_config *exec;           /* runs when there are no other credentials (T-13); NULL: no plugin */
    struct cluster_header *impersonate; /* impersonation headers (T-9) */
    size_t impersonate_count;
    char *namespace_; /* never NULL; "default" if not configured (C-12) */
    char *name;       /* of the context, or "in-cluster"; NULL: neither */
    char *source;     /* for logs: "/home/x/.kube/config, context dev", "the flag --server", "in-cluster" */
};

/* Loads the configuration. Files: --kubeconfig, else all of KUBECONFIG merged, else ~/.kube/config (C-1,
 * C-2); without configuration: in-cluster (T-10, C-10). With --server no file is needed. Certificates and
 * keys are read and checked. Sets ERR_INVALID, ERR_NOT_FOUND, ERR_PARSE, ERR_TLS or ERR_IO with one clear
 * line. */
bool cluster_config_load(const struct cluster_flags *flags, struct cluster_config *out, struct err *err);
/* Returns whether that failed as no file, no flag and no pod names a server at all. */
bool cluster_config_is_missing(const struct err *err);
/* A configuration that names no server, where requests are not to be sent; `ns` as --namespace; NULL: none.
 */
void cluster_config_set_none(struct cluster_config *out, const char *ns);
/* Loads it from the text of a kubeconfig alone, which errors call `path`: one that somebody else wrote.
 * Refuses what would run programs or read files here, and what has no context. */
bool cluster_config_parse(const char *path, struct str text, struct cluster_config *out, struct err *err);
void cluster_config_clear(struct cluster_config *config);
/* The entries of those files; none are read and merged when nothing is configured. kubeconfig_clear frees
 * them. */
bool kubeconfig_load_files(const struct cluster_flags *flags, struct kubeconfig *files, struct err *err);

/* Kubeconfig files as they are written: named clusters, users and contexts, merged over several files
 * (C-2..C-5). Owner: kubeconfig_clear frees everything and wipes secrets. Reads files: not from callbacks. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "kube/config/exec_config.h"

/* Strings are NULL if absent or empty. Relative paths have been joined to the directory of their file (C-4).
 */
struct kubeconfig_cluster {
    char *server, *certificate_authority, *certificate_authority_data, *tls_server_name, *proxy_url;
    bool insecure_skip_tls_verify, disable_compression;
    char *exec_config; /* JSON for its exec plugins */
};

struct kubeconfig_pair {
    char *key, *value;
};

struct kubeconfig_user {
    char *client_certificate, *client_certificate_data, *client_key, *client_key_data;
    char *token, *token_file, *username, *password;
    char *as, *as_uid;
    struct kubeconfig_pair *as_more; /* key "": a group; else a user-extra */
    size_t as_more_count;
    struct exec_config *exec;
    bool has_exec; /* of a text it is not read: it is not used */
    bool has_auth_provider;
};

struct kubeconfig_context {
    char *cluster, *user, *namespace_;
};

struct kubeconfig_entry {
    char *name, *file; /* `file`: its origin */
    union {
        struct kubeconfig_cluster cluster;
        struct kubeconfig_user user;
        struct kubeconfig_context context;
    };
};

struct kubeconfig_list {
    struct kubeconfig_entry *items;
    size_t count;
};

struct kubeconfig {
    struct kubeconfig_list clusters, users, contexts;
    char *current_context, *current_context_file;
    char *paths;  /* of the files read, joined by ", "; NULL: none */
    bool is_text; /* it may be somebody else's, and nothing of it runs */
};

/* Adds the entries of `path` that `config` does not have yet: the first file that names an entry owns all of
 * it. */
bool kubeconfig_add_file(struct kubeconfig *config, const char *path, struct err *err);
/* The same of a text, which errors call `path`; its `exec` is noted, and not read. */
bool kubeconfig_add_text(struct kubeconfig *config, const char *path, struct str text, struct err *err);
void kubeconfig_clear(struct kubeconfig *config);
/* Returns NULL if no entry has the name. */
const struct kubeconfig_entry *kubeconfig_find(const struct kubeconfig_list *list, const char *name);

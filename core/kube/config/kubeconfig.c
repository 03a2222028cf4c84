/* Flags, kubeconfig files and in-cluster files joined to one configuration; see kubeconfig.h. */
#include "kube/config/kubeconfig.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/config/in_cluster.h"
#include "kube/config/kubeconfig_file.h"
#include "kube/config/kubeconfig_merge.h"

/* --- which files (C-1) --- */

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static bool listed_before(struct str list, struct str part)
{
    struct str other;
    while (str_cut(&list, ':', &other) && other.p < part.p)
        if (str_eq(other, part)) return true;
    return false;
}

/* Collects errors, so that all of them are reported at once. */
static void collect(struct err *all, const struct err *one)
{
    if (all->code == ERR_NONE)
        *all = *one;
    else
        err_append(all, "; %s", one->text);
}

static bool load_listed(struct kubeconfig *files, const char *list, struct err *err)
{
    struct str rest = str_of(list), part;
    struct err all, one;
    err_clear(&all);
    while (str_cut(&rest, ':', &part)) {
        if (!part.n || listed_before(str_of(list), part)) continue;
        char *path = xstrndup(part.p, part.n);
        if (exists(path) && !kubeconfig_add_file(files, path, &one)) collect(&all, &one);
        free(path);
    }
    if (all.code == ERR_NONE && !files->paths)
        log_warn("No file in KUBECONFIG exists", F("KUBECONFIG", list));
    if (all.code != ERR_NONE && err) *err = all;
    return all.code == ERR_NONE;
}

static bool load_home(struct kubeconfig *files, struct err *err)
{
    const char *home = getenv("HOME");
    if (!home || !*home) return true;
    char *path = xasprintf("%s/.kube/config", home);
    bool ok = !exists(path) || kubeconfig_add_file(files, path, err);
    free(path);
    return ok;
}

bool kubeconfig_load_files(const struct cluster_flags *flags, struct kubeconfig *files, struct err *err)
{
    const char *list = getenv("KUBECONFIG");
    if (flags->kubeconfig && *flags->kubeconfig) return kubeconfig_add_file(files, flags->kubeconfig, err);
    if (list && *list) return load_listed(files, list, err);
    return load_home(files, err);
}

/* --- which entries (C-9) --- */

static bool missing(const char *what, const char *name, const char *files, struct err *err)
{
    err_set(err, ERR_NOT_FOUND, "%s \"%s\" does not exist", what, name);
    return err_wrap(err, "%s", files ? files : "no kubeconfig file was found");
}

static bool choose_context(const struct cluster_flags *flags, const struct kubeconfig *files,
                           struct chosen *chosen, struct err *err)
{
    const char *named = nonempty(flags->context), *name = named ? named : files->current_context;
    if (!name) return true;
    chosen->context = kubeconfig_find(&files->contexts, name);
    if (chosen->context) return true;
    return named ? missing("context", named, files->paths, err)
                 : missing("current-context", name, files->current_context_file, err);
}

/* Chooses the entries. A context may name a missing user: it is used without credentials, as in client-go. A
 * flag may not. */
static bool choose_entries(const struct cluster_flags *flags, const struct kubeconfig *files,
                           struct chosen *chosen, struct err *err)
{
    if (!choose_context(flags, files, chosen, err)) return false;
    const struct kubeconfig_context *context = chosen->context ? &chosen->context->context : NULL;
    const char *cluster = nonempty(flags->cluster), *user = nonempty(flags->user);
    const char *cluster_name = cluster ? cluster : context ? context->cluster : NULL;
    const char *user_name = user ? user : context ? context->user : NULL;
    if (cluster_name) chosen->cluster = kubeconfig_find(&files->clusters, cluster_name);
    if (user_name) chosen->user = kubeconfig_find(&files->users, user_name);
    if (cluster && !chosen->cluster) return missing("cluster", cluster, files->paths, err);
    if (user && !chosen->user) return missing("user", user, files->paths, err);
    if (!context || !cluster_name || chosen->cluster || nonempty(flags->server)) return true;
    return err_set(err, ERR_NOT_FOUND, "%s: contexts[%s]: cluster \"%s\" does not exist",
                   chosen->context->file, chosen->context->name, cluster_name);
}

/* --- error if nothing is configured --- */

static void list_contexts(const struct kubeconfig *files, struct buf *out)
{
    for (size_t i = 0; i < files->contexts.count; i++)
        buf_printf(out, "%s%s", i ? ", " : "", files->contexts.items[i].name);
}

static const char reason_missing[] = "NotConfigured";

static bool nothing_at_all(const char *service_account_dir, struct err *err)
{
    static const char advice[] = "use --kubeconfig or --server, set KUBECONFIG, or create ~/.kube/config";
    if (!in_cluster_almost(service_account_dir, err)) {
        err_set(err, ERR_NOT_FOUND, "no cluster is configured: %s", advice);
        memcpy(err->reason, reason_missing, sizeof reason_missing);
        return false;
    }
    err_append(err, "; %s", advice);
    return err_wrap(err, "no cluster is configured");
}

static bool nothing_configured(const struct cluster_flags *flags, const struct kubeconfig *files,
                               const struct chosen *chosen, struct err *err)
{
    struct buf names = {0};
    if (chosen->cluster) {
        err_set(err, ERR_INVALID, "%s: clusters[%s]: no server", chosen->cluster->file,
                chosen->cluster->name);
    } else if (chosen->context) {
        err_set(err, ERR_INVALID, "%s: contexts[%s]: no cluster", chosen->context->file,
                chosen->context->name);
    } else if (files->contexts.count) {
        list_contexts(files, &names);
        err_set(err, ERR_INVALID, "%s: current-context is not set; use --context with one of: %s",
                files->contexts.items[0].file, buf_text(&names));
    } else {
        nothing_at_all(flags->service_account_dir, err);
    }
    buf_clear(&names);
    return false;
}

/* --- all together --- */

/* Chooses the namespace (C-12). */
static char *choose_namespace(const struct cluster_flags *flags, const struct chosen *chosen)
{
    if (nonempty(flags->namespace_)) return xstrdup(flags->namespace_);
    if (chosen->context && chosen->context->context.namespace_)
        return xstrdup(chosen->context->context.namespace_);
    if (in_cluster_possible(flags->service_account_dir))
        return in_cluster_namespace(flags->service_account_dir);
    return xstrdup("default");
}

/* Loads the configuration: in-cluster only if neither a flag nor a file names a server (C-10). Flags apply
 * there too. */
static bool load(const struct cluster_flags *flags, const struct kubeconfig *files,
                 struct cluster_config *out, struct err *err)
{
    struct chosen chosen = {0};
    if (!choose_entries(flags, files, &chosen, err)) return false;
    out->namespace_ = choose_namespace(flags, &chosen);
    if (chosen.context) out->name = xstrdup(chosen.context->name);
    if (nonempty(flags->server) || (chosen.cluster && chosen.cluster->cluster.server))
        return kubeconfig_merge(flags, &chosen, out, err);
    if (chosen.cluster || !in_cluster_possible(flags->service_account_dir))
        return nothing_configured(flags, files, &chosen, err);
    if (!out->name) out->name = xstrdup("in-cluster");
    return in_cluster_load(flags->service_account_dir, out, err) && kubeconfig_override(flags, out, err);
}

bool cluster_config_load(const struct cluster_flags *flags, struct cluster_config *out, struct err *err)
{
    struct kubeconfig files = {0};
    *out = (struct cluster_config){0};
    bool ok = kubeconfig_load_files(flags, &files, err) && load(flags, &files, out, err);
    kubeconfig_clear(&files);
    if (!ok) cluster_config_clear(out);
    return ok;
}

bool cluster_config_is_missing(const struct err *err)
{
    return strcmp(err->reason, reason_missing) == 0;
}

void cluster_config_set_none(struct cluster_config *out, const char *ns)
{
    *out = (struct cluster_config){.server = xstrdup("http://no-cluster.invalid"),
                                   .namespace_ = xstrdup(nonempty(ns) ? ns : "default"),
                                   .source = xstrdup("not configured")};
}

/* Returns what of an entry uses this machine, by the name of its field; NULL: nothing. */
static const char *foreign_user(const struct kubeconfig_user *user)
{
    return user->has_exec             ? "exec"
           : user->has_auth_provider  ? "auth-provider"
           : user->client_certificate ? "client-certificate"
           : user->client_key         ? "client-key"
           : user->token_file         ? "tokenFile"
                                      : NULL;
}

static bool refuse_foreign(const char *path, const struct kubeconfig *files, struct err *err)
{
    for (size_t i = 0; i < files->users.count; i++) {
        const char *field = foreign_user(&files->users.items[i].user);
        if (field)
            return err_set(err, ERR_INVALID, "%s: users[%s].%s: programs and files are not used", path,
                           files->users.items[i].name, field);
    }
    for (size_t i = 0; i < files->clusters.count; i++)
        if (files->clusters.items[i].cluster.certificate_authority)
            return err_set(err, ERR_INVALID,
                           "%s: clusters[%s].certificate-authority: programs and files are not used", path,
                           files->clusters.items[i].name);
    return true;
}

static bool parse(const char *path, const struct kubeconfig *files, struct cluster_config *out,
                  struct err *err)
{
    static const struct cluster_flags none;
    struct chosen chosen = {0};
    if (!refuse_foreign(path, files, err)) return false;
    if (!files->current_context) return err_set(err, ERR_INVALID, "%s: current-context is not set", path);
    if (!choose_entries(&none, files, &chosen, err)) return false;
    if (!chosen.cluster || !chosen.cluster->cluster.server)
        return err_set(err, ERR_INVALID, "%s: contexts[%s]: no server", path, chosen.context->name);
    out->namespace_ = xstrdup("default");
    return kubeconfig_merge(&none, &chosen, out, err);
}

bool cluster_config_parse(const char *path, struct str text, struct cluster_config *out, struct err *err)
{
    struct kubeconfig files = {0};
    *out = (struct cluster_config){0};
    bool ok = kubeconfig_add_text(&files, path, text, err) && parse(path, &files, out, err);
    kubeconfig_clear(&files);
    if (!ok) cluster_config_clear(out);
    return ok;
}

void cluster_config_clear(struct cluster_config *config)
{
    free(config->server);
    free(config->ca_pem);
    free(config->client_cert_pem);
    wipe(config->client_key_pem);
    free(config->ca_file);
    free(config->client_cert_file);
    free(config->client_key_file);
    free(config->tls_server_name);
    wipe(config->proxy_url);
    wipe(config->token);
    free(config->token_file);
    free(config->username);
    wipe(config->password);
    exec_config_free(config->exec);
    for (size_t i = 0; i < config->impersonate_count; i++) {
        free(config->impersonate[i].name);
        free(config->impersonate[i].value);
    }
    free(config->impersonate);
    free(config->namespace_);
    free(config->name);
    free(config->source);
    *config = (struct cluster_config){0};
}

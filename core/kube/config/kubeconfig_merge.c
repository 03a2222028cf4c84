/* Flags over entries, checks, and certificates read in; see kubeconfig_merge.h. */
#include "kube/config/kubeconfig_merge.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/text/base64.h"
#include "kube/config/token_file.h"
#include "net/pem.h"
#include "net/url/proxy.h"
#include "net/url/server_url.h"

enum { PEM_MAX = 4 << 20 };

/* Source of a certificate or key: flag, file or data, with its name in messages. */
struct source {
    const char *flag_name, *flag; /* --client-key */
    const struct kubeconfig_entry *entry;
    const char *list, *field; /* "users", "client-key" */
    const char *file, *data;
};

/* Prefixes the error with the source: "FILE: users[dev].client-key" or "--client-key". */
static bool blame(const struct source *s, const char *suffix, struct err *err)
{
    if (s->flag) return err_wrap(err, "%s", s->flag_name);
    return err_wrap(err, "%s: %s[%s].%s%s", s->entry->file, s->list, s->entry->name, s->field, suffix);
}

/* Reports unusable content; for a file with its path. */
static bool blame_content(const struct source *s, struct err *err)
{
    const char *path = s->flag ? s->flag : s->file;
    if (path) err_wrap(err, "%s", path);
    return blame(s, path ? "" : "-data", err);
}

static bool decode(const char *data, struct buf *out, struct err *err)
{
    return base64_decode(str_of(data), out) || err_set(err, ERR_INVALID, "not Base64");
}

/* Reads a certificate or key; leaves `*out` NULL if none is configured. A flag replaces file and data both
 * (C-6). */
static bool read_pem(const struct source *s, char **out, char **out_file, struct err *err)
{
    struct buf text = {0};
    const char *path = s->flag ? s->flag : s->file;
    bool ok = true;
    if (!s->flag && s->file && s->data) { /* C-8 */
        err_set(err, ERR_INVALID, "%s-data is set too", s->field);
        return blame(s, "", err);
    }
    if (path)
        ok = file_read(path, PEM_MAX, &text, err) || blame(s, "", err);
    else if (s->data)
        ok = decode(s->data, &text, err) || blame(s, "-data", err);
    if (ok && str_has_nul(buf_slice(&text))) {
        err_set(err, ERR_INVALID, "must not contain a NUL byte");
        ok = blame(s, path ? "" : "-data", err);
    }
    if (ok && path) *out_file = xstrdup(path);
    if (ok && (path || s->data)) *out = buf_take(&text);
    buf_wipe(&text);
    return ok;
}

static bool invalid(const struct kubeconfig_entry *entry, const char *list, const char *what, struct err *err)
{
    return err_set(err, ERR_INVALID, "%s: %s[%s]%s", entry->file, list, entry->name, what);
}

static bool read_server(const struct cluster_flags *flags, const struct kubeconfig_entry *entry,
                        bool default_tls, struct cluster_config *out, struct err *err)
{
    const char *flag = nonempty(flags->server);
    if (server_url_parse(flag ? flag : entry->cluster.server, default_tls, &out->server, err)) return true;
    return flag ? err_wrap(err, "--server")
                : err_wrap(err, "%s: clusters[%s].server", entry->file, entry->name);
}

static bool read_ca(const struct cluster_flags *flags, const struct kubeconfig_entry *entry,
                    struct cluster_config *out, struct err *err)
{
    const struct kubeconfig_cluster *cluster = entry ? &entry->cluster : NULL;
    const char *flag = nonempty(flags->certificate_authority);
    struct source s = {.flag_name = "--certificate-authority",
                       .flag = flag,
                       .entry = entry,
                       .list = "clusters",
                       .field = "certificate-authority"};
    out->insecure_skip_tls_verify = flags->insecure_skip_tls_verify;
    if (flag || flags->insecure_skip_tls_verify) { /* C-6: either flag replaces both settings of the file */
        free(out->ca_pem);
        free(out->ca_file);
        out->ca_pem = out->ca_file = NULL;
    } else if (cluster) {
        s.file = cluster->certificate_authority;
        s.data = cluster->certificate_authority_data;
        out->insecure_skip_tls_verify = cluster->insecure_skip_tls_verify;
    }
    if (!read_pem(&s, &out->ca_pem, &out->ca_file, err)) return false;
    if (out->ca_pem && !pem_check_certificates(str_of(out->ca_pem), err)) return blame_content(&s, err);
    if (!out->ca_pem || !out->insecure_skip_tls_verify) return true;
    err_set(err, ERR_INVALID, "insecure-skip-tls-verify is set too"); /* T-1 */
    return blame(&s, "", err);
}

static bool read_cluster(const struct cluster_flags *flags, const struct kubeconfig_entry *entry,
                         struct cluster_config *out, struct err *err)
{
    const struct kubeconfig_cluster *cluster = entry ? &entry->cluster : NULL;
    const char *name = nonempty(flags->tls_server_name);
    if (cluster && cluster->proxy_url && !proxy_check(cluster->proxy_url, err)) /* T-4 */
        return err_wrap(err, "%s: clusters[%s].proxy-url", entry->file, entry->name);
    if (cluster) out->proxy_url = xstrdup(cluster->proxy_url);
    if (!name && !nonempty(flags->server) && cluster) name = cluster->tls_server_name; /* C-6 */
    out->tls_server_name = xstrdup(name);
    out->disable_compression = cluster && cluster->disable_compression;
    return read_ca(flags, entry, out, err);
}

static bool read_certificate(const struct cluster_flags *flags, const struct kubeconfig_entry *entry,
                             struct cluster_config *out, struct err *err)
{
    const struct kubeconfig_user none = {0}, *user = entry ? &entry->user : &none;
    const struct source cert = {
        "--client-certificate",   nonempty(flags->client_certificate), entry, "users", "client-certificate",
        user->client_certificate, user->client_certificate_data};
    const struct source key = {"--client-key",   nonempty(flags->client_key), entry, "users", "client-key",
                               user->client_key, user->client_key_data};
    if (!read_pem(&cert, &out->client_cert_pem, &out->client_cert_file, err) ||
        !read_pem(&key, &out->client_key_pem, &out->client_key_file, err))
        return false;
    if (!out->client_cert_pem != !out->client_key_pem) {
        err_set(err, ERR_INVALID, "missing %s", out->client_key_pem ? "client-certificate" : "client-key");
        return blame(out->client_key_pem ? &key : &cert, "", err);
    }
    if (!out->client_cert_pem) return true;
    struct str cert_pem = str_of(out->client_cert_pem), key_pem = str_of(out->client_key_pem);
    if (!pem_check_certificates(cert_pem, err)) return blame_content(&cert, err);
    return (pem_check_key(key_pem, err) && pem_check_pair(cert_pem, key_pem, err)) ||
           blame_content(&key, err);
}

/* Checks the file at once, so that a wrong name is reported at the start; its content is read again later
 * (T-7). */
static bool check_token_file(const char *path, struct err *err)
{
    char *token;
    if (!token_file_read(path, &token, err)) return false;
    wipe(token);
    return true;
}

static bool has_token_flag(const struct cluster_flags *flags)
{
    return nonempty(flags->token) || nonempty(flags->token_file);
}

/* Replaces any token by --token, or by the flag of a token file (C-6). */
static bool override_token(const struct cluster_flags *flags, struct cluster_config *out, struct err *err)
{
    const char *token = nonempty(flags->token), *file = nonempty(flags->token_file);
    if (!token && !file) return true;
    wipe(out->token);
    free(out->token_file);
    out->token = xstrdup(token);
    out->token_file = xstrdup(file);
    return !file || check_token_file(file, err) || err_wrap(err, "the token file given");
}

static bool read_token(const struct cluster_flags *flags, const struct kubeconfig_entry *entry,
                       struct cluster_config *out, struct err *err)
{
    if (!entry || has_token_flag(flags)) return override_token(flags, out, err);
    out->token = xstrdup(entry->user.token);
    out->token_file = xstrdup(entry->user.token_file);
    if (!out->token_file || check_token_file(out->token_file, err)) return true;
    return err_wrap(err, "%s: users[%s].tokenFile", entry->file, entry->name);
}

static void add_pair(struct kubeconfig_user *user, const char *key, const char *value)
{
    user->as_more[user->as_more_count++] = (struct kubeconfig_pair){(char *)key, (char *)value};
}

/* Puts the flags over the user's entry; fields without a flag stay as in the entry (C-6, T-9). Borrows; the
 * caller frees `as_more`. */
static struct kubeconfig_user impersonated(const struct cluster_flags *flags,
                                           const struct kubeconfig_entry *entry)
{
    const struct kubeconfig_user none = {0}, *file = entry ? &entry->user : &none;
    struct kubeconfig_user user = {.as = nonempty(flags->as) ? (char *)flags->as : file->as,
                                   .as_uid = nonempty(flags->as_uid) ? (char *)flags->as_uid : file->as_uid};
    user.as_more = xcalloc(file->as_more_count + flags->as_group_count + 1, sizeof *user.as_more);
    for (size_t i = 0; i < flags->as_group_count; i++) add_pair(&user, "", flags->as_groups[i]);
    for (size_t i = 0; i < file->as_more_count; i++)
        if (*file->as_more[i].key || !flags->as_group_count)
            add_pair(&user, file->as_more[i].key, file->as_more[i].value);
    return user;
}

/* --- impersonation headers (T-9) */

/* Returns whether a name of a header may contain the character (RFC 9110's token); '%' may not, as it begins
 * an escape. */
static bool is_token(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("!#$&'*+-.^_`|~", c));
}

/* Returns the key in lower case, percent-escaped where it is not a legal token. */
static char *extra_name(const char *key)
{
    struct buf name = {0};
    buf_puts(&name, "Impersonate-Extra-");
    for (; *key; key++) {
        char c = (char)tolower((unsigned char)*key);
        if (is_token(c))
            buf_putc(&name, c);
        else
            buf_printf(&name, "%%%02X", (unsigned char)c);
    }
    return buf_take(&name);
}

static void add_header(struct cluster_config *out, char *name, const char *value)
{
    *array_add(out->impersonate, out->impersonate_count) = (struct cluster_header){name, xstrdup(value)};
}

/* Fills `out->impersonate`, if the user requests impersonation. */
static void impersonate_headers(const struct kubeconfig_user *user, struct cluster_config *out)
{
    if (!user->as) return;
    add_header(out, xstrdup("Impersonate-User"), user->as);
    if (user->as_uid) add_header(out, xstrdup("Impersonate-Uid"), user->as_uid);
    for (size_t i = 0; i < user->as_more_count; i++) {
        const struct kubeconfig_pair *more = &user->as_more[i];
        add_header(out, *more->key ? extra_name(more->key) : xstrdup("Impersonate-Group"), more->value);
    }
}

static bool read_impersonation(const struct cluster_flags *flags, const struct kubeconfig_entry *entry,
                               struct cluster_config *out, struct err *err)
{
    struct kubeconfig_user user = impersonated(flags, entry);
    bool ok = user.as || (!user.as_uid && !user.as_more_count);
    if (ok)
        impersonate_headers(&user, out);
    else if (nonempty(flags->as_uid) || flags->as_group_count)
        err_set(err, ERR_INVALID, "--as-uid and --as-group need --as");
    else
        invalid(entry, "users", ": as-uid, as-groups and as-user-extra need as", err);
    free(user.as_more);
    return ok;
}

static bool read_user(const struct cluster_flags *flags, const struct kubeconfig_entry *entry,
                      struct cluster_config *out, struct err *err)
{
    if (entry && entry->user.has_auth_provider)
        return invalid(entry, "users", ".auth-provider: auth providers are not supported", err);
    if (!read_token(flags, entry, out, err) || !read_certificate(flags, entry, out, err)) return false;
    if (!read_impersonation(flags, entry, out, err)) return false;
    if (!entry) return true;
    const struct kubeconfig_user *user = &entry->user;
    if ((user->username || user->password) && !has_token_flag(flags)) { /* C-6 */
        if (out->token || out->token_file)
            return invalid(entry, "users", ": a token and a user name are both set", err); /* T-8 */
        out->username = xstrdup(user->username ? user->username : "");
        out->password = xstrdup(user->password);
    }
    return true;
}

bool kubeconfig_override(const struct cluster_flags *flags, struct cluster_config *out, struct err *err)
{
    return read_cluster(flags, NULL, out, err) && read_user(flags, NULL, out, err);
}

/* Copies the plugin's configuration. Its information about the cluster is in the cluster's entry (T-12). */
static void read_exec(const struct chosen *chosen, struct cluster_config *out)
{
    if (!chosen->user || !chosen->user->user.exec) return;
    out->exec = exec_config_copy(chosen->user->user.exec);
    if (chosen->cluster) out->exec->cluster_config = xstrdup(chosen->cluster->cluster.exec_config);
}

/* Lists flags that override the context or the pod: server and identity. */
static void put_flags(const struct cluster_flags *flags, struct buf *out)
{
    const struct {
        const char *name, *value;
        bool shown; /* a name, not a secret */
    } all[] = {
        {"cluster", flags->cluster, true},
        {"server", flags->server, false}, /* printed separately */
        {"user", flags->user, true},
        {"token", flags->token, false},
        {"token-file", flags->token_file, true},
        {"client-certificate", flags->client_certificate, true},
        {"as", flags->as, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!nonempty(all[i].value)) continue;
        buf_printf(out, ", --%s", all[i].name);
        if (all[i].shown) buf_printf(out, " %s", all[i].value);
    }
}

static char *describe(const struct cluster_flags *flags, const struct chosen *chosen)
{
    const struct kubeconfig_entry *cluster = nonempty(flags->server) ? NULL : chosen->cluster;
    struct buf out = {0};
    if (!chosen->context)
        return cluster ? xasprintf("%s, cluster %s", cluster->file, cluster->name)
                       : xstrdup("the flag --server");
    buf_printf(&out, "%s, context %s", chosen->context->file, chosen->context->name);
    put_flags(flags, &out);
    char *text = xstrdup(buf_text(&out));
    buf_clear(&out);
    return text;
}

bool kubeconfig_merge(const struct cluster_flags *flags, const struct chosen *chosen,
                      struct cluster_config *out, struct err *err)
{
    if (!read_cluster(flags, chosen->cluster, out, err) || !read_user(flags, chosen->user, out, err))
        return false;
    bool default_tls = out->ca_pem || out->client_cert_pem || out->insecure_skip_tls_verify;
    read_exec(chosen, out);
    out->source = describe(flags, chosen);
    return read_server(flags, chosen->cluster, default_tls, out, err);
}

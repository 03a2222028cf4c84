/* Service account files and the environment of a pod; see in_cluster.h. */
#include "kube/config/in_cluster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/config/token_file.h"
#include "net/pem.h"

enum { FILE_MAX = 4 << 20 };

static char *path_in(const char *dir, const char *name)
{
    return xasprintf("%s/%s", dir ? dir : SERVICE_ACCOUNT_DIR, name);
}

/* Returns 0, or the errno of a missing token file. */
static int find_token(const char *token)
{
    struct stat st;
    if (stat(token, &st) != 0) return errno;
    return S_ISDIR(st.st_mode) ? EISDIR : 0;
}

bool in_cluster_possible(const char *dir)
{
    char *token = path_in(dir, "token");
    bool is_file = find_token(token) == 0;
    free(token);
    return is_file && nonempty(getenv("KUBERNETES_SERVICE_HOST")) &&
           nonempty(getenv("KUBERNETES_SERVICE_PORT"));
}

bool in_cluster_almost(const char *dir, struct err *err)
{
    const char *host = nonempty(getenv("KUBERNETES_SERVICE_HOST")),
               *port = nonempty(getenv("KUBERNETES_SERVICE_PORT"));
    if (!host && !port) return false;
    if (!host || !port) {
        err_set(err, ERR_NOT_FOUND, "KUBERNETES_SERVICE_%s is set, but KUBERNETES_SERVICE_%s is not",
                host ? "HOST" : "PORT", host ? "PORT" : "HOST");
        return true;
    }
    char *token = path_in(dir, "token");
    int error = find_token(token);
    err_set(err, ERR_NOT_FOUND, "KUBERNETES_SERVICE_HOST is set, but %s: %s", token, strerror(error));
    free(token);
    return error != 0;
}

/* Only logs a missing or broken CA: the system's roots are tried then (T-10). */
static char *read_ca(const char *dir)
{
    struct err err;
    struct buf text = {0};
    char *path = path_in(dir, "ca.crt"), *pem = NULL;
    if (!file_read(path, FILE_MAX, &text, &err))
        log_warn("Failed to read the cluster's CA", F("err", err.text));
    else if (!pem_check_certificates(buf_slice(&text), &err))
        log_warn("Invalid CA of the cluster", F("file", path), F("err", err.text));
    else
        pem = buf_take(&text);
    buf_clear(&text);
    free(path);
    return pem;
}

bool in_cluster_load(const char *dir, struct cluster_config *out, struct err *err)
{
    const char *host = nonempty(getenv("KUBERNETES_SERVICE_HOST")),
               *port = nonempty(getenv("KUBERNETES_SERVICE_PORT"));
    char *token;
    if (!host || !port)
        return err_set(err, ERR_INVALID,
                       "not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be set");
    out->token_file = path_in(dir, "token");
    if (!token_file_read(out->token_file, &token, err)) return err_wrap(err, "in-cluster");
    wipe(token);
    bool bare_v6 = strchr(host, ':') && *host != '[';
    out->server = xasprintf("https://%s%s%s:%s", bare_v6 ? "[" : "", host, bare_v6 ? "]" : "", port);
    out->ca_pem = read_ca(dir);
    out->ca_file = path_in(dir, "ca.crt");
    out->source = xstrdup("in-cluster");
    return true;
}

char *in_cluster_namespace(const char *dir)
{
    const char *from_env = nonempty(getenv("POD_NAMESPACE"));
    if (from_env) return xstrdup(from_env);
    struct buf text = {0};
    char *path = path_in(dir, "namespace");
    struct str name = {0};
    if (file_read(path, 4096, &text, NULL)) name = str_trim(buf_slice(&text));
    if (str_has_nul(name)) { /* it would end early and name another namespace, or all */
        log_warn("The namespace of the pod cannot be used: it must not contain a NUL byte", F("file", path));
        name.n = 0;
    }
    char *result = name.n ? xstrndup(name.p, name.n) : xstrdup("default");
    buf_clear(&text);
    free(path);
    return result;
}

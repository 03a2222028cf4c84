/* ExecCredential objects, written and read; see exec_credential.h. */
#include "kube/config/exec_credential.h"

#include <stdlib.h>
#include <string.h>

#include "base/civil.h"
#include "base/mem.h"
#include "base/text/base64.h"
#include "base/text/json_out.h"
#include "net/pem.h"
#include "object/parse/tape.h"

/* --- input of the plugin */

static void put_text(struct buf *out, const char *name, const char *text)
{
    if (text) json_text(out, name, text);
}

static void put_cluster(const struct exec_config *exec, const struct cluster_config *cluster, struct buf *out)
{
    struct buf ca = {0};
    if (cluster->ca_pem) base64_encode(str_of(cluster->ca_pem), &ca);
    json_open(out, "cluster", '{');
    json_text(out, "server", cluster->server);
    put_text(out, "tls-server-name", cluster->tls_server_name);
    if (cluster->insecure_skip_tls_verify) json_bool(out, "insecure-skip-tls-verify", true);
    if (cluster->ca_pem) json_str(out, "certificate-authority-data", buf_slice(&ca));
    put_text(out, "proxy-url", cluster->proxy_url);
    if (cluster->disable_compression) json_bool(out, "disable-compression", true);
    if (exec->cluster_config) json_raw(out, "config", str_of(exec->cluster_config));
    json_close(out, '}');
    buf_clear(&ca);
}

void exec_credential_info(const struct exec_config *exec, const struct cluster_config *cluster,
                          bool interactive, struct buf *out)
{
    buf_putc(out, '{'); /* after the name of the variable */
    json_text(out, "kind", "ExecCredential");
    json_text(out, "apiVersion", exec->api_version);
    json_open(out, "spec", '{');
    if (exec->provide_cluster_info) put_cluster(exec, cluster, out);
    json_bool(out, "interactive", interactive);
    json_close(out, '}');
    json_close(out, '}');
}

/* --- output of the plugin */

/* Leaves `*out` NULL if the field is missing or empty. */
static bool take_text(const struct tape *tape, size_t object, const char *name, char **out, struct err *err)
{
    struct str text = tape_str(tape, tape_field(tape, object, str_of(name)));
    *out = NULL;
    if (str_has_nul(text)) return err_set(err, ERR_PARSE, "its %s must not contain a NUL byte", name);
    if (text.n) *out = xstrndup(text.p, text.n);
    return true;
}

static bool check_head(const struct exec_config *exec, const struct tape *tape, struct err *err)
{
    size_t root = tape_root(tape);
    struct str kind = tape_str(tape, tape_field(tape, root, STR("kind"))),
               version = tape_str(tape, tape_field(tape, root, STR("apiVersion")));
    if (!str_is(kind, "ExecCredential")) return err_set(err, ERR_PARSE, "output is not an ExecCredential");
    return str_is(version, exec->api_version) ||
           err_set(err, ERR_PARSE, "output does not have the configured apiVersion %s", exec->api_version);
}

static bool read_status(const struct tape *tape, struct exec_credential *out, struct err *err)
{
    size_t status = tape_field(tape, tape_root(tape), STR("status"));
    if (tape_type(tape, status) != '{') return err_set(err, ERR_PARSE, "its output has no status");
    if (!take_text(tape, status, "token", &out->token, err) ||
        !take_text(tape, status, "clientCertificateData", &out->cert_pem, err) ||
        !take_text(tape, status, "clientKeyData", &out->key_pem, err))
        return false;
    if (!out->token && !out->cert_pem && !out->key_pem)
        return err_set(err, ERR_PARSE, "output has neither a token nor a certificate");
    if (!out->cert_pem != !out->key_pem)
        return err_set(err, ERR_PARSE, "output has a %s without a %s", out->cert_pem ? "certificate" : "key",
                       out->cert_pem ? "key" : "certificate");
    if (out->cert_pem && !pem_check_pair(str_of(out->cert_pem), str_of(out->key_pem), err)) return false;
    size_t expiry = tape_field(tape, status, STR("expirationTimestamp"));
    if (!expiry || tape_type(tape, expiry) == 'n') return true;
    int64_t seconds;
    if (!civil_read_utc(tape_str(tape, expiry), &seconds))
        return err_set(err, ERR_PARSE, "invalid expirationTimestamp");
    out->expires_us = seconds * 1000000;
    return true;
}

bool exec_credential_read(const struct exec_config *exec, struct str output, struct exec_credential *out,
                          struct err *err)
{
    struct tape_parser *parser = tape_parser_new();
    struct buf text = {0};
    struct tape tape;
    *out = (struct exec_credential){0};
    buf_reserve(&text, output.n + TAPE_PADDING);
    buf_str(&text, output);
    memset(buf_reserve(&text, TAPE_PADDING), 0, TAPE_PADDING);
    bool ok = tape_parse(parser, text.data, text.len, &tape, err);
    if (!ok) err_wrap(err, "its output");
    ok = ok && check_head(exec, &tape, err) && read_status(&tape, out, err);
    if (!ok) exec_credential_clear(out);
    buf_wipe(&text);
    tape_parser_free(parser);
    return ok;
}

void exec_credential_clear(struct exec_credential *credential)
{
    wipe(credential->token);
    wipe(credential->cert_pem);
    wipe(credential->key_pem);
    *credential = (struct exec_credential){0};
}

/* Input and output of an exec plugin: ExecCredential objects, v1 or v1beta1 (T-12). Owner: the caller;
 * exec_credential_clear wipes and frees an output. May be called anywhere. Errors never contain a plugin's
 * output. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "kube/config/exec_config.h"
#include "kube/config/kubeconfig.h"

struct exec_credential {
    char *token, *cert_pem, *key_pem; /* a token, a pair, or both */
    int64_t expires_us;               /* wall time; 0: not stated */
};

/* Appends the value of KUBERNETES_EXEC_INFO. */
void exec_credential_info(const struct exec_config *exec, const struct cluster_config *cluster,
                          bool interactive, struct buf *out);
/* Reads a plugin's output. Sets ERR_PARSE or ERR_TLS if it is not a usable credential of `exec`'s apiVersion.
 */
bool exec_credential_read(const struct exec_config *exec, struct str output, struct exec_credential *out,
                          struct err *err);
void exec_credential_clear(struct exec_credential *credential);

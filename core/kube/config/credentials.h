/* Credentials of requests: the Authorization header from a token, a token file, a password or an exec plugin.
 * Owner: the I/O thread. Errors and logs never contain tokens. Buffers that held one are wiped when they are
 * freed; copies that libcurl made of a request are not. */
#pragma once
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "kube/config/exec_plugin.h"
#include "kube/config/kubeconfig.h"
#include "kube/config/kubeconfig_file.h"
#include "net/transport.h"

struct credentials;

/* Copies what it needs of `config`; takes `plugin`, which may be NULL. */
struct credentials *credentials_new(const struct cluster_config *config, struct clock *clock,
                                    struct exec_plugin *plugin);
void credentials_free(struct credentials *credentials);
/* Appends the value of the Authorization header; nothing if there are no credentials. Reads a token file
 * again after 50 s; if that fails, the previous token stays in use (T-7). Sets ERR_IO or ERR_INVALID if there
 * is no previous one. With a plugin, may return PERMIT_WAIT; `*number` is for credentials_on_response. */
enum transport_permit credentials_header(struct credentials *credentials, struct buf *out, unsigned *number,
                                         struct err *err);
/* Like exec_plugin_running; also NULL without a plugin. */
const char *credentials_plugin_running(const struct credentials *credentials, int64_t *since_us);
/* Call when the server has responded to a request that carried the header `number`. */
void credentials_on_response(struct credentials *credentials, int http_status, unsigned number);

/* Credentials of requests: the Authorization header from a token, a token file, a password or an exec plugin.
 * Owner: the I/O thread. Tokens are in no text and no log; memory of ours that held one is wiped when it is
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
/* Appends the value of the Authorization header, nothing when there are no credentials. A token file is read
 * again when what is known of it is older than 50 s; when that fails the old token stays in use (T-7). ERR_IO
 * or ERR_INVALID when there is no old one. With a plugin it may be PERMIT_WAIT; `*number` is for
 * credentials_on_response. */
enum transport_permit credentials_header(struct credentials *credentials, struct buf *out, unsigned *number,
                                         struct err *err);
/* As exec_plugin_running, NULL too without a plugin. */
const char *credentials_plugin_running(const struct credentials *credentials, int64_t *since_us);
/* The server has answered a request that carried the header `number`. */
void credentials_on_response(struct credentials *credentials, int http_status, unsigned number);

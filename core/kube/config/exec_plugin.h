/* Credentials from an exec plugin (T-12..T-14): it is run when they are needed, and they are kept until they
 * expire or the server refuses them. Requests wait for the plugin, threads do not. Owner: the client's
 * credentials, on the I/O thread. exec_plugin_free kills a running plugin. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "kube/config/kubeconfig.h"
#include "net/loop.h"
#include "net/transport.h"

struct exec_plugin;

/* Returns NULL if `config` has no plugin, or has credentials of another kind, which win (T-13), or no TLS
 * (C-7). Copies what it needs; borrows loop and transport, whose client certificate it sets and whose waiting
 * requests it resumes. */
struct exec_plugin *exec_plugin_new(const struct cluster_config *config, struct loop *loop,
                                    struct transport *transport);
void exec_plugin_free(struct exec_plugin *plugin);
/* Authorizes a request, as the `authorize` of transport_options. */
enum transport_permit exec_plugin_authorize(struct exec_plugin *plugin, struct buf *value, unsigned *number,
                                            struct err *err);
/* Returns the running command, and since when (wall time); NULL if none runs. Valid as long as the plugin.
 * Any thread. */
const char *exec_plugin_running(const struct exec_plugin *plugin, int64_t *since_us);
/* Call when the server has responded with 401 to a request that carried credential `number`: the next request
 * gets a new one. */
void exec_plugin_refused(struct exec_plugin *plugin, unsigned number);

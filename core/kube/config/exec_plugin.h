/* Credentials from an exec plugin (T-12..T-14): run when they are needed, kept until they expire or the
 * server refuses them. Requests wait for the plugin, threads do not. Owner: the client's credentials, on the
 * I/O thread. Whatever runs is killed by exec_plugin_free. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "kube/config/kubeconfig.h"
#include "net/loop.h"
#include "net/transport.h"

struct exec_plugin;

/* NULL when `config` has none, or has credentials of another kind, which win (T-13), or no TLS (C-7). Copies
 * what it needs; borrows loop and transport, whose client certificate it sets and whose waiting requests it
 * resumes. */
struct exec_plugin *exec_plugin_new(const struct cluster_config *config, struct loop *loop,
                                    struct transport *transport);
void exec_plugin_free(struct exec_plugin *plugin);
/* As transport_options.authorize says. */
enum transport_permit exec_plugin_authorize(struct exec_plugin *plugin, struct buf *value, unsigned *number,
                                            struct err *err);
/* From any thread: the command that runs, and since when (wall time); NULL when it does not. Good as long as
 * the plugin. */
const char *exec_plugin_running(const struct exec_plugin *plugin, int64_t *since_us);
/* The server answered 401 to a request that carried credential `number`: the next request has a new one. */
void exec_plugin_refused(struct exec_plugin *plugin, unsigned number);

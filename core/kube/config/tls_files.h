/* Certificates and keys that came from files are looked at again, as they are replaced on disk before they
 * expire (T-6): every five minutes, and when a request is about to be sent, then at most once a second. A
 * change closes all connections of the transport.
 * Owner: the client, on the I/O thread. Texts and logs name files, never what is in them. */
#pragma once
#include "base/clock.h"
#include "kube/config/kubeconfig.h"
#include "net/transport.h"

struct tls_files;

/* NULL when nothing of `config` came from a file. Borrows transport and clock. */
struct tls_files *tls_files_new(const struct cluster_config *config, struct transport *transport,
                                struct clock *clock);
void tls_files_free(struct tls_files *files);
/* A request is about to be sent. NULL is allowed. */
void tls_files_check(struct tls_files *files);

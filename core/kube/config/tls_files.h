/* Certificates and keys from files are checked for changes, as they are replaced on disk before they expire
 * (T-6): every five minutes, and before a request is sent, at most once a second. A change closes all
 * connections of the transport. Owner: the client, on the I/O thread. Errors and logs name files, never their
 * content. */
#pragma once
#include "base/clock.h"
#include "kube/config/kubeconfig.h"
#include "net/transport.h"

struct tls_files;

/* Returns NULL if no certificate or key of `config` came from a file. Borrows transport and clock. */
struct tls_files *tls_files_new(const struct cluster_config *config, struct transport *transport,
                                struct clock *clock);
void tls_files_free(struct tls_files *files);
/* Call before a request is sent. NULL is allowed. */
void tls_files_check(struct tls_files *files);

/* What a request says of who asks: the Authorization header from a token, a token file or a password.
 * Owner: the I/O thread. Tokens are in no text and no log; memory that held one is wiped when it is freed. */
#pragma once
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "kube/kubeconfig.h"

struct credentials;

/* Copies what it needs of `config`. */
struct credentials *credentials_new(const struct cluster_config *config, struct clock *clock);
void credentials_free(struct credentials *credentials);
/* Appends the value of the Authorization header, nothing when there are no credentials. A token file is read
 * again when what is known of it is older than 50 s; when that fails the old token stays in use (T-7). ERR_IO
 * or ERR_INVALID when there is no old one. */
bool credentials_header(struct credentials *credentials, struct buf *out, struct err *err);

/* The token in the file, without blanks around it; the caller wipes and frees it. */
bool credentials_read_token(const char *path, char **out, struct err *err);

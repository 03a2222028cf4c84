/* Are these certificates and keys usable? Asked while loading, so that a broken one is an error with its name
 * instead of a failure at the first handshake. Owner: nothing is kept. May be called from anywhere. Texts say
 * what is wrong, never what is inside. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* One PEM certificate at least, and no broken one among them. */
bool pem_check_certificates(struct str pem, struct err *err);
/* A PEM private key without a passphrase. */
bool pem_check_key(struct str pem, struct err *err);
/* From when until when the first certificate is good, in seconds since the epoch. False when there is none.
 */
bool pem_validity(struct str cert_pem, int64_t *from_s, int64_t *until_s);
/* Both, and the key is the one of the first certificate. */
bool pem_check_pair(struct str cert_pem, struct str key_pem, struct err *err);

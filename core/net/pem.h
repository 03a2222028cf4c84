/* Checks of certificates and keys, while loading, so that a broken one is an error with its name instead of a
 * failure at the first handshake. Owner: stateless. May be called from anywhere. Messages never show content.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Checks for at least one PEM certificate, and no broken one. */
bool pem_check_certificates(struct str pem, struct err *err);
/* Checks for a PEM private key without a passphrase. */
bool pem_check_key(struct str pem, struct err *err);
/* Sets the validity of the first certificate, in seconds since the epoch. Returns false if there is none. */
bool pem_validity(struct str cert_pem, int64_t *from_s, int64_t *until_s);
/* Both, and the key is the one of the first certificate. */
bool pem_check_pair(struct str cert_pem, struct str key_pem, struct err *err);

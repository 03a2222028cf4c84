/* Address of a server as a user writes it, in the form to which paths can be appended. Owner: the caller
 * frees the string. May be called anywhere. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

/* "https://host:port/base" without slash, query or fragment at the end. Without a scheme it is https when
 * `default_tls`, http else. ERR_INVALID for other schemes, user names in it, or no host. */
bool server_url_parse(const char *text, bool default_tls, char **out, struct err *err);

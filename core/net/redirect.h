/* Redirects as requests to the API server and those of scripts follow them. Owner: nothing is kept. May be
 * called anywhere. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

bool redirect_is(int status);
/* Returns the malloc'ed URL to which `location` in a response from `from` leads, or NULL with an error:
 * ERR_PARSE for no URL, ERR_INVALID for one that is not HTTP, or leads from https to http. `*same` is whether
 * the server (scheme, host and port) stays. */
char *redirect_url(const char *from, const char *location, bool *same, struct err *err);
/* Returns whether a header of that name is not for another server, whatever servers call theirs: better one
 * header too few than a token that leaks. */
bool redirect_drops(const char *name);

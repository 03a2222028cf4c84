/* Files with a bearer token. Owner: the caller wipes and frees the token. Blocks: not from callbacks. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

/* Reads the token without blanks around it. Returns false and sets err when the file cannot be read, is empty
 * or has a NUL byte. */
bool token_file_read(const char *path, char **out, struct err *err);

/* Sizes as users write them: "64Mi", "1G", "8192". Owner: stateless. May be used anywhere. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Bytes; with k, M, G thousands of them, with Ki, Mi, Gi 1024s. False for anything else, and for more than a
 * million G. */
bool size_parse(const char *text, size_t *out);
/* Appends it in the largest unit of 1024s that leaves nothing over: "64Mi", "1000". */
void size_text(uint64_t bytes, struct buf *out);

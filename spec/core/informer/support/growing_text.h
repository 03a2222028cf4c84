/* A server of texts for tests: each has GROWING_TEXT_BYTES, comes a chunk in each turn of the loop, waits
 * while it is paused, and ends well. Owner: the loop's thread. */
#pragma once
#include "kube/api/text_stream.h"
#include "net/loop.h"

enum { GROWING_TEXT_BYTES = 1 << 20, GROWING_TEXT_CHUNK = 10000 };

struct text_caller growing_text(struct loop *loop);

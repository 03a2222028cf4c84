/* What comes out of a queue, as text: "Added foo@2; ReplacedAll(123, foo@2)", with + behind what is initial,
 * * behind what stands for several, ^ behind a delete that swallowed its put, and the namespace
 * in place of the version of a list of one. Owner: the spec. */
#pragma once
#include "informer/reflect/delta_fifo.h"

/* Takes at most `max` deltas and releases them; borrowed until the next call. */
const char *deltas_pop(struct delta_fifo *fifo, size_t max);

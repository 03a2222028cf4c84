/* Finds where a text stops being JSON: parsers say what is wrong, but not where. Slow, for a text that is
 * known to be wrong. Owner: nothing is kept. May be called anywhere. */
#pragma once
#include <stddef.h>

#include "base/str.h"

/* The byte at which one value, with blanks around it, stops being JSON by its grammar; `text.n` when it ends
 * too early, or has no such fault: a number may be too large, or what it means wrong. */
size_t input_fault(struct str text);

/* Finds the byte where a text stops being JSON, which parsers do not report. Slow, for texts that are known
 * to be malformed. Stateless. May be called anywhere. */
#pragma once
#include <stddef.h>

#include "base/str.h"

/* Returns the byte at which one value, with blanks around it, stops being JSON by its grammar; `text.n` if it
 * ends too early, or has no such fault: a number may be too large, or a field of the wrong type. */
size_t input_fault(struct str text);

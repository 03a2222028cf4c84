/* A large List, such as a cluster's list of pods, part by part: each part is checked and shortened by itself,
 * so that the memory that it takes stays in the processor's caches. Owner: the text is borrowed. Any thread.
 */
#pragma once
#include "base/buf.h"

/* Calls `part` with the List as if it had no items, and then with each of its items: compact JSON, every byte
 * of a token as it was. The text of a part is valid during the call. Ends when `part` returns false. Returns
 * whether all parts were taken: false also if the text is not one List of objects, or if it has what parsers
 * take in different ways: numbers other than integers of 64 bits with a sign, and strings with a NUL; parts
 * may have been taken before that is found. */
bool json_list_parts(struct str text, bool (*part)(void *ctx, struct str text), void *ctx);

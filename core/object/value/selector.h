/* Label selectors with the grammar and the meaning of contract X-1..X-5.
 * Owner: selector_parse's caller frees by selector_free. Immutable; may be used by any thread. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "object/value/value.h"

struct selector;

/* Parses a selector; returns NULL with an error that has the selector, the position and the reason. The empty
 * selector matches everything. */
struct selector *selector_parse(struct str text, struct err *err);
void selector_free(struct selector *selector);
bool selector_is_everything(const struct selector *selector);
/* `labels` is metadata.labels: a map, or absent or null, which is as an empty map. */
bool selector_matches(const struct selector *selector, struct value labels);
/* Likewise for labels stored elsewhere: `label` returns the value of a key, or false if it is absent. */
bool selector_matches_by(const struct selector *selector,
                         bool (*label)(void *ctx, struct str key, struct str *value), void *ctx);
/* Returns the key of the `i`-th requirement of exactly one value, and that value; a NULL pointer if there is
 * none. An index may serve it. */
struct str selector_equality(const struct selector *selector, size_t i, struct str *value);
/* Returns a key with contradicting requirements, as in "a=1,a=2": no labels match. A NULL pointer for none.
 */
struct str selector_contradiction(const struct selector *selector);
/* Returns the canonical form: requirements sorted by key, sets sorted, no blanks. Borrowed. */
struct str selector_text(const struct selector *selector);

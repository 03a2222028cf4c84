/* Label selectors with the grammar and the meaning of contract X-1..X-5.
 * Owner: selector_parse's caller frees by selector_free. Immutable; may be used by any thread. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "object/value/value.h"

struct selector;

/* NULL with an error that names the selector, the place in it and what is wrong there. The empty text selects
 * everything. */
struct selector *selector_parse(struct str text, struct err *err);
void selector_free(struct selector *selector);
bool selector_is_everything(const struct selector *selector);
/* `labels` is metadata.labels: a map, or absent or null, which is as an empty map. */
bool selector_matches(const struct selector *selector, struct value labels);
/* The same for labels that are held elsewhere: `label` gives the value of a key, or false when it is absent.
 */
bool selector_matches_by(const struct selector *selector,
                         bool (*label)(void *ctx, struct str key, struct str *value), void *ctx);
/* The key that the `i`-th requirement of one certain value is about, and that value; a NULL pointer when
 * there is no such requirement. An index may serve it. */
struct str selector_equality(const struct selector *selector, size_t i, struct str *value);
/* A key of which the selector asks what cannot be at once, as "a=1,a=2" does: no labels match. A NULL pointer
 * when there is none. */
struct str selector_contradiction(const struct selector *selector);
/* Canonical text: requirements sorted by key, sets sorted, no blanks. Borrowed. */
struct str selector_text(const struct selector *selector);

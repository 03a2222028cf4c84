/* Labels and label selectors of objects as strings, for the cells of tables. Owner: each function returns a
 * new string. May be called anywhere. */
#pragma once
#include <jansson.h>

/* For qsort over an array of `const char *`. */
int sim_compare_texts(const void *a, const void *b);
/* "a=1,b=2", sorted by key; "" for none. */
char *sim_text_of_labels(const json_t *labels);
/* matchLabels and matchExpressions in the canonical form of selectors; NULL when an operator is
 * unknown. */
char *sim_text_of_selector(const json_t *selector);

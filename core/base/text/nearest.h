/* Finds the known name nearest to a misspelt one. Owner: texts are borrowed. May be used anywhere. */
#pragma once
#include <stddef.h>

#include "base/str.h"

struct nearest {
    struct str wanted;
    const char *name; /* of those tried, NULL when none is near */
    size_t distance;  /* only what is nearer than this is taken */
};

/* Starts a search for names near `wanted`. Allows one typo, or one for each three letters: a letter too many,
 * too few, a wrong one, or two exchanged; case does not matter. Anything else is another word, and so is a
 * name without a common letter. */
struct nearest nearest_to(struct str wanted);
void nearest_try(struct nearest *nearest, const char *name);

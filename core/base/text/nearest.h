/* Finds the known name nearest to a misspelt one. Owner: texts are borrowed. May be used anywhere. */
#pragma once
#include <stddef.h>

#include "base/str.h"

struct nearest {
    struct str wanted;
    const char *name; /* of those tried, NULL when none is near */
    size_t distance;  /* only what is nearer than this is taken */
};

/* One slip is forgiven, or one for each three letters of `wanted`: a letter too much, too little, another
 * one, or two that changed places; capitals count as small letters. More is another word, and so is
 * everything where no letter is right. */
struct nearest nearest_to(struct str wanted);
void nearest_try(struct nearest *nearest, const char *name);

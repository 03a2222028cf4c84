/* The plural that a kind most likely has, where nobody tells. Owner: the caller frees it. Any thread. */
#pragma once
#include "base/str.h"

/* "Widget" gives "widgets", "Policy" "policies", as kubectl guesses it; a new text. */
char *plural_guess(struct str kind);

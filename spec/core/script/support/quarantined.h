/* What is in quarantine of a script, and what its metrics say, for specs.
 * Owner: nothing is kept. */
#pragma once
#include <stdint.h>

#include "script/generation/script.h"

/* The last one that was told of, and how many there are. */
struct shown {
    unsigned count;
    char id[64], why[256];
    uint64_t skipped;
};

struct shown shown_of(const struct script *script);
/* Fails the test unless the page of all metrics has that text. */
void assert_series(const char *line);

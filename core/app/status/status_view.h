/* The answers of an engine to `status` and `queue` as tables for people.
 * Owner: everything borrowed. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "object/parse/tape.h"

struct status_view {
    bool wide;
    size_t width; /* of the terminal; 0: none */
    bool colours;
};

/* `at`: the answer's object. What it lacks is left blank: an engine of another version may say less. */
void status_view_print(const struct tape *tape, size_t at, FILE *out, const struct status_view *view);
/* The answer to `queue`. */
void status_view_print_queues(const struct tape *tape, size_t at, FILE *out, const struct status_view *view);

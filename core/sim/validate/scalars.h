/* Values of JSON that are more than JSON says: quantities, times, durations, bytes. Owner: each function
 * returns Go's message when the text is wrong, which the caller owns; NULL when it is right. May be called
 * anywhere. */
#pragma once
#include <stdbool.h>

#include <jansson.h>

/* "500m", "1Gi" */
char *sim_check_quantity(const char *text);
/* Returns whether Go writes one that is right as it was read, as it is short enough: "010", "1.500". Nothing
 * less than 10^least is kept. */
bool sim_quantity_stays(const char *text, int least);
/* Returns it in the form that Go gives it, a new string: "1.5" as "1500m", "1024Ki" as "1Mi". */
json_t *sim_quantity(const char *text, int least);
/* RFC 3339; `micro`: with six digits behind the point. `*canonical` is the time in UTC, a new reference. */
char *sim_check_time(const char *text, bool micro, json_t **canonical);
/* "1m30s" */
char *sim_check_duration(const char *text);
char *sim_check_base64(const char *text);

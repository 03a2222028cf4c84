/* Continue tokens: where the next page of a list begins, and at which version.
 * Owner: none; texts are new. May be called anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct sim_page {
    int64_t version; /* -1: the present one, for a list that goes on inconsistently */
    char *after;     /* key of the last object that was sent; the caller frees */
};

char *sim_page_token(int64_t version, const char *after);
bool sim_page_read(const char *token, struct sim_page *page);

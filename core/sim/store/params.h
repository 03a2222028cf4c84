/* Options of lists and watches, read from the query and checked as in a real server (contract ).
 * Owner: the selectors belong to the options; strings are borrowed from the request. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "sim/store/request.h"
#include "sim/store/shard.h"

enum sim_match { SIM_MATCH_UNSET, SIM_MATCH_EXACT, SIM_MATCH_NOT_OLDER };

struct sim_list_options {
    bool watch, bookmarks, send_initial;
    bool has_version; /* has a version, "0" included */
    uint64_t version;
    enum sim_match match;
    size_t limit;                         /* 0: none */
    const char *continue_;                /* NULL: none */
    int64_t timeout_s;                    /* 0: not given */
    struct sim_selector *labels, *fields; /* NULL: everything */
    const char *include_object;           /* 0: none */
    struct sim_shard *shard;              /* NULL: all of them */
};

/* Reads the options; returns false with a Status to respond with. */
bool sim_list_options_read(const struct sim_request *request, const struct sim_kind *kind,
                           enum sim_sharding sharding, struct sim_list_options *options, json_t **refusal);
/* Returns the error of what is no version: for a watch, and a get, a code 500 without a reason. */
json_t *sim_version_refused(const char *version, bool stored);
bool sim_list_selects(const struct sim_list_options *options, const struct sim_object *object);
void sim_list_options_clear(struct sim_list_options *options);

/* --- Continue tokens: where the next page of a list begins, and at which version.
 * Owner: none; texts are new. May be called anywhere. */

struct sim_page {
    int64_t version; /* -1: the present one, for a list that continues inconsistently */
    char *after;     /* key of the last object that was sent; the caller frees */
};

char *sim_page_token(int64_t version, const char *after);
/* Returns why it is none, in a server's words; NULL with the page. */
char *sim_page_read(const char *token, struct sim_page *page);

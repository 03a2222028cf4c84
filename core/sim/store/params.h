/* The options of lists and watches, read from the query and checked as a real server does (contract A-1,
 * Owner: the selectors belong to the options; texts are borrowed from the request. */
#pragma once
#include "sim/object/selector.h"
#include "sim/store/request.h"

enum sim_match { SIM_MATCH_UNSET, SIM_MATCH_EXACT, SIM_MATCH_NOT_OLDER };

struct sim_list_options {
    bool watch, bookmarks, send_initial;
    bool has_version; /* a version was given, "0" included */
    uint64_t version;
    enum sim_match match;
    size_t limit;                         /* 0: none */
    const char *continue_;                /* NULL: none */
    int64_t timeout_s;                    /* 0: not given */
    struct sim_selector *labels, *fields; /* NULL: everything */
    const char *include_object;           /* of Tables; NULL: not given */
};

/* False with a Status to answer with. */
bool sim_list_options_read(const struct sim_request *request, const struct sim_kind *kind,
                           struct sim_list_options *options, json_t **refusal);
void sim_list_options_clear(struct sim_list_options *options);

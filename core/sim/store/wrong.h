/* Faults of a server, as scenarios name them, and the actions of a stream for each. Owner: sim_wrong_clear
 * frees the result of sim_wrong_read. Actions belong to the caller. */
#pragma once
#include "sim/store/api.h"

enum sim_wrong_kind {
    SIM_WRONG_STATUS,         /* the response is an error */
    SIM_WRONG_DELAY,          /* the response comes late */
    SIM_WRONG_CLOSE,          /* the connection closes */
    SIM_WRONG_RESET,          /* the connection is reset */
    SIM_WRONG_SILENCE,        /* the connection stays open, nothing comes */
    SIM_WRONG_PAUSE,          /* nothing comes for a while */
    SIM_WRONG_CUT,            /* half an object, then the connection closes */
    SIM_WRONG_HALF_LINE,      /* half an object, then the body ends in good order */
    SIM_WRONG_INVALID_JSON,   /* a line that is no JSON */
    SIM_WRONG_UNKNOWN_TYPE,   /* an event of an unknown type */
    SIM_WRONG_NO_METADATA,    /* an object without metadata */
    SIM_WRONG_OVERSIZE,       /* a huge object */
    SIM_WRONG_ERROR_EVENT,    /* an ERROR event, then the end */
    SIM_WRONG_END,            /* the body ends in good order */
    SIM_WRONG_LINE,           /* any text */
    SIM_WRONG_NO_END,         /* a watch-list never ends its initial events */
    SIM_WRONG_IGNORE_INITIAL, /* a server that does not know watch-lists */
};

struct sim_wrong {
    enum sim_wrong_kind kind;
    bool in_stream; /* happens after so many events or items, not instead of a response */
    size_t after;
    int64_t for_ms; /* of delays, pauses, silences; 0: for ever */
    size_t size;    /* of SIM_WRONG_OVERSIZE */
    int code;       /* of SIM_WRONG_STATUS and SIM_WRONG_ERROR_EVENT */
    int retry_after_s;
    char *reason, *message, *text;
};

/* Reads the keys what, after, for, size, code, reason, message, retry_after, text of a scenario's step, which
 * lua/sim/scenario.lua has checked. */
void sim_wrong_read(const json_t *step, struct sim_wrong *wrong);
void sim_wrong_clear(struct sim_wrong *wrong);
/* Returns whether it concerns the complete request, before any stream. */
bool sim_wrong_is_response(const struct sim_wrong *wrong);
/* Does it end the response or the stream? Else it leaves both to go on. */
bool sim_wrong_is_end(const struct sim_wrong *wrong);
/* Is it for requests with this verb? What happens in streams is for lists and watches. */
bool sim_wrong_suits(const struct sim_wrong *wrong, const char *verb);
/* Returns a Status as SIM_WRONG_STATUS describes it; a new reference. */
json_t *sim_wrong_status(const struct sim_wrong *wrong);
/* For a stream of this resource, a watch or a list, of the namespace's objects (NULL: of any). Takes the
 * store's lock. */
struct sim_action *sim_wrong_action(const struct sim_wrong *wrong, struct sim_api *api,
                                    const struct sim_served *served, const char *namespace_, bool watch);

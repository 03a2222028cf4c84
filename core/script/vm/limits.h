/* Limits of a script: the table of limits, with names, units and defaults, and one set of values for each
 * script. The operator's flags set them; the script can lower its own while it loads. Owner: whoever embeds
 * the struct. No Lua here; may be used anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum limit {
    LIMIT_HANDLER_CPU, /* between two yields of a handler, worker, timer or command; of calls that do not say
                        */
    LIMIT_LOAD_CPU,    /* of the load phase */
    LIMIT_MAIN_CPU,
    LIMIT_PIECE_CPU,  /* of what cannot pause in a call that can, below or in a function of C */
    LIMIT_FILTER_CPU, /* of one call of a filter, transform or index function */
    LIMIT_SCRIPT_MEMORY,
    LIMIT_VALUE_SIZE, /* of what one call makes: a string, JSON text, an array */
    LIMIT_TASKS,
    LIMIT_TIMERS,
    LIMIT_HANDLERS,
    LIMIT_INFORMERS,
    LIMIT_QUEUE_KEYS,
    LIMIT_SERIES,
    LIMIT_METRIC_BYTES, /* of its own metrics on the page of /metrics */
    LIMIT_LOG_LINES,    /* in a second */
    LIMIT_PRINT_BUFFER,
    LIMIT_WRITES, /* in a minute, and so the next; one over it waits */
    LIMIT_HTTP_REQUESTS,
    LIMIT_COUNT,
};

/* More than anything can take: there is no limit. */
#define LIMIT_NONE INT64_MAX

/* Milliseconds, bytes or a number of things, each by its unit. */
struct limits {
    int64_t values[LIMIT_COUNT];
};

extern const struct limits limits_default;

/* "handler-cpu" */
const char *limit_name(enum limit limit);
/* Appends the value with its unit, as it would be written: "50ms", "64Mi", "600 per minute". */
void limit_describe(enum limit limit, int64_t value, struct buf *out);
/* "handler-cpu=20ms", as the flag --limit takes it. ERR_INVALID names what is wrong, and for an unknown name
 * a known one that is near. */
bool limits_set(struct limits *limits, const char *assignment, struct err *err);
/* The same in two parts. `name` may have `_` for `-`, as Lua writes it. */
bool limits_set_value(struct limits *limits, struct str name, const char *value, struct err *err);
/* By the script, which can lower its own: more than the operator's is refused, and both are named. */
bool limits_lower(struct limits *limits, const struct limits *operators, struct str name, const char *value,
                  struct err *err);

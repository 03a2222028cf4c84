/* The table of limits; see limits.h. */
#include "script/vm/limits.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/nearest.h"
#include "base/text/size.h"
#include "base/time/duration.h"

enum unit { CPU_TIME, SIZE, COUNT, A_SECOND, A_MINUTE };

enum { NAME_MAX_BYTES = 32, MI = 1 << 20 };

static const struct {
    const char *name;
    enum unit unit;
} table[LIMIT_COUNT] = {
    [LIMIT_LOAD_CPU] = {"load-cpu", CPU_TIME},
    [LIMIT_HANDLER_CPU] = {"handler-cpu", CPU_TIME},
    [LIMIT_MAIN_CPU] = {"main-cpu", CPU_TIME},
    [LIMIT_PIECE_CPU] = {"piece-cpu", CPU_TIME},
    [LIMIT_FILTER_CPU] = {"filter-cpu", CPU_TIME},
    [LIMIT_SCRIPT_MEMORY] = {"script-memory", SIZE},
    [LIMIT_VALUE_SIZE] = {"value-size", SIZE},
    [LIMIT_TASKS] = {"tasks", COUNT},
    [LIMIT_TIMERS] = {"timers", COUNT},
    [LIMIT_HANDLERS] = {"handlers", COUNT},
    [LIMIT_INFORMERS] = {"informers", COUNT},
    [LIMIT_QUEUE_KEYS] = {"queue-keys", COUNT},
    [LIMIT_SERIES] = {"series", COUNT},
    [LIMIT_METRIC_BYTES] = {"metric-bytes", SIZE},
    [LIMIT_LOG_LINES] = {"log-lines", A_SECOND},
    [LIMIT_PRINT_BUFFER] = {"print-buffer", SIZE},
    [LIMIT_WRITES] = {"writes", A_MINUTE},
    [LIMIT_HTTP_REQUESTS] = {"http-requests", A_MINUTE},
};

const struct limits limits_default = {{
    [LIMIT_LOAD_CPU] = 500,
    [LIMIT_HANDLER_CPU] = 50,
    [LIMIT_MAIN_CPU] = 1000,
    [LIMIT_PIECE_CPU] = 80,
    [LIMIT_FILTER_CPU] = 5,
    [LIMIT_SCRIPT_MEMORY] = 64 * MI,
    [LIMIT_VALUE_SIZE] = 16 * MI,
    [LIMIT_TASKS] = 10000,
    [LIMIT_TIMERS] = 10000,
    [LIMIT_HANDLERS] = 1000,
    [LIMIT_INFORMERS] = 100,
    [LIMIT_QUEUE_KEYS] = 100000,
    [LIMIT_SERIES] = 1000,
    [LIMIT_METRIC_BYTES] = 256 << 10,
    [LIMIT_LOG_LINES] = 1000,
    [LIMIT_PRINT_BUFFER] = 8 * MI,
    [LIMIT_WRITES] = 1200,
    [LIMIT_HTTP_REQUESTS] = 600,
}};

const char *limit_name(enum limit limit)
{
    return table[limit].name;
}

static void put_duration(int64_t ms, struct buf *out)
{
    if (ms % 60000 == 0)
        buf_printf(out, "%lldm", (long long)(ms / 60000));
    else if (ms % 1000 == 0)
        buf_printf(out, "%llds", (long long)(ms / 1000));
    else
        buf_printf(out, "%lldms", (long long)ms);
}

void limit_describe(enum limit limit, int64_t value, struct buf *out)
{
    if (value == LIMIT_NONE) {
        buf_puts(out, "none");
        return;
    }
    switch (table[limit].unit) {
    case CPU_TIME: put_duration(value, out); break;
    case SIZE: size_text((uint64_t)value, out); break;
    case COUNT: buf_printf(out, "%lld", (long long)value); break;
    case A_SECOND: buf_printf(out, "%lld per second", (long long)value); break;
    case A_MINUTE: buf_printf(out, "%lld per minute", (long long)value); break;
    }
}

/* --- reading */

static bool find_limit(struct str name, enum limit *out, struct err *err)
{
    char dashed[NAME_MAX_BYTES];
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < name.n && i < sizeof dashed; i++) dashed[i] = name.p[i] == '_' ? '-' : name.p[i];
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (name.n < sizeof dashed && str_is((struct str){dashed, name.n}, table[i].name)) {
            *out = (enum limit)i;
            return true;
        }
        nearest_try(&nearest, table[i].name);
    }
    if (nearest.name)
        return err_set(err, ERR_INVALID, "unknown limit \"%.*s\"; did you mean %s?", STR_ARG(name),
                       nearest.name);
    return err_set(err, ERR_INVALID, "unknown limit \"%.*s\"", STR_ARG(name));
}

static bool parse_count(const char *text, int64_t *out)
{
    enum { COUNT_MAX = 1000000000 };
    char *end;
    if (!isdigit((unsigned char)*text)) return false;
    *out = strtoll(text, &end, 10);
    return *end == '\0' && *out <= COUNT_MAX;
}

/* A limit of no time or no memory would end every call at its first step. */
static bool parse(enum limit limit, const char *text, int64_t *out, struct err *err)
{
    size_t size;
    const char *name = table[limit].name;
    switch (table[limit].unit) {
    case CPU_TIME:
        if (duration_parse_ms(str_of(text), out) && *out > 0) return true;
        return err_set(err, ERR_INVALID, "%s: \"%s\" is not a duration such as 50ms or 1s", name, text);
    case SIZE:
        *out = size_parse(text, &size) ? (int64_t)size : 0;
        return *out > 0 || err_set(err, ERR_INVALID, "%s: \"%s\" is not a size such as 64Mi", name, text);
    default:
        return parse_count(text, out) ||
               err_set(err, ERR_INVALID, "%s: \"%s\" is not a whole number up to 1000000000", name, text);
    }
}

bool limits_set_value(struct limits *limits, struct str name, const char *value, struct err *err)
{
    enum limit limit;
    int64_t parsed = 0;
    if (!find_limit(name, &limit, err) || !parse(limit, value, &parsed, err)) return false;
    limits->values[limit] = parsed;
    return true;
}

bool limits_set(struct limits *limits, const char *assignment, struct err *err)
{
    const char *equals = strchr(assignment, '=');
    if (!equals)
        return err_set(err, ERR_INVALID, "\"%s\" is not NAME=VALUE, such as handler-cpu=50ms", assignment);
    return limits_set_value(limits, (struct str){assignment, (size_t)(equals - assignment)}, equals + 1, err);
}

static bool refuse(enum limit limit, int64_t wanted, int64_t allowed, struct err *err)
{
    struct buf a = {0}, b = {0};
    limit_describe(limit, wanted, &a);
    limit_describe(limit, allowed, &b);
    err_set(err, ERR_LIMIT, "%s cannot be raised to %s: the configured limit is %s", table[limit].name,
            buf_text(&a), buf_text(&b));
    buf_clear(&a);
    buf_clear(&b);
    return false;
}

bool limits_lower(struct limits *limits, const struct limits *operators, struct str name, const char *value,
                  struct err *err)
{
    enum limit limit;
    int64_t parsed = 0;
    if (!find_limit(name, &limit, err) || !parse(limit, value, &parsed, err)) return false;
    if (parsed > operators->values[limit]) return refuse(limit, parsed, operators->values[limit], err);
    limits->values[limit] = parsed;
    return true;
}

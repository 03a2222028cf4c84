/* Options of k8s.queue and k8s.controller; see script_queue.h. */
#include <math.h>
#include <stdio.h>

#include "script/vm/args.h"
#include "script/work/script_queue.h"

/* Returns whether the table at 1 has the option `name`. Its value goes to 2. */
static bool option(lua_State *L, const char *name)
{
    lua_settop(L, 1);
    lua_getfield(L, 1, name);
    return !lua_isnil(L, 2);
}

static int64_t duration_option(lua_State *L, const char *maker, const char *name, int64_t default_ms)
{
    char what[64];
    snprintf(what, sizeof what, "%s: %s", maker, name);
    return option(L, name) ? arg_duration_ms(L, 2, what) : default_ms;
}

static double number_option(lua_State *L, const char *maker, const char *name, double default_, double least,
                            double most)
{
    if (!option(L, name)) return default_;
    lua_Number n = lua_tonumber(L, 2);
    if (!(n >= least && n <= most))
        script_raise(L, "%s: %s must be between %.14g and %.14g, not %.14g", maker, name, least, most, n);
    return n;
}

static uint64_t count_option(lua_State *L, const char *maker, const char *name, uint64_t default_,
                             double least, double most)
{
    double n = number_option(L, maker, name, (double)default_, least, most);
    if (n != floor(n)) script_raise(L, "%s: %s must be a whole number, not %.14g", maker, name, n);
    return (uint64_t)n;
}

/* W-8: without options it is the default limiter of controllers. */
static struct rate_limiter limiter_options(lua_State *L, const char *maker)
{
    const double most = 1e9;
    struct rate_limiter limiter = {.exponential.on = true};
    limiter.exponential.base_ms = duration_option(L, maker, "base", 5);
    limiter.exponential.max_ms = duration_option(L, maker, "max", 1000000);
    if (limiter.exponential.max_ms < limiter.exponential.base_ms)
        script_raise(L, "%s: max must not be less than base", maker);
    limiter.bucket.per_second = number_option(L, maker, "qps", 10, 0, most);
    limiter.bucket.burst = (double)count_option(L, maker, "burst", 100, 1, most);
    limiter.bucket.on = limiter.bucket.per_second > 0;
    limiter.fast_slow.on = option(L, "slow");
    limiter.fast_slow.slow_ms = duration_option(L, maker, "slow", 0);
    limiter.fast_slow.fast_ms = duration_option(L, maker, "fast", limiter.exponential.base_ms);
    limiter.fast_slow.tries = count_option(L, maker, "fast_tries", 3, 0, most);
    if (!limiter.fast_slow.on && (option(L, "fast") || option(L, "fast_tries")))
        script_raise(L, "%s: fast and fast_tries need slow", maker);
    limiter.max_wait_ms = duration_option(L, maker, "max_wait", 0);
    return limiter;
}

static struct str name_option(lua_State *L, const char *maker)
{
    char what[64];
    snprintf(what, sizeof what, "%s: name", maker);
    option(L, "name");
    struct str name = arg_str(L, 2, what); /* kept by the table */
    bool good = name.n >= 1 && name.n <= QUEUE_NAME_MAX;
    for (size_t i = 0; good && i < name.n; i++) good = (unsigned char)name.p[i] >= ' ' && name.p[i] != 127;
    if (!good)
        script_raise(L, "%s: name must be a string of 1 to %d printable characters", maker, QUEUE_NAME_MAX);
    if (script_queue_find(script_of(L), name))
        script_raise(L, "%s: the name \"%.*s\" is already used; set another one with name = ...", maker,
                     STR_ARG(name));
    return name;
}

void queue_options_read(lua_State *L, const char *maker, struct script_queue_options *options)
{
    arg_loading(L, maker);
    arg_table(L, 1, "the options of a queue");
    if (script_of(L)->own.queues->count >= QUEUES_MAX)
        script_raise(L, "%s: limit queues exceeded: there are already %d", maker, QUEUES_MAX);
    *options = (struct script_queue_options){.name = name_option(L, maker), .max_retries = UINT64_MAX};
    options->workers = count_option(L, maker, "workers", 1, 1, WORKERS_MAX);
    options->leader = option(L, "leader") && lua_toboolean(L, 2);
    if (option(L, "max_retries")) options->max_retries = count_option(L, maker, "max_retries", 0, 0, 1e9);
    options->limiter = limiter_options(L, maker);
}

/* Engine of scripts under test: the one of `kubelua run`, on one loop that is turned by hand, with the
 * simulator as its server. spec_engine.c drives it, spec_records.c records events for tests, bind_spec.c
 * provides it to specs as raw.test. Owner: the spec's handle, or the command. On one thread; nothing here may
 * be called from a callback of the engine. */
#pragma once
#include "app/inside/inside.h"
#include "app/specs/spec_web.h"
#include "base/log.h"
#include "engine/engine_view.h"
#include "script/params/params.h"
#include "script/vm/limits.h"

/* Latest time of the clock: versions of objects are derived from it. */
#define TEST_CLOCK_END_US ((int64_t)7258118400 * 1000000)

/* A cluster beside the home cluster. */
struct spec_other {
    struct spec_engine *engine;
    char *name;
    struct spec_cluster *cluster;
    struct cluster_config config;
};

struct spec_engine {
    struct loop *loop;
    struct spec_cluster *home;    /* the server */
    struct spec_cluster *cluster; /* selected, see spec_engine_select */
    struct spec_other *others;
    size_t other_count;
    const char *selected;       /* name of `cluster`; NULL: the home cluster */
    const char *writing;        /* name of the cluster whose write is noted; likewise */
    struct spec_web *servers;   /* all other servers */
    struct state_store *states; /* that scripts keep; the engine's */
    struct sinks *sinks;        /* of scripts */
    struct engine *engine;
    struct engine_settings settings; /* of the engine */
    struct limits limits;
    struct params *params;
    char *namespace_;
    int64_t opened_ms;
    struct spec_replay *replay; /* call in flight; NULL: none */
    struct err unknown; /* a kind that the server does not have, found while loading; ERR_NONE: none */
    struct buf records; /* JSON objects, separated by commas, that no spec has read */
};

struct spec_engine_options {
    const char *namespace_;      /* default of informers; "" all */
    int64_t wall_us;             /* start of the clock */
    const struct limits *limits; /* of scripts; copied; NULL: the defaults */
    const char *const *trusted;  /* scripts, as of the host (host.h), as the next */
    size_t trusted_count;
    const char *const *lua_path;
    size_t lua_path_count;
    const char *const *params; /* of rules, "restarts=10", as --param has them; copied */
    size_t param_count;
    const char *const *clusters; /* names of clusters beside the home cluster; copied */
    size_t cluster_count;
    bool live;   /* prints and logs as `kubelua run` does, and only reports writes */
    bool elects; /* scripts that do not call k8s.leader take part in an election too */
};

struct spec_engine *spec_engine_open(const struct spec_engine_options *options, struct err *err);
void spec_engine_free(struct spec_engine *engine);
/* Loads a script and settles: its informers are synced. */
bool spec_engine_load(struct spec_engine *engine, const char *path, const char *name, struct err *err);
/* Activates the next generation of a loaded script, from `text` (NULL: from its file). Returns false and sets
 * err if the running one stays. */
bool spec_engine_reload(struct spec_engine *engine, const char *name, struct str text, struct handover *done,
                        struct err *err);
/* Sends log lines to this engine from now on: engines of several tests take turns. */
void spec_engine_enter(struct spec_engine *engine);
void spec_engine_leave(void);
/* Processes everything that is due. Sets ERR_LIMIT if that does not end. */
bool spec_engine_settle(struct spec_engine *engine, struct err *err);
/* Advances the clock, from one due time to the next. */
bool spec_engine_advance(struct spec_engine *engine, int64_t ms, struct err *err);
/* Returns the time since it was opened. */
int64_t spec_engine_elapsed_ms(const struct spec_engine *engine);
/* Has the functions below, faults and answers be about the cluster with this name from now on; NULL: the home
 * cluster. False if there is none. */
bool spec_engine_select(struct spec_engine *engine, const char *name);
/* The kinds of that cluster; NULL: it is gone. */
const struct kinds *spec_engine_kinds(const struct spec_engine *engine);
/* Stores objects, unaffected by faults; watches deliver them when the engine settles. */
bool spec_engine_put(struct spec_engine *engine, struct str json, struct err *err);
/* Removes the object of a path at once; returns false if it does not exist. */
bool spec_engine_remove(struct spec_engine *engine, const char *path);
/* Adds a kind to the cluster, if it does not have it; known to the engine on return. */
bool spec_engine_add_kind(struct spec_engine *engine, const struct resource *resource, struct err *err);

/* Returns the running generation of a script, in the order of loading; NULL: none. */
struct script *spec_engine_script(const struct spec_engine *engine, size_t i);

/* --- spec_records.c */

void spec_engine_note_write(void *ctx, const struct sim_inside_about *about,
                            const struct sim_inside_request *request,
                            const struct sim_inside_response *response);
void spec_engine_note_request(void *ctx, const struct spec_web_request *request);
void spec_engine_note_print(void *ctx, struct str line);
void spec_engine_note_failure(void *ctx, const char *call, const char *error, const char *traceback,
                              const struct log_field *about);
void spec_engine_note_log(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                          const struct log_field *fields);
void spec_engine_note_main(struct spec_engine *engine, const char *result, int exit_code);

/* Adds raw.test to a state of specs (script/specs/spec_runner.h): engines, their clusters and clocks. */
void bind_test(lua_State *L);

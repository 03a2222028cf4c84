/* The engine of scripts under test: the one of `kubelua run`, on one loop that is moved by hand, with the
 * simulator as its server. spec_engine.c drives it, spec_records.c has what a test is told.
 * Owner: see script/specs/spec_engine.h, whose functions these are. */
#pragma once
#include "app/inside/inside.h"
#include "app/specs/spec_web.h"
#include "base/log.h"
#include "engine/engine_internal.h"
#include "script/rules/rule_params.h"
#include "script/specs/spec_engine.h"

/* Versions of objects are made of the time, and have room for no later one. */
#define TEST_CLOCK_END_US ((int64_t)7258118400 * 1000000)

struct spec_engine {
    struct loop *loop;
    struct spec_cluster *cluster; /* the server */
    struct spec_web *servers;     /* all others */
    struct engine *engine;
    struct engine_settings settings; /* of it */
    struct limits limits;
    struct rule_params *params;
    char *namespace_;
    int64_t opened_ms;
    struct spec_replay *replay; /* that is under way; NULL: none */
    struct err unknown; /* a kind that the server does not have, found while loading; ERR_NONE: none */
    struct buf records; /* see take_records */
};

extern const struct spec_engine_ops spec_engine_ops;
/* Gives this engine the log lines from now on: the engines of several tests take turns. */
void spec_engine_enter(struct spec_engine *engine);
void spec_engine_leave(void);
/* Does all that is due. ERR_LIMIT when that does not end. */
bool spec_engine_settle(struct spec_engine *engine, struct err *err);

/* The generation that runs of a script, in the order in which they were loaded; NULL: there is none. */
struct script *spec_engine_script(const struct spec_engine *engine, size_t i);

/* --- spec_records.c */

void spec_engine_note_write(void *ctx, const struct spec_write *write);
void spec_engine_note_request(void *ctx, const struct spec_web_request *request);
void spec_engine_note_print(void *ctx, struct str line);
void spec_engine_note_failure(void *ctx, const char *call, const char *error, const char *traceback,
                              const struct log_field *about);
void spec_engine_note_log(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                          const struct log_field *fields);
void spec_engine_note_main(struct spec_engine *engine, const char *result, int exit_code);

/* The engine of one script under test: the parts of the real one, on one loop that is moved by hand, with the
 * simulator as its server. test_engine.c has the order of start and stop, test_records.c what a test is told.
 * Owner: see script/specs/spec_engine.h, whose functions these are. */
#pragma once
#include <sys/queue.h>

#include "app/inside/inside.h"
#include "app/specs/spec_web.h"
#include "base/log.h"
#include "engine/cluster.h"
#include "kube/event/event_recorder.h"
#include "kube/kinds/kinds.h"
#include "script/rules/rule_params.h"
#include "script/specs/spec_engine.h"
#include "script/vm/turns.h"

/* Versions of objects are made of the time, and have room for no later one. */
#define TEST_CLOCK_END_US ((int64_t)7258118400 * 1000000)

struct spec_script {
    struct script *script;
    char *name;
    bool main_started;
};

struct spec_engine {
    struct one_loop base;
    struct spec_cluster *cluster; /* the server */
    int64_t opened_ms;
    struct kinds *kinds;
    struct catalogue *catalogue; /* what it was told last; NULL: nothing yet */
    struct discovery *discovery; /* that is under way; NULL: none */
    bool ask_again;              /* a question came while one was */
    struct timer ask;            /* for kinds that are missing */
    struct event_recorder *recorder;
    struct spec_web *servers; /* all but the API server */
    struct web *web;
    struct leaders *leaders;
    struct turns turns;
    struct script_host host;
    struct limits limits;
    struct rule_params *params;
    char *namespace_;
    struct spec_script *scripts; /* in the order in which they were loaded */
    size_t script_count;
    TAILQ_HEAD(, spec_draining) draining; /* old generations */
    struct spec_replay *replay;           /* that is under way; NULL: none */
    struct script *candidate;             /* a generation that is about to take over; NULL: none */
    struct err unknown; /* a kind that the server does not have, found while loading; ERR_NONE: none */
    struct buf records; /* see take_records */
};

extern const struct spec_engine_ops test_engine_ops;
/* Whose log lines these are from now on: several tests' engines take turns. */
void spec_engine_enter(struct spec_engine *engine);
void spec_engine_leave(void);
/* Does all that is due. ERR_LIMIT when that does not end. */
bool spec_engine_settle(struct spec_engine *engine, struct err *err);

/* --- test_records.c */

void spec_engine_note_write(void *ctx, const struct spec_write *write);
void spec_engine_note_request(void *ctx, const struct spec_web_request *request);
void spec_engine_note_print(void *ctx, struct str line);
void spec_engine_note_failure(void *ctx, const char *call, const char *error, const char *traceback,
                              const struct log_field *about);
void spec_engine_note_log(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                          const struct log_field *fields);
void spec_engine_note_main(struct spec_engine *engine, const char *result, int exit_code);

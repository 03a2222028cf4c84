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

struct test_script {
    struct script *script;
    char *name;
    bool main_started;
};

struct test_engine {
    struct one_loop base;
    struct test_cluster *cluster; /* the server */
    int64_t opened_ms;
    struct kinds *kinds;
    struct catalogue *catalogue; /* what it was told last; NULL: nothing yet */
    struct discovery *discovery; /* that is under way; NULL: none */
    bool ask_again;              /* a question came while one was */
    struct timer ask;            /* for kinds that are missing */
    struct event_recorder *recorder;
    struct test_web *servers; /* all but the API server */
    struct web *web;
    struct leaders *leaders;
    struct turns turns;
    struct script_host host;
    struct limits limits;
    struct rule_params *params;
    char *namespace_;
    struct test_script *scripts; /* in the order in which they were loaded */
    size_t script_count;
    TAILQ_HEAD(, test_draining) draining; /* old generations */
    struct test_replay *replay;           /* that is under way; NULL: none */
    struct script *candidate;             /* a generation that is about to take over; NULL: none */
    struct err unknown; /* a kind that the server does not have, found while loading; ERR_NONE: none */
    struct buf records; /* see take_records */
};

extern const struct test_engine_ops test_engine_ops;
/* Whose log lines these are from now on: several tests' engines take turns. */
void test_engine_enter(struct test_engine *engine);
void test_engine_leave(void);
/* Does all that is due. ERR_LIMIT when that does not end. */
bool test_engine_settle(struct test_engine *engine, struct err *err);

/* --- test_records.c */

void test_engine_note_write(void *ctx, const struct test_write *write);
void test_engine_note_request(void *ctx, const struct test_web_request *request);
void test_engine_note_print(void *ctx, struct str line);
void test_engine_note_failure(void *ctx, const char *call, const char *error, const char *traceback,
                              const struct log_field *about);
void test_engine_note_log(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                          const struct log_field *fields);
void test_engine_note_main(struct test_engine *engine, const char *result, int exit_code);

/* Scripts that write, on a server that the spec plays by hand and a clock that it moves; one of them at a
 * time. Owner: the spec, by writes_setup and writes_teardown. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/cluster.h"
#include "kube/api/object_call.h"
#include "script/server/write_log.h"

/* A request that is under way. */
struct object_call {
    object_done *done;
    void *ctx;
};

struct writes_bench {
    struct cluster cluster;
    struct virtual_clock clock;
    struct script *script;
    struct object_call *call; /* NULL: none */
    struct buf sent;          /* "PATCH pods shop/web/status?query type: body" */
    int64_t timeout_ms;       /* of it */
    int asked;                /* how often discovery was asked for */
    bool is_mute;             /* no request is answered: they are not kept here, there may be several */
};
extern struct writes_bench bench;

int writes_setup(void **state);
int writes_teardown(void **state);
void writes_advance(int64_t ms);
/* Until nothing is left to do. */
void writes_settle(void);
void writes_discover(void);
/* A script whose main is `body`; `pod` is an object of its, what it tells by `tell` is compared by
 * assert_told.
 */
void writes_start(const char *body);
void writes_run_main(struct script *script);
#define assert_told(expected) assert_ask(&bench.cluster, bench.script, "return told()", expected)
/* Ends the request under way with an object, or with NULL for a Status of success. */
void writes_answer(const char *json);
void writes_refuse(int status, const char *reason);
/* What a write sends; it is answered with nothing. */
void assert_sends(const char *body, const char *expected);

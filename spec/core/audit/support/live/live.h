/* Continuous audits of a cluster that the spec plays by hand, on a virtual clock: source 0 are pods, source 1
 * is nodes. Owner: the spec. */
#pragma once
#include "audit/continuous/continuous.h"
#include "core/script/support/cluster.h"

#define HEAD "local k8s = require 'k8s'\n"

struct fixture {
    struct cluster *c;
    struct continuous_audit *audit;
    struct script *script;
};

/* What those that begin from then on tell of changes; NULL: nobody. */
extern void (*live_changed)(void *ctx, struct str ns);
extern void *live_changed_ctx;

/* Slices are of about ten calls. */
struct fixture live_begin_with(struct cluster *c, const char *lua, size_t max_dependencies, size_t max_bytes);
struct fixture live_begin(struct cluster *c, const char *lua);
/* The same, where a call may take 20 ms and no more. */
struct fixture live_begin_hurried(struct cluster *c, const char *lua);
void live_end(struct fixture *f);
/* Puts the pod shop/a with a label `bad` and that text as annotation `kubelua/ignore.own`. */
void live_put_pod(struct cluster *c, const char *annotation);
/* While it is held no rule is asked; it is not from the beginning. */
void live_hold(bool held);
/* Until nothing waits any more. */
void live_settle(struct fixture *f);
/* As a reload does it. */
void live_reload(struct fixture *f, const char *lua);
/* A line for each result, sorted: "; fail bad path <- rule ns/name fail". For free(). */
char *live_known(struct fixture *f);
/* What is known is what all rules say when they are asked now, of everything. */
void live_assert_true(struct fixture *f);

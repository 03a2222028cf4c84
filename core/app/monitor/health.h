/* Checks behind /healthz, /livez and /readyz, in kube-apiserver's form: a list of checks, each good or with a
 * reason. Owner: the engine. health_beat and health_set may be called from any thread, health_serve too; a
 * mutex guards the reasons, under which no script runs. Reasons never hold a secret. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "net/server/web_server.h"
#include "script/vm/running.h"

enum health_loop { HEALTH_ENGINE_LOOP, HEALTH_IO_LOOP, HEALTH_LOOPS };

struct health;
struct leaders;

/* A loop that has not turned for `busy_ms` is not ready, after `stuck_ms` not alive. Nothing is ready before
 * the first health_set_informers. Clock, `running` (NULL: unknown) and `leaders` are borrowed, and read from
 * every thread. */
struct health_options {
    struct clock *clock;
    int64_t busy_ms, stuck_ms;
    struct running *running;
    struct leaders *leaders; /* NULL: no elections */
};
struct health *health_new(const struct health_options *options);
void health_free(struct health *health);

/* The loop has turned. */
void health_beat(struct health *health, enum health_loop loop);
/* Returns the time since the loop last turned. */
int64_t health_silence_ms(const struct health *health, enum health_loop loop);
/* "" when every informer of the plan holds its first list, else which do not and why. Copied. */
void health_set_informers(struct health *health, const char *lagging);
/* Fails readiness from now on, so that a load balancer looks elsewhere. */
void health_set_stopping(struct health *health);

/* Serves /healthz, /livez, /readyz and single checks below each; ignores other paths. */
void health_serve(void *health, const struct web_request *request, struct web_response *response);

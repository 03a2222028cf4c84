/* Checks behind /healthz, /livez and /readyz, in kube-apiserver's form: a list of checks, each good or with a
 * reason. Owner: the engine. health_beat and health_set may be called from any thread, health_serve too; a
 * mutex guards the reasons, under which no script runs. Reasons never hold a secret. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "app/monitor/web_server.h"
#include "base/clock.h"
#include "script/vm/running.h"

enum health_loop { HEALTH_ENGINE_LOOP, HEALTH_IO_LOOP, HEALTH_LOOPS };

struct health;
struct leaders;

/* A loop that has not turned for `busy_ms` is not ready, for `stuck_ms` not alive. Nothing is ready before
 * the first health_set_informers. Clock, `running` (NULL: not known) and `leaders` are borrowed; they are
 * asked from every thread. */
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
/* For how long it has not. */
int64_t health_silence_ms(const struct health *health, enum health_loop loop);
/* "" when every informer of the plan holds its first list, else which do not and why. Copied. */
void health_set_informers(struct health *health, const char *lagging);
/* From now on not ready: a load balancer should look elsewhere. */
void health_set_stopping(struct health *health);

/* Answers /healthz, /livez, /readyz and a check below each; leaves all other paths alone. */
void health_serve(void *health, const struct web_request *request, struct web_response *response);

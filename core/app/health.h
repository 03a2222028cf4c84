/* What /healthz, /livez and /readyz answer, in kube-apiserver's form: a list of checks, each good or with a
 * reason. Owner: the engine. health_beat and health_set may be called from any thread, health_serve too; a
 * mutex guards the reasons, under which no script runs. Reasons never hold a secret. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "app/web_server.h"
#include "base/clock.h"

enum health_loop { HEALTH_ENGINE_LOOP, HEALTH_IO_LOOP, HEALTH_LOOPS };

struct health;

/* `stuck_ms`: a loop that has not turned for so long is not alive. Nothing is ready before the first
 * health_set_informers. The clock is borrowed; it is asked from every thread. */
struct health *health_new(struct clock *clock, int64_t stuck_ms);
void health_free(struct health *health);

/* The loop has turned. */
void health_beat(struct health *health, enum health_loop loop);
/* "" when every informer of the plan holds its first list, else which do not and why. Copied. */
void health_set_informers(struct health *health, const char *lagging);
/* From now on not ready: a load balancer should look elsewhere. */
void health_set_stopping(struct health *health);

/* Answers /healthz, /livez, /readyz and a check below each; leaves all other paths alone. */
void health_serve(void *health, const struct web_request *request, struct web_answer *answer);

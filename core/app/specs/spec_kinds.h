/* Which kinds the cluster of a test has: discovery, as the real engine asks for it.
 * Owner: the test's engine. */
#pragma once
#include "app/specs/spec_engine.h"

void spec_kinds_begin(struct spec_engine *engine);
void spec_kinds_end(struct spec_engine *engine);
/* Asks the server now, or when it has answered. */
void spec_kinds_refresh(struct spec_engine *engine);
/* In a second, as something is missing. */
void spec_kinds_refresh_later(struct spec_engine *engine);
/* The claims of a script that was loaded meet what is known. */
void spec_kinds_resolve(struct spec_engine *engine);

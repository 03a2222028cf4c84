/* The next generation of a script under test, as a reload of the engine makes it, but at once and by hand.
 * Owner: the test's engine, which is not inside of any callback. */
#pragma once
#include "app/specs/spec_engine.h"

/* False with why: the script runs on as it was. */
bool spec_reload(struct spec_engine *engine, const char *name, struct str text, struct handover *done,
                 struct err *err);
/* What the script runs from: its file's text; NULL when there is no such script. Borrowed until it is
 * reloaded. */
struct str spec_reload_source(struct spec_engine *engine, const char *name);
/* Frees old generations whose calls have ended, or whose time is over; true when there was one. */
bool spec_reload_drop(struct spec_engine *engine);
/* Frees them all. */
void spec_reload_clear(struct spec_engine *engine);

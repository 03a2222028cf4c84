/* The next generation of a script under test, as a reload of the engine makes it, but at once and by hand.
 * Owner: the test's engine, which is not inside of any callback. */
#pragma once
#include "app/specs/spec_engine.h"

/* False with why: the script runs on as it was. */
bool test_reload(struct test_engine *engine, const char *name, struct str text, struct handover *done,
                 struct err *err);
/* What the script runs from: its file's text; NULL when there is no such script. Borrowed until it is
 * reloaded. */
struct str test_reload_source(struct test_engine *engine, const char *name);
/* Frees old generations whose calls have ended, or whose time is over; true when there was one. */
bool test_reload_drop(struct test_engine *engine);
/* Frees them all. */
void test_reload_clear(struct test_engine *engine);

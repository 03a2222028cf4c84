/* One reflector on a virtual clock, its source played by hand (scripted_source.h), its queue read by the
 * spec. Owner: the spec; reflector_open and reflector_close are its setup and teardown, and count references.
 */
#pragma once
#include "base/clock.h"
#include "core/informer/support/log_double.h"
#include "core/informer/support/scripted_source.h"
#include "informer/reflect/reflector.h"
#include "informer/reflect/watch_list_memory.h"

extern struct reflector *reflector;
extern struct scripted_source source;
extern struct virtual_clock vclock;
extern struct delta_fifo *fifo;
extern int status_changes;
extern struct watch_list_memory *memory;

/* Started: its first list is under way, not yet looked at. */
int reflector_open(void **state);
int reflector_close(void **state);
/* The same with pages of `page_size`; replaces the one that runs. */
void reflector_restart(int page_size, uint64_t seed);
/* The same with watch-lists, and a memory of the fixture's, which lasts until reflector_close. */
void reflector_restart_watch_listing(enum watch_list_mode mode);
/* The setup of specs of watch-lists: the first one has been asked for. */
int reflector_open_watch_listing(void **state);
extern const char *const reflector_watch_list_request;
/* The same with an internal-error window. */
void reflector_restart_with_window(int64_t window_ms);
/* Starts, lists `objects` at `version`, and has asked for the watch. */
void start_watching(const char *objects, const char *version);

void advance(int64_t ms);
/* Moves to the end of the delay that runs; gives its length. Fails when none does. */
int64_t pass_delay(void);
/* What is asked next, at once. "" for nothing. */
void assert_asked(const char *expected);
/* Nothing is asked until a delay in [d, 2d) is over, then `expected` is. */
void assert_asked_after(int64_t d_ms, const char *expected);
/* What the queue got: "All(5: a@1 b@2); + a@1; ~ a@2; - a@3; = 7" (replaced, added, updated, deleted,
 * bookmark). */
void assert_queued(const char *expected);
struct reflector_status status_now(void);
void assert_state(enum reflector_state state);
/* The cause that the status shows; ERR_NONE when all is well. */
void assert_cause(enum err_code code);

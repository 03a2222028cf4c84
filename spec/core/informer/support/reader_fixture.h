/* What reads from a source played by hand (scripted_source.h) on a virtual clock, a pager or a retry watcher:
 * what it asks, and what it tells. Owner: the spec, which frees its reader before reader_close. */
#pragma once
#include "base/clock.h"
#include "core/informer/support/scripted_source.h"

extern struct scripted_source reader_source; /* begun by the spec, once or more */
extern struct virtual_clock reader_clock;
extern struct buf reader_told; /* written by the spec's callbacks */

void reader_open(void);
/* Counts references and timers that are left. */
void reader_close(void);

/* What was told since the last time. */
void assert_reader_told(const char *expected);
/* What was asked since the last time. "" for nothing. */
void assert_reader_asked(const char *expected);
/* Nothing is asked until exactly `ms` from now. */
void assert_reader_asked_after(int64_t ms, const char *expected);

/* One candidate, "me", on the virtual clock, its server played by hand (lease_server.h).
 * Owner: the spec; candidate_open and candidate_close are its setup and teardown, and count references. */
#pragma once
#include "base/err.h"
#include "core/informer/support/lease_server.h"

extern struct virtual_clock candidate_clock;
extern struct lease_server candidate_server;
extern struct lease_way candidate_way;
extern struct leader *candidate;
extern int candidate_changes, candidate_renewals; /* calls of `changed` and `renewed` */
extern const struct leader_times candidate_times; /* 15 s, 10 s, 2 s */

int candidate_open(void **state);
int candidate_close(void **state);
/* Takes the place of the one that runs. */
void candidate_restart(const struct leader_times *times, struct lease_labels labels, uint64_t seed);
struct leader_status candidate_status(void);
bool candidate_leads(void);
/* The open question is `verb`, and the server does what is asked, or refuses it (0: no connection). */
void candidate_answer(const char *verb);
void candidate_refuse(const char *verb, int code);
/* Moves to the next question; gives how long that took. */
int64_t candidate_pass(int64_t at_most_ms);
/* A lease that was not there is ours, and renewed. */
void candidate_win(void);

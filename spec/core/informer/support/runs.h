/* Runs of a random test, each from a seed of its own. The environment's SEED picks the first one, RUNS how
 * many.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Plays them and prints both numbers first. Returns how many were played. */
uint64_t runs_play(void (*play)(uint64_t seed), uint64_t runs);
/* For the teardown of a cmocka test, which is called after a failure, too: prints the seed of the run that
 * failed. Returns whether one did. */
bool runs_failed(void);
/* Setup and teardown of a cmocka test whose runs make objects: what is left of them is an error, unless a run
 * failed. */
int runs_open_objects(void **state);
int runs_close_objects(void **state);

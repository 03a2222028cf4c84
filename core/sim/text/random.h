/* Numbers that look random and are the same at every start.
 * Owner: the caller. May be called anywhere. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct sim_random {
    uint64_t state;
};

enum { SIM_UID_LEN = 36 };

struct sim_random sim_random_seed(uint64_t salt, uint64_t number);
/* Returns a number for a string, to be used as a seed. */
uint64_t sim_random_text(const char *text);
unsigned sim_random_below(struct sim_random *random, unsigned limit);
/* `digits` hexadecimal digits; terminated. */
void sim_random_hex(struct sim_random *random, char *out, size_t digits);
/* Writes a UUID of version 4; terminated. */
void sim_random_uid(struct sim_random *random, char out[static SIM_UID_LEN + 1]);

/* SplitMix64; see random.h. */
#include "sim/text/random.h"

#include <string.h>

static uint64_t sim_random_next(struct sim_random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

struct sim_random sim_random_seed(uint64_t salt, uint64_t number)
{
    struct sim_random random = {salt * 0xd1342543de82ef95 + number};
    random.state = sim_random_next(&random); /* so that neighbouring numbers start unrelated sequences */
    return random;
}

uint64_t sim_random_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return hash;
}

unsigned sim_random_below(struct sim_random *random, unsigned limit)
{
    return (unsigned)((sim_random_next(random) >> 32) * limit >> 32);
}

void sim_random_hex(struct sim_random *random, char *out, size_t digits)
{
    static const char hex[] = "0123456789abcdef";
    uint64_t bits = 0;
    for (size_t i = 0; i < digits; i++, bits >>= 4) {
        if (i % 16 == 0) bits = sim_random_next(random);
        out[i] = hex[bits & 15];
    }
    out[digits] = '\0';
}

void sim_random_uid(struct sim_random *random, char out[static SIM_UID_LEN + 1])
{
    char hex[33];
    sim_random_hex(random, hex, 32);
    hex[12] = '4';
    hex[16] = "89ab"[(unsigned char)hex[16] & 3];
    char *to = out;
    for (size_t i = 0; i < 32; i++) {
        if (i == 8 || i == 12 || i == 16 || i == 20) *to++ = '-';
        *to++ = hex[i];
    }
    *to = '\0';
}

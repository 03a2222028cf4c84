/* Runs of a random test; see runs.h. */
#include "core/informer/support/runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/informer/support/objects.h"

static uint64_t playing;
static bool under_way;

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

uint64_t runs_play(void (*play)(uint64_t seed), uint64_t runs)
{
    uint64_t seed = number_from("SEED", 1);
    runs = number_from("RUNS", runs);
    print_message("SEED=%llu RUNS=%llu\n", (unsigned long long)seed, (unsigned long long)runs);
    under_way = true;
    for (playing = seed; playing < seed + runs; playing++) play(playing);
    under_way = false;
    return runs;
}

bool runs_failed(void)
{
    if (under_way) print_error("Run it again with SEED=%llu RUNS=1\n", (unsigned long long)playing);
    bool failed = under_way;
    under_way = false;
    return failed;
}

int runs_open_objects(void **state)
{
    objects_open();
    return 0;
}

int runs_close_objects(void **state)
{
    if (!runs_failed()) objects_close();
    return 0;
}

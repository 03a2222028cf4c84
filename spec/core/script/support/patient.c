/* Limits that nothing reaches by being slow; see patient.h. */
#include "core/script/support/patient.h"

struct limits patient_limits;

/* Before main: the defaults but for what a slow machine could reach. */
static __attribute__((constructor)) void set(void)
{
    static const enum limit cpu[] = {LIMIT_LOAD_CPU, LIMIT_HANDLER_CPU, LIMIT_MAIN_CPU, LIMIT_PIECE_CPU,
                                     LIMIT_FILTER_CPU};
    patient_limits = limits_default;
    for (int i = 0; i < 5; i++) patient_limits.values[cpu[i]] = 600000;
    patient_limits.values[LIMIT_SCRIPT_MEMORY] = (int64_t)1 << 30;
    patient_limits.values[LIMIT_LOG_LINES] = 1000000;
    patient_limits.values[LIMIT_WRITES] = 1000000;
}

/* Limits that nothing reaches by being slow; see patient.h. */
#include "core/script/support/patient.h"

const struct limits patient_limits = {{
    [LIMIT_LOAD_CPU] = 600000,
    [LIMIT_HANDLER_CPU] = 600000,
    [LIMIT_MAIN_CPU] = 600000,
    [LIMIT_FILTER_CPU] = 600000,
    [LIMIT_SCRIPT_MEMORY] = (int64_t)1 << 30,
    [LIMIT_VALUE_SIZE] = 16 << 20,
    [LIMIT_TASKS] = 10000,
    [LIMIT_TIMERS] = 10000,
    [LIMIT_HANDLERS] = 1000,
    [LIMIT_INFORMERS] = 100,
    [LIMIT_QUEUE_KEYS] = 100000,
    [LIMIT_SERIES] = 1000,
    [LIMIT_LOG_LINES] = 1000000,
    [LIMIT_PRINT_BUFFER] = 8 << 20,
    [LIMIT_WRITES] = 1000000,
    [LIMIT_HTTP_REQUESTS] = 600,
}};

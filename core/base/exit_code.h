/* Exit codes of kubelua, which docs/running.md promises. Owner: constants. Anywhere. */
#pragma once

enum exit_code {
    EXIT_OK = 0,
    EXIT_FINDINGS = 1,   /* audit findings, failing specs, differences of a plan */
    EXIT_USAGE = 2,      /* usage, configuration or input error */
    EXIT_INCOMPLETE = 3, /* a rule or script failed, or the evaluation is incomplete */
    EXIT_INTERRUPTED = 130,
};

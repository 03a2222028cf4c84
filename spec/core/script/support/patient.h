/* Limits for specs of other things: under a sanitizer on a busy machine a call may take a while.
 * Owner: nothing is kept. */
#pragma once
#include "script/vm/limits.h"

extern struct limits patient_limits;

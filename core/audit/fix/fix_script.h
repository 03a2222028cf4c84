/* What is to be done about an object, as lines for a shell: a person reads them, and pastes what is right.
 * Owner: all is borrowed. On any one thread. */
#pragma once
#include <stdio.h>

#include "audit/fix/fixes.h"

void fix_script_write(const struct audit_fixes *fixes, FILE *out);

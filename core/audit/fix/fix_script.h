/* Fixes as lines for a shell: a person reads them, and pastes those that are right. Owner: all is borrowed.
 * On any one thread. */
#pragma once
#include <stdio.h>

#include "audit/fix/fixes.h"

void fix_script_write(const struct audit_fixes *fixes, FILE *out);
